// Package unspoken masks what an action typed wherever an agent repeats it although
// it should not. What an agent says goes on to people, lists and logs; typed text
// may not. It decides what counts as repeating and nothing else: what an agent said
// is kept as it came by those who keep it, and masked by those who show it.
package unspoken

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Mask stands for typed text.
const Mask = "•••"

const (
	sign = "•" // what Mask is made of
	cut  = "…" // the end of a message that was too long
)

// longEnough is how many bytes a part of a text must have to be masked by itself.
const longEnough = 4

// Texts are the forms in which what was typed could be repeated, the longer ones
// first. The zero value masks nothing.
type Texts []string

// Of returns the forms of what an action types or pastes: as it is, quoted, and
// the same of each part of it that goes into a field of its own. White space alone
// says nothing and is no text.
func Of(a *reprisev1.Action) Texts {
	text := a.GetType().GetText() + a.GetPaste().GetText() + a.GetPasteAndExecute().GetText()
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil
	}
	all := append(forms(text), forms(trimmed)...)
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }) {
		if part = strings.TrimSpace(part); len(part) >= longEnough {
			all = append(all, forms(part)...)
		}
	}
	return sorted(all)
}

// Long returns those that are long enough to be no word of somebody else's.
func (t Texts) Long() Texts {
	return slices.DeleteFunc(slices.Clone(t), func(s string) bool { return len(s) < longEnough })
}

// Join returns what all of them mask.
func Join(all ...Texts) Texts { return sorted(slices.Concat(all...)) }

func sorted(t Texts) Texts {
	slices.SortFunc(t, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(t)
}

func forms(text string) Texts {
	all := Texts{text}
	if !strings.ContainsFunc(text, needsQuoting) {
		return all
	}
	if strings.Contains(text, "\n") {
		all = append(all, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"))
	}
	for _, quoted := range []string{strconv.Quote(text), strconv.QuoteToASCII(text), inJSON(text, true), inJSON(text, false)} {
		if len(quoted) > 2 {
			inner := quoted[1 : len(quoted)-1]
			all = append(all, inner, strings.ReplaceAll(inner, `\"`, `"`)) // some quote with single quotes
		}
	}
	return all
}

// needsQuoting says whether a character may look otherwise when it is quoted.
func needsQuoting(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }

func inJSON(text string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if e.Encode(text) != nil {
		return "" // no text is like that
	}
	return strings.TrimRightFunc(b.String(), unicode.IsSpace)
}

// Mask returns the message without what was typed.
func (t Texts) Mask(message string) string {
	for _, s := range t {
		message = strings.ReplaceAll(message, s, Mask)
	}
	if begin, ok := strings.CutSuffix(message, cut); ok {
		message = t.maskEnd(begin) + cut
	}
	for _, s := range t {
		// What is left beside a mask could make up a text that has its sign in it.
		if strings.Contains(s, sign) && !strings.Contains(Mask, s) && strings.Contains(message, s) {
			return Mask
		}
	}
	return message
}

// maskEnd masks the beginning of a text at the end of a message that was cut.
func (t Texts) maskEnd(message string) string {
	longest := 0
	for _, s := range t {
		for n := min(len(s)-1, len(message)); n >= longEnough && n > longest; n-- {
			if strings.HasSuffix(message, s[:n]) {
				longest = n
			}
		}
	}
	if longest == 0 {
		return message
	}
	return message[:len(message)-longest] + Mask
}
