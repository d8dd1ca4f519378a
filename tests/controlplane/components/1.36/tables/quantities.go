package main

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

var (
	signs    = []string{"", "-", "+"}
	suffixes = []string{
		"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
		"e0", "e3", "E3", "e+3", "e-3", "E-3", "e1", "e2", "e-1", "e6", "e9", "e-9", "e-10", "e18", "e19",
	}
	mantissas = []string{
		"0", "1", "2", "7", "8", "9", "10", "12", "100", "123", "999", "1000", "1001", "1024", "1536", "2048", "4000",
		"00", "007", "0.0", "0.1", ".5", "5.", "1.5", "0.5", "1.25", "0.001", "0.0001", "1.0001", "100.000", "3.14159",
		"0.000000001", "0.0000000001", "1.0000000009", "999999999", "1234567890", "9007199254740993",
		"123456789012345678", "1234567890123456789", "9223372036854775807", "9223372036854775808",
		"18446744073709551616", "12345678901234567890123", "1.123456789012345678901",
	}
	// What people mistype, and where parsers differ.
	oddities = []string{
		"", "+", "-", ".", "+.", "-.", "m", "k", "Ki", "e3", "-m", ".m", "..", "1..2", "1.2.3", "--1", "+-1", "1-", "1+",
		"1e", "1E", "1e+", "1e-", "1ee3", "1Ee3", "1E3E", "1e3k", "1e3.5", "1e03", "1e-03", "1E+0", "1kk", "1ki", "1K",
		"1KI", "1mi", "1Mib", "1MB", "1GB", "1gi", "1g", "1t", "1p", "1B", "1i", "1 Gi", " 1Gi", "1Gi ", "1Gi\n", "1,5",
		"1_000", "0x10", "0b1", "ten", "NaN", "inf", "-inf", "null", "true", "é", "１", "1\u00a0", "1\u0000", "½", "1%",
		"100%", "1e99999999999", "1e4294967296", "1e4294967299", "1e-4294967296", "1e9223372036854775807",
		"1e9223372036854775808", "0e999999999999999999999", "1e30", "1e100", "1e999", "12e19", "1k3", "1m3", "1Ki3", "1Ki-",
		"1n5", "1u-2", "1e+-3", "1.5e3.2", "1Zi", "1Yi", "1Z", "10E", "9E", "9.3E", "7Ei", "8Ei", "9Ei", "16Ei", "-8Ei",
		"-9Ei", "0.5Ki", "0.1Ki", "0.01Ki", "-0.1Ki", "-0.1m", "-0.1n", "-1.5", "-1500m", "1023.5Mi", "100000000000000Ki",
		"Mi", "Gi", "Ti", "Pi", "Ei", ".Ei", "-Ei", "+Pi", ".Pi", "0Ei", "00.Ei", ".0Ei", "e-9", "e-10", ".e-10", "-e-10", "-10.5Gi",
		"-0.0000000001", "-9223372036854775808", "-1e19", "-12345678901234567890.5", "1.5e2147483648",
		"1.000000000000000000001Ei", "0.0000000000000000000000000001Ei", "3.9999999999999999999999999999999Mi",
	}
)

func quantities(t *table) {
	ask := func(text string) {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			t.add([]any{text}, nil)
			return
		}
		if magnitude(q) <= largest {
			t.add([]any{text}, q.Value(), q.MilliValue(), canonical(q))
		} else if q.Value() == 0 && q.MilliValue() == 0 {
			t.add([]any{text}, 0, 0, nil)
		}
	}
	for _, text := range oddities {
		ask(text)
	}
	for _, sign := range signs[:2] {
		for _, mantissa := range mantissas {
			for _, suffix := range suffixes {
				ask(sign + mantissa + suffix)
			}
		}
	}
	for range 1500 {
		ask(t.quantity())
	}
	for range 1000 {
		ask(t.mangled(t.quantity(), "0123456789.+-eEinumkKMGTP x"))
	}
}

// The number of digits up to which the product keeps an amount exactly. Beyond, upstream answers with 0, or with bits
// that are left over.
const largest = 28

// magnitude gives the number of digits before the point.
func magnitude(q resource.Quantity) int {
	fresh := q.DeepCopy()
	dec := fresh.AsDec()
	return len(dec.UnscaledBig().String()) - int(dec.Scale())
}

// canonical gives the canonical form, also where upstream repeats the text it has read.
func canonical(q resource.Quantity) string {
	number, suffix := q.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

// quantity gives a random text that is mostly well formed.
func (t *table) quantity() string {
	text := pick(t, signs) + t.digits(1+t.random.IntN(12))
	if t.random.IntN(2) == 0 {
		text += "." + t.digits(t.random.IntN(12))
	}
	if t.random.IntN(4) == 0 {
		text = strings.TrimLeft(text, "0")
	}
	return text + pick(t, suffixes)
}

// sums has of two quantities the sum, and how they compare.
func sums(t *table) {
	ask := func(left, right string) {
		a, err := resource.ParseQuantity(left)
		if err != nil {
			return
		}
		b, err := resource.ParseQuantity(right)
		if err != nil {
			return
		}
		order := a.Cmp(b)
		a.Add(b)
		if magnitude(a) <= largest {
			t.add([]any{left, right}, a.Value(), a.MilliValue(), canonical(a), order)
		}
	}
	for _, left := range []string{"0", "1", "500m", "1Gi", "1.5Gi", "0.1Ki", "1e3", "1n", "0.1n", "9223372036854775807", "-1", "8Ei"} {
		for _, right := range []string{"0", "1", "500m", "1Gi", "1.5Gi", "1k", "1e3", "100m", "1n", "0.5Ki", "-500m", "-1"} {
			ask(left, right)
		}
	}
	for range 500 {
		ask(t.quantity(), t.quantity())
	}
}
