package setting

import (
	"fmt"
	"strings"
)

// Markdown renders the settings as a table, in their order.
func (s *Set) Markdown() string {
	var b strings.Builder
	b.WriteString("| setting | type | default | environment | meaning |\n|---|---|---|---|---|\n")
	for _, st := range s.settings {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n",
			st.Name, cell(st.Value.Kind()), code(st.Value.String()), variables(*st), cell(st.Help))
	}
	return b.String()
}

func variables(st Setting) string {
	if st.Env == "" {
		return ""
	}
	text := code(st.Env)
	if st.Value.Kind() == "duration" || st.Value.Kind() == "durations" {
		text += " (seconds)"
	}
	for _, older := range st.Older {
		text += ", older " + code(older)
	}
	return text
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell keeps text within its column.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
