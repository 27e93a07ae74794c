package docscheck

import (
	"regexp"
	"strings"
	"unicode"
)

// page is a Markdown page, taken apart as far as it is checked.
type page struct {
	path         string
	blocks       []block
	lines        []textLine // all that is no code block and no comment
	anchors      map[string]bool
	inRepository bool
}

type textLine struct {
	number int
	text   string
}

// block is a fenced block of code, or one that stands in a comment.
type block struct {
	line      int // of its first line of content
	language  string
	text      string
	directive string
	output    *block // the text block right behind it
	hidden    bool
}

var (
	fence     = regexp.MustCompile("^(\\s*)```+\\s*([a-z0-9]*)\\s*$")
	heading   = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	directive = regexp.MustCompile(`^\s*<!-- docs-check: (.*?)\s*(-->)?\s*$`)
)

// parse takes a page apart.
func parse(path, text string) page {
	p := page{path: path, anchors: map[string]bool{}}
	lines := strings.Split(text, "\n")
	pending, seen := "", map[string]int{}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case directive.MatchString(line):
			m := directive.FindStringSubmatch(line)
			if m[2] == "" {
				end := closing(lines, i+1, "-->")
				p.blocks = append(p.blocks, block{line: i + 2, language: "sh", text: strings.Join(lines[i+1:end], "\n") + "\n", directive: strings.TrimPrefix(m[1], "run"), hidden: true})
				i = end
				continue
			}
			if m[1] == "in the repository" {
				p.inRepository = true
				continue
			}
			pending = m[1]
		case fence.MatchString(line):
			m := fence.FindStringSubmatch(line)
			end := closing(lines, i+1, "```")
			p.add(block{line: i + 2, language: m[2], text: body(lines[i+1:end], m[1]), directive: pending}, lines, i)
			pending, i = "", end
		default:
			if m := heading.FindStringSubmatch(line); m != nil {
				p.anchors[numbered(slug(m[1]), seen)] = true
			}
			p.lines = append(p.lines, textLine{number: i + 1, text: line})
		}
	}
	return p
}

// add takes a block in; a text block right behind a shell block is its output.
func (p *page) add(b block, lines []string, at int) {
	if n := len(p.blocks); n > 0 && (b.language == "text" || b.language == "console") && b.directive == "" {
		before := &p.blocks[n-1]
		gap := strings.Join(lines[before.line-1+strings.Count(before.text, "\n"):at], "")
		if before.language == "sh" && !before.hidden && before.output == nil && strings.Trim(gap, "` \t") == "" {
			before.output = &b
			return
		}
	}
	p.blocks = append(p.blocks, b)
}

// closing finds the line that ends what began before from.
func closing(lines []string, from int, mark string) int {
	for i := from; i < len(lines); i++ {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), mark) {
			return i
		}
	}
	return len(lines)
}

func body(lines []string, indent string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(strings.TrimPrefix(line, indent) + "\n")
	}
	return out.String()
}

// slug is the anchor that a heading gets, as GitHub makes it.
func slug(title string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-':
			out.WriteRune(r)
		case r == ' ':
			out.WriteByte('-')
		}
	}
	return out.String()
}

// numbered tells headings of the same name apart.
func numbered(anchor string, seen map[string]int) string {
	n := seen[anchor]
	seen[anchor]++
	if n == 0 {
		return anchor
	}
	return anchor + "-" + string(rune('0'+n%10))
}
