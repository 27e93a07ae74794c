package x11desktop

import (
	"errors"
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jezek/xgb/xproto"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
)

const settle = 100 * time.Millisecond

// small is a layout with a few keys from code 10 on, and spare ones at the end.
func small(spare int) *layout {
	keys := [][]xproto.Keysym{
		{symShift, 0, 0, 0}, {symControl, 0, 0, 0}, {symReturn, 0, 0, 0}, {symTab, symTab, 0, 0},
		{'a', 'A', 0xe6, 0xc6}, {'b', 'B', 0, 0}, {'1', '!', 0, 0}, {symCapsLock, 0, 0, 0}, {' ', 0, 0, 0}, {symF1, symF1, symF1, symF1},
	}
	l := &layout{first: 10, width: 4, modifiers: []xproto.Keycode{10, 11, 17}}
	for _, k := range keys {
		l.syms = append(l.syms, k...)
	}
	l.syms = append(l.syms, make([]xproto.Keysym, 4*spare)...)
	return l
}

// spell writes steps as words: +10 presses a key, -10 releases it.
func spell(steps []step) string {
	var words []string
	for _, s := range steps {
		switch s := s.(type) {
		case moveStep:
			words = append(words, fmt.Sprintf("(%d,%d)", s.at.X, s.at.Y))
		case buttonStep:
			words = append(words, sign(s.down)+"b"+fmt.Sprint(s.button))
		case keyStep:
			words = append(words, sign(s.down)+fmt.Sprint(s.code))
		case bindStep:
			for i, code := range s.codes {
				words = append(words, fmt.Sprintf("%d=%x", code, s.syms[i]))
			}
		case unbindStep:
			words = append(words, "unbind")
		case waitStep:
			words = append(words, "wait")
		case capsStep:
			words = append(words, "caps")
		}
	}
	return strings.Join(words, " ")
}

func sign(down bool) string {
	if down {
		return "+"
	}
	return "-"
}

func TestTextBecomesStrokes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		spare      int
		want       string
	}{
		{"what the layout has", "ab", 0, "+14 -14 +15 -15"},
		{"equal letters are two strokes", "aa", 0, "+14 -14 +14 -14"},
		{"shift for one letter only", "aB1", 0, "+14 -14 +10 +15 -15 -10 +16 -16"},
		{"LF and HT are keys", "a\n\t", 0, "+14 -14 +12 -12 +13 -13"},
		{"a foreign character is bound before the first key", "aé", 2, "20=e9 wait +14 -14 +20 -20 unbind"},
		{"a character twice is bound once", "éaé", 1, "20=e9 wait +20 -20 +14 -14 +20 -20 unbind"},
		{"beyond Latin-1", "€😀", 2, "20=10020ac 21=101f600 wait +20 -20 +21 -21 unbind"},
		{"more of them than spare keys", "éèaé", 1, "20=e9 wait +20 -20 unbind 20=e8 wait +20 -20 +14 -14 unbind 20=e9 wait +20 -20 unbind"},
		{"levels beyond shift are not used", "æ", 1, "20=e6 wait +20 -20 unbind"},
		{"nothing", "", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			steps, err := planText(small(c.spare), c.text, settle)
			if err != nil {
				t.Fatal(err)
			}
			if got := spell(steps); got != c.want {
				t.Errorf("steps = %s\nwant    %s", got, c.want)
			}
		})
	}
}

func TestTextThatNoKeyTypesIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"NUL": "a\x00", "escape": "\x1b", "CR": "a\r\n", "DEL": "\x7f", "C1": "\u0085", "broken UTF-8": "a\xff",
		"foreign without a spare key": "é",
	} {
		if _, err := planText(small(0), text, settle); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%s: %v, want %v", name, err, driver.ErrUnsupported)
		} else if strings.Contains(err.Error(), "é") {
			t.Errorf("%s: the error tells the text: %v", name, err)
		}
	}
}

