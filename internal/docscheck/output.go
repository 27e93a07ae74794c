package docscheck

import (
	"regexp"
	"strings"
)

// alike are the parts of an output that differ from run to run, and what stands
// for them in both outputs.
var alike = []struct {
	shape *regexp.Regexp
	word  string
}{
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "<digest>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "<id>"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "<id>"},
	{regexp.MustCompile(`\b[a-z]?[0-9a-v]{20}`), "<id>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?`), "<time>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d(\.\d+)?\b`), "<time>"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(h|m|s|ms|µs|ns))+(\s|\b)`), "<duration>"},
}

// matches says whether an output is what the page shows.
func matches(shown, got string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for _, line := range lines(shown) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		for i, part := range strings.Split(line, "…") {
			if i > 0 {
				pattern.WriteString(`.*`)
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		pattern.WriteString(`\n`)
	}
	pattern.WriteString(`\z`)
	re := regexp.MustCompile(pattern.String())
	return re.MatchString(strings.Join(lines(got), "\n") + "\n")
}

// lines are a text's lines with what may differ replaced, and without blanks at
// their ends; empty lines at the text's ends do not count.
func lines(text string) []string {
	for _, a := range alike {
		text = a.shape.ReplaceAllString(text, a.word)
	}
	all := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " \t\r")
	}
	return all
}
