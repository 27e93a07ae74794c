package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A row is one line, and its columns stand where the titles do.
func TestNoCellBreaksOutOfItsRow(t *testing.T) {
	var b strings.Builder
	table := newTable(&b, "ONE", "TWO")
	table.row("a\tb\vc\n\xff", "x")
	table.row("wide enough", "y")
	if err := table.flush(); err != nil {
		t.Fatal(err)
	}
	want := "ONE            TWO\na\\tb\\vc\\n\\xff  x\nwide enough    y\n"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAPrintableTextIsLeftAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		"Größe 幅 שלום 👩‍⚕️\nnext": "Größe 幅 שלום 👩‍⚕️\nnext", `\x1b "it's"`: `\x1b "it's"`,
		"\x1b\x7f\u009b\xff\t\r\u202e\u2028": `\x1b\x7f\u009b\xff\t\r\u202e\u2028`, "a\ufffdb": "a\ufffdb",
	} {
		if got := printable(text); got != want {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
	}
}

// What is cut to a width is counted as it is shown.
func TestAShortenedTextIsNoWiderThanAskedFor(t *testing.T) {
	for text, want := range map[string]string{"\x1b\x1b\x1b": `\x1b\…`, "\u202eabc": `\u202…`, "Größen": "Größen", "Größend": "Größe…"} {
		if got := clip(text, 6); got != want {
			t.Errorf("clip(%q, 6) = %q, want %q", text, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add(hostile())
	f.Add("\xff\xe2\x80")
	f.Fuzz(func(t *testing.T, s string) {
		once := printable(s)
		if orders.MatchString(once) || !utf8.ValidString(once) {
			t.Errorf("%q is still obeyed", once)
		}
		if again := printable(once); again != once {
			t.Errorf("%q becomes %q", once, again)
		}
	})
}
