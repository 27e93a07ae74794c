package cli

import (
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// printable returns a text that a terminal shows and does not obey: names,
// messages and window titles come from others. Control characters, what turns the
// direction of writing, line separators and what is no UTF-8 become visible, such
// as \x1b or \u202e; a line feed stays. What it returns it leaves as it is.
func printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, obeyed) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			quoted := strconv.Quote(s[:1])
			b.WriteString(quoted[1 : len(quoted)-1])
		case obeyed(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

// obeyed says whether a terminal does something with a character instead of
// showing it.
func obeyed(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// inLine is a text that is printable and has no second line.
func inLine(s string) string { return strings.ReplaceAll(printable(s), "\n", `\n`) }

// printer makes all that is written through it printable. Each write is a whole
// text: no character is cut in two.
type printer struct{ raw io.Writer }

// Write implements io.Writer.
func (p printer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.raw, printable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// table shows rows with their columns aligned; no cell breaks out of its place.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, titles ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.row(titles...)
	return t
}

// row adds a row; flush reports what failed.
func (t table) row(cells ...string) {
	shown := make([]string, len(cells))
	for i, c := range cells {
		shown[i] = inLine(c)
	}
	_, _ = io.WriteString(t.w, strings.Join(shown, "\t")+"\n")
}

func (t table) flush() error { return t.w.Flush() }
