package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"
)

// percentages has values as JSON, and what they are of a total, rounded up and down.
func percentages(t *table) {
	values := []string{
		`0`, `1`, `5`, `-1`, `2147483647`, `2147483648`, `-2147483648`, `-2147483649`, `1.0`, `1.5`, `1e2`, `true`, `null`,
		`{}`, `[]`, `""`, `"%"`, `"5"`, `"0"`, `"half"`, `"0%"`, `"1%"`, `"10%"`, `"33%"`, `"34%"`, `"50%"`, `"66%"`, `"67%"`,
		`"80%"`, `"99%"`, `"100%"`, `"101%"`, `"200%"`, `"1000%"`, `"-1%"`, `"-50%"`, `"+50%"`, `"050%"`, `"5.5%"`, `"1e2%"`,
		`" 50%"`, `"50 %"`, `"50% "`, `"50%%"`, `"%50"`, `"5_0%"`, `"0x10%"`, `"٥٠%"`, `"99999999999999999999%"`, `"--5%"`,
		`"\u0035%"`,
	}
	for range 60 {
		values = append(values, fmt.Sprintf(`"%d%%"`, t.random.IntN(130)))
	}
	totals := []int{0, 1, 2, 3, 4, 5, 7, 8, 10, 33, 99, 100, 101, 1000, 99999, 2147483647}
	for _, value := range values {
		var v intstr.IntOrString
		if err := json.Unmarshal([]byte(value), &v); err != nil || value == `null` {
			t.add([]any{value}, nil)
			continue
		}
		for _, total := range totals {
			up, err := intstr.GetScaledValueFromIntOrPercent(&v, total, true)
			if err != nil {
				t.add([]any{value, total}, nil, err.Error())
				continue
			}
			down, _ := intstr.GetScaledValueFromIntOrPercent(&v, total, false)
			t.add([]any{value, total}, up, down)
		}
	}
}

var durationParts = []string{
	"", "0", "1", "5", "30", "1.5", ".5", "5.", "0.0000000001", "3000000", "9223372036854775807", "9223372036854775808",
	"9223372036.854775807", "00", "0x1", "1_0", "1e3", ".", "..", " 1", "1 ", "-5", "+5", "--5", "١",
}

func durationTexts(t *table) []string {
	units := []string{"", "ns", "us", "µs", "μs", "ms", "s", "m", "h", "d", "S", "sec", "M", "s ", "."}
	texts := []string{"", "+", "-", "s", "0", "+0", "-0", "0s0", "1h30", "1h 30m", "30m1h", "1h1h", "1h-30m", "Never", "infinite", "PT5M", "é", "5\u0000s"}
	for _, part := range durationParts {
		for _, unit := range units {
			texts = append(texts, part+unit)
		}
	}
	for range 400 {
		text := pick(t, []string{"", "", "", "-", "+"})
		for range 1 + t.random.IntN(3) {
			text += t.digits(1 + t.random.IntN(6))
			if t.random.IntN(2) == 0 {
				text += "." + t.digits(t.random.IntN(4))
			}
			text += pick(t, units[1:9])
		}
		texts = append(texts, text, t.mangled(text, "0123456789.+-nuµmsh x"))
	}
	for i, text := range texts {
		// A cut through a letter of two bytes is no text any more.
		texts[i] = strings.ToValidUTF8(text, "?")
	}
	return texts
}

func durations(t *table) {
	for _, text := range durationTexts(t) {
		if d, err := time.ParseDuration(text); err != nil {
			t.add([]any{text}, nil)
		} else {
			t.add([]any{text}, d.Nanoseconds())
		}
	}
}

func timeouts(t *table) {
	for _, text := range durationTexts(t) {
		d, err := clientcmd.ParseTimeout(text)
		if seconds, overflow := strconv.ParseInt(text, 10, 64); overflow == nil && seconds > math.MaxInt64/int64(time.Second) {
			// Upstream multiplies without a look at the size; the product refuses.
			continue
		}
		if err != nil {
			t.add([]any{text}, nil)
		} else {
			t.add([]any{text}, d.Nanoseconds())
		}
	}
}

