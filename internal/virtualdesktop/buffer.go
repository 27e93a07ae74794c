package virtualdesktop

import (
	"slices"
)

// buffer is a text with a caret.
type buffer struct {
	runes []rune
	caret int  // between 0 and len(runes)
	all   bool // the whole text is selected
}

func (b *buffer) String() string { return string(b.runes) }

// insert puts text at the caret, or in place of all when all is selected.
func (b *buffer) insert(text string) {
	if b.all {
		*b = buffer{}
	}
	added := []rune(text)
	b.runes = slices.Insert(b.runes, b.caret, added...)
	b.caret += len(added)
}

// erase takes away the character before or after the caret, or all when all is
// selected, and returns what went.
func (b *buffer) erase(before bool) string {
	if b.all {
		gone := b.String()
		*b = buffer{}
		return gone
	}
	from := b.caret
	if before {
		from--
	}
	if from < 0 || from >= len(b.runes) {
		return ""
	}
	gone := string(b.runes[from])
	b.runes = slices.Delete(b.runes, from, from+1)
	b.caret = from
	return gone
}

// move moves the caret by an arrow key, home or end; other keys leave it.
func (b *buffer) move(key string) {
	switch key {
	case "left":
		b.caret = max(b.caret-1, 0)
	case "right":
		b.caret = min(b.caret+1, len(b.runes))
	case "home":
		for b.caret > 0 && b.runes[b.caret-1] != '\n' {
			b.caret--
		}
	case "end":
		for b.caret < len(b.runes) && b.runes[b.caret] != '\n' {
			b.caret++
		}
	default:
		return
	}
	b.all = false
}
