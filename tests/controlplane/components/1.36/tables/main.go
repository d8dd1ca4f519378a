// Writes what upstream's own code says of thousands of texts: quantities, percentages, durations, times, selectors.
// The product's tests read the tables. `cargo run -p controlplane -- tables` writes them to tests/tables.
//
// A table has one JSON array a line: what was asked, then the answer, null where upstream refuses.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
)

func main() {
	folder := os.Args[1]
	for name, rows := range map[string]func(*table){
		"quantities":      quantities,
		"quantity-sums":   sums,
		"percentages":     percentages,
		"durations":       durations,
		"timeouts":        timeouts,
		"times":           times,
		"micro-times":     microTimes,
		"selectors":       selectors,
		"label-selectors": labelSelectors,
		"node-selectors":  nodeSelectors,
	} {
		// Each table has its own generator, so that a change to one leaves the others as they are.
		t := table{random: rand.New(rand.NewPCG(1, 2)), seen: map[string]bool{}}
		rows(&t)
		if err := t.write(filepath.Join(folder, name+".jsonl")); err != nil {
			log.Fatal(err)
		}
	}
}

type table struct {
	random *rand.Rand
	seen   map[string]bool
	rows   [][]any
}

// add appends a row, unless one with the same question is there.
func (t *table) add(question []any, answer ...any) {
	key, err := json.Marshal(question)
	if err != nil {
		log.Fatal(err)
	}
	if !t.seen[string(key)] {
		t.seen[string(key)] = true
		t.rows = append(t.rows, append(question, answer...))
	}
}

func (t *table) write(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, row := range t.rows {
		if err := lines.Encode(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

func pick[T any](t *table, from []T) T {
	return from[t.random.IntN(len(from))]
}

// digits gives a text of n decimal digits.
func (t *table) digits(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('0' + t.random.IntN(10))
	}
	return string(text)
}

// mangled gives a text with one character changed, put in or left out.
func (t *table) mangled(text, alphabet string) string {
	at := t.random.IntN(len(text) + 1)
	with := string(alphabet[t.random.IntN(len(alphabet))])
	end := min(at+1, len(text))
	switch t.random.IntN(3) {
	case 0:
		return text[:at] + with + text[at:]
	case 1:
		return text[:at] + with + text[end:]
	default:
		return text[:at] + text[end:]
	}
}