// typist is an application that knows each key's meaning when it is pressed.
func typist(l *layout, steps []step) (string, error) {
	meaning := append([]xproto.Keysym(nil), l.syms...)
	var text strings.Builder
	shift := false
	for _, s := range steps {
		switch s := s.(type) {
		case bindStep:
			for i, code := range s.codes {
				if !blank(l.key(int(code - l.first))) {
					return "", fmt.Errorf("key %d has a meaning", code)
				}
				if meaning[int(code-l.first)*l.width] != 0 {
					return "", fmt.Errorf("key %d is bound twice", code)
				}
				meaning[int(code-l.first)*l.width] = s.syms[i]
			}
		case unbindStep:
			copy(meaning, l.syms)
		case keyStep:
			if s.code == 10 {
				shift = s.down
				continue
			}
			at := int(s.code-l.first) * l.width
			if shift {
				at++
			}
			if s.down {
				text.WriteRune(typed(meaning[at]))
			}
		}
	}
	if shift || !cmp.Equal(meaning, l.syms) {
		return "", errors.New("a key stays down or bound")
	}
	return text.String(), nil
}

func typed(s xproto.Keysym) rune {
	switch s {
	case symReturn:
		return '\n'
	case symTab:
		return '\t'
	}
	return rune(s &^ symUnicode)
}

func TestEveryTextArrivesToTheLetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := small(rapid.IntRange(1, 5).Draw(t, "spare"))
		text := rapid.StringOf(rapid.RuneFrom([]rune("aAbB1! \n\téèàçœ€→😀漢字"))).Draw(t, "text")
		steps, err := planText(l, text, settle)
		if err != nil {
			t.Fatal(err)
		}
		got, err := typist(l, steps)
		if err != nil || got != text {
			t.Fatalf("arrived: %q, %v; want %q", got, err, text)
		}
	})
}

func TestCombosGoDownInOrderAndUpInReverse(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       string
	}{
		{"in order", "ctrl shift a", "+11 +10 +14 -14 -10 -11"},
		{"names ignore case", "CTRL Enter", "+11 +12 -12 -11"},
		{"a character is meant to the letter", "ctrl A", "+11 +10 +14 -14 -10 -11"},
		{"shift is not pressed twice", "shift A", "+10 +14 -14 -10"},
		{"shift once for two characters", "A B", "+10 +14 +15 -15 -14 -10"},
		{"a key that the layout lacks is bound", "ctrl f24", "20=ffd5 wait +11 +20 -20 -11 unbind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			steps, err := planCombo(small(1), driver.Combo{Keys: strings.Fields(c.keys)}, settle)
			if err != nil {
				t.Fatal(err)
			}
			if got := spell(steps); got != c.want {
				t.Errorf("steps = %s\nwant    %s", got, c.want)
			}
		})
	}
	for _, keys := range []string{"", "ctrl hyper", "a a", "f23 f24"} {
		if _, err := planCombo(small(1), driver.Combo{Keys: strings.Fields(keys)}, settle); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%q: %v, want %v", keys, err, driver.ErrUnsupported)
		}
	}
}

func TestPointerGesturesBecomeSteps(t *testing.T) {
	at := image.Pt(3, 4)
	click := func(in driver.Click) string {
		t.Helper()
		steps, err := planClick(small(0), in)
		if err != nil {
			t.Fatal(err)
		}
		return spell(steps)
	}
	for _, c := range [][2]string{
		{click(driver.Click{At: at, Count: 1}), "(3,4) +b1 -b1"},
		{click(driver.Click{At: at, Count: 2, Button: driver.Right}), "(3,4) +b3 -b3 +b3 -b3"},
		{click(driver.Click{At: at, Count: 1, Button: driver.Middle, Modifiers: []string{"ctrl", "shift"}}), "(3,4) +11 +10 +b2 -b2 -10 -11"},
		{spell(planScroll(driver.Scroll{At: at, Vertical: 2, Horizontal: -1})), "(3,4) +b4 -b4 +b4 -b4 +b6 -b6"},
		{spell(planScroll(driver.Scroll{At: at, Vertical: -1, Horizontal: 1})), "(3,4) +b5 -b5 +b7 -b7"},
	} {
		if c[0] != c[1] {
			t.Errorf("steps = %s, want %s", c[0], c[1])
		}
	}
	for _, in := range []driver.Click{
		{Count: 0}, {Count: 4}, {Count: 1, Button: 7}, {Count: 1, Modifiers: []string{"a"}}, {Count: 1, Modifiers: []string{"alt"}},
	} {
		if _, err := planClick(small(0), in); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%+v: %v, want %v", in, err, driver.ErrUnsupported)
		}
	}
}

