package unspoken_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/session/unspoken"
)

var mask = unspoken.Mask

func typing(text string) *reprisev1.Action {
	return &reprisev1.Action{Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: text}}}}
}

func pasting(text string) *reprisev1.Action {
	return &reprisev1.Action{Kind: &reprisev1.Action_Paste{Paste: &reprisev1.Paste{Text: text}}}
}

// However an agent repeats a text, and whatever it says around it: it is not there
// any more.
func TestNoFormOfATextIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-c"\\\n\t•<é]{1,6}`)).Draw(t, "text")
		if strings.TrimSpace(text) == "" || strings.Contains(mask, strings.TrimSpace(text)) {
			t.Skip("it says nothing, or what a mask says")
		}
		around := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-c"\\\n•]{0,6}`))
		inJSON, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		forms := []string{text, strings.TrimSpace(text), strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")}
		for _, quoted := range []string{strconv.Quote(text), strconv.QuoteToASCII(text), string(inJSON)} {
			forms = append(forms, quoted[1:len(quoted)-1])
		}
		repeated := rapid.SampledFrom(forms).Draw(t, "repeated")
		message := around.Draw(t, "before") + repeated + around.Draw(t, "after")
		got := unspoken.Of(rapid.SampledFrom([]*reprisev1.Action{typing(text), pasting(text)}).Draw(t, "action")).Mask(message)
		for _, form := range forms {
			if !strings.Contains(mask, form) && strings.Contains(got, form) {
				t.Fatalf("%q repeats %q as %q", got, text, form)
			}
		}
		if utf8.ValidString(message) && !utf8.ValidString(got) {
			t.Fatalf("%q is no text any more", got)
		}
	})
}

func TestOnlyWhatWasTypedIsMasked(t *testing.T) {
	for _, tt := range []struct {
		name, typed, said, want string
	}{
		{"the text", "hunter2", "the field holds hunter2.", "the field holds •••."},
		{"each of its lines", "first line\nsecond line", "below it is: second line", "below it is: •••"},
		{"each of the fields it goes to", "user\tpass\n", "pass is wrong for user", "••• is wrong for •••"},
		{"a short one before Enter", "42\n", `typed "42"`, `typed "•••"`},
		{"no short part of a longer one", "a\nbcde", "a cat", "a cat"},
		{"no white space", " \n", "two words\n", "two words\n"},
		{"what a cut has left of it", "correct horse battery", "typing correct hor…", "typing •••…"},
		{"nothing that only begins like it", "correct horse", "the correct", "the correct"},
		{"nothing else", "hunter2", "no window in front", "no window in front"},
		{"nothing when nothing was typed", "", "no window in front", "no window in front"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := unspoken.Of(typing(tt.typed)).Mask(tt.said); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestTextsThatAreJoinedMaskWhatEachOfThemMasks(t *testing.T) {
	both := unspoken.Join(unspoken.Of(typing("hunter")), unspoken.Of(pasting("hunter2")), nil)
	if got := both.Mask("hunter2, then hunter"); got != "•••, then •••" {
		t.Errorf("%q", got)
	}
}

// What one action costs whose text has as many parts as it can, and whose agent has
// nothing, or as much as it can, to say of it.
func BenchmarkALongText(b *testing.B) {
	var text strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	for _, said := range []string{"", "screen", strings.Repeat("something else, ", 250)} {
		b.Run(fmt.Sprint(len(said)), func(b *testing.B) {
			for b.Loop() {
				unspoken.Of(pasting(text.String())).Mask(said)
			}
		})
	}
}