func timeTexts(t *table) []string {
	texts := []string{
		``, `"`, `""`, `" "`, `null`, `0`, `1700000000`, `true`, `{}`, `[]`, `"now"`, `"null"`,
		`"2026-11-02"`, `"2026-11-02T03:04:05"`, `"2026-11-02 03:04:05Z"`, `"2026-11-02t03:04:05Z"`, `"2026-11-02T03:04:05z"`,
		`"2026-11-02T03:04:05Z"`, `"2026-11-02T03:04:05.5Z"`, `"2026-11-02T03:04:05,5Z"`, `"2026-11-02T03:04:05.Z"`,
		`"2026-11-02T03:04:05.123456Z"`, `"2026-11-02T03:04:05,123456Z"`, `"2026-11-02T03:04:05.12345Z"`, `"2026-11-02T03:04:05.1234567Z"`,
		`"2026-11-02T03:04:05.123456789Z"`, `"2026-11-02T03:04:05.1234567891Z"`, `"2026-11-02T03:04:05.000000+01:00"`,
		`"2026-11-02T03:04:05+01:00"`, `"2026-11-02T03:04:05-23:59"`, `"2026-11-02T03:04:05+24:00"`, `"2026-11-02T03:04:05+24:60"`,
		`"2026-11-02T03:04:05+25:00"`, `"2026-11-02T03:04:05+01:61"`, `"2026-11-02T03:04:05+0100"`, `"2026-11-02T03:04:05+01"`,
		`"2026-11-02T03:04:05+1:00"`, `"2026-11-02T03:04:05 Z"`, `"2026-11-02T03:04:05Z "`, `" 2026-11-02T03:04:05Z"`,
		`"2026-11-02T3:04:05Z"`, `"2026-11-02T03:4:05Z"`, `"2026-11-02T03:04:5Z"`, `"2026-1-02T03:04:05Z"`, `"2026-11-2T03:04:05Z"`,
		`"26-11-02T03:04:05Z"`, `"02026-11-02T03:04:05Z"`, `"-2026-11-02T03:04:05Z"`, `"+2026-11-02T03:04:05Z"`,
		`"2026-11-02T24:00:00Z"`, `"2026-11-02T23:60:00Z"`, `"2026-11-02T23:59:60Z"`, `"2026-12-31T23:59:60Z"`, `"2026-00-02T03:04:05Z"`,
		`"2026-13-02T03:04:05Z"`, `"2026-11-00T03:04:05Z"`, `"2026-11-31T03:04:05Z"`, `"2026-02-29T03:04:05Z"`, `"2024-02-29T03:04:05Z"`,
		`"2000-02-29T03:04:05Z"`, `"1900-02-29T03:04:05Z"`, `"0001-01-01T00:00:00Z"`, `"0000-01-01T00:00:00Z"`, `"1970-01-01T00:00:00Z"`,
		`"1970-01-01T00:00:00.000000Z"`, `"1969-12-31T23:59:59Z"`, `"1969-12-31T23:59:59.5Z"`, `"9999-12-31T23:59:59Z"`, `"9999-12-31T23:59:59-14:00"`,
		`"10000-01-01T00:00:00Z"`, `"2026-W45-1T00:00:00Z"`, `"2026-306T00:00:00Z"`, `"20261102T030405Z"`, `"2026-11-02T03:04:05[UTC]"`,
		`"2026-11-02T03:04:05Z[UTC]"`, `"2026-11-02T03:04:05UTC"`, `"2026-11-02T03:04Z"`, `"2026-11-02T03Z"`, `"Mon, 02 Nov 2026 03:04:05 GMT"`,
		`"2026-11-02T03:04:05−01:00"`, `"２０２６-11-02T03:04:05Z"`, `"2026-11-02T03:04:05\u005a"`, `"2026-11-02T03:04:05Z\n"`, `"2026-11-02T+3:04:05Z"`,
	}
	for range 300 {
		digit := func(n int) string { return fmt.Sprintf("%02d", t.random.IntN(n)) }
		text := fmt.Sprintf("%04d-%s-%sT%s:%s:%s", t.random.IntN(10000), digit(14), digit(33), digit(25), digit(61), digit(61))
		if t.random.IntN(2) == 0 {
			text += pick(t, []string{".", ".", ","}) + t.digits(pick(t, []int{1, 3, 6, 6, 6, 9}))
		}
		text += pick(t, []string{"Z", "Z", "+02:00", "-05:30", "+14:00"})
		texts = append(texts, `"`+text+`"`, `"`+t.mangled(text, "0123456789.:+-TZ tz")+`"`)
	}
	return texts
}

func times(t *table) {
	for _, text := range timeTexts(t) {
		var v metav1.Time
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.add([]any{text}, nil)
		} else if v.IsZero() {
			t.add([]any{text}, "zero")
		} else {
			t.add([]any{text}, v.Unix(), v.Nanosecond())
		}
	}
}

func microTimes(t *table) {
	for _, text := range timeTexts(t) {
		var v metav1.MicroTime
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.add([]any{text}, nil)
		} else if v.IsZero() {
			t.add([]any{text}, "zero")
		} else {
			t.add([]any{text}, v.Unix(), v.Nanosecond())
		}
	}
}