func TestDragEndsWhereItShould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		point := rapid.Custom(func(t *rapid.T) image.Point {
			return image.Pt(rapid.IntRange(0, 4000).Draw(t, "x"), rapid.IntRange(0, 3000).Draw(t, "y"))
		})
		in := driver.Drag{From: point.Draw(t, "from"), To: point.Draw(t, "to")}
		steps, err := planDrag(in)
		if err != nil {
			t.Fatal(err)
		}
		way := image.Rectangle{Min: in.From, Max: in.To}.Canon()
		way.Max = way.Max.Add(image.Pt(1, 1))
		var last image.Point
		for _, s := range steps {
			if m, ok := s.(moveStep); ok {
				if last = m.at; !last.In(way) {
					t.Fatalf("the pointer leaves the way at %v", last)
				}
			}
		}
		if steps[0] != (moveStep{in.From}) || last != in.To || steps[len(steps)-1] != (buttonStep{1, false}) {
			t.Fatalf("steps = %s", spell(steps))
		}
	})
}

func TestFaultPointLiesWhereSomethingIsDown(t *testing.T) {
	drag, _ := planDrag(driver.Drag{})
	for _, c := range []struct {
		name  string
		steps []step
		want  int
	}{
		{"a click", []step{moveStep{}, buttonStep{1, true}, buttonStep{1, false}}, 1},
		{"a combo", []step{keyStep{1, true}, keyStep{2, true}, keyStep{2, false}, keyStep{1, false}}, 1},
		{"a text", []step{keyStep{1, true}, keyStep{1, false}, keyStep{2, true}, keyStep{2, false}, keyStep{3, true}, keyStep{3, false}}, 2},
		{"a drag", drag, 1},
		{"a move", []step{moveStep{}}, -1},
		{"nothing", nil, -1},
	} {
		if got := middle(c.steps); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestSpareKeysAreThoseWithoutAMeaning(t *testing.T) {
	l := small(3)
	copy(l.key(11), []xproto.Keysym{symUnicode | 0x3b1, symUnicode | 0x3b1, symUnicode | 0x3b1, symUnicode | 0x3b1})
	l.modifiers = append(l.modifiers, 22)
	if diff := cmp.Diff([]xproto.Keycode{20, 21}, l.spare()); diff != "" {
		t.Errorf("spare (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]xproto.Keycode{21}, l.left()); diff != "" {
		t.Errorf("left bound (-want +got):\n%s", diff)
	}
}

func TestTheSecondGroupIsReadWhereItIsSwitchedOn(t *testing.T) {
	l := small(0)
	l.group = 1
	if s, ok := l.find(0xc6); !ok || s != (stroke{code: 14, shift: true}) {
		t.Errorf("the shifted key of the second group: %v, %v", s, ok)
	}
	if s, ok := l.find('a'); ok {
		t.Errorf("a key of the first group is found: %v", s)
	}
}

func TestCapsLockIsSwitchedOffForAText(t *testing.T) {
	steps := []step{keyStep{14, true}, keyStep{14, false}}
	if got := spell(keyboard{caps: 17}.withoutCaps(steps)); got != "caps +14 -14" {
		t.Errorf("steps = %s", got)
	}
	if got := spell(keyboard{}.withoutCaps(steps)); got != "+14 -14" {
		t.Errorf("steps = %s", got)
	}
}
