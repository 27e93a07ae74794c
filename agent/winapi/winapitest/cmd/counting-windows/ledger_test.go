package main

import (
	"bufio"
	"fmt"
	"image"
	"net"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// typing gives a text to a widget as a window gets it, and says whether it showed.
func typing(l *ledger, s string) bool {
	shown := true
	for _, unit := range utf16.Encode([]rune(s)) {
		shown = l.char("note", unit, "clip") && shown
	}
	return shown
}

func TestTheLedgerCountsWhatTheWindowsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		does func(*ledger) bool
		want []string
	}{
		"a press gives a text the keyboard":   {func(l *ledger) bool { return l.press("note", text, false) }, []string{"note focused"}},
		"a press and its release are a click": {func(l *ledger) bool { l.press("save", button, false); return l.release("save", true) }, []string{"save clicked"}},
		"a second press in time is another click": {func(l *ledger) bool {
			for _, again := range []bool{false, true} {
				l.press("save", button, again)
				l.release("save", true)
			}
			return true
		}, []string{"save clicked", "save clicked"}},
		"a double click opens": {func(l *ledger) bool { l.press("trash", icon, false); return l.press("trash", icon, true) }, []string{"trash selected", "trash opened"}},
		"what is typed without a break is one entry, surrogate pairs whole": {func(l *ledger) bool { return typing(l, "né😀\r!") }, []string{"note typed né😀\n!"}},
		"what is typed after a break is another":                            {func(l *ledger) bool { return typing(l, "a\x01b") }, []string{"note typed a", "note selected_all", "note typed b"}},
		"ctrl and V paste":                                                  {func(l *ledger) bool { return typing(l, "a\x16") }, []string{"note typed a", "note pasted clip"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger()
			if !c.does(l) {
				t.Error("the window has nothing new to show")
			}
			if diff := cmp.Diff(c.want, told(l.list())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func told(entries []wire.Entry) (lines []string) {
	for _, e := range entries {
		line := e.Widget + " " + string(e.Effect)
		if e.Detail != "" {
			line += " " + e.Detail
		}
		lines = append(lines, line)
	}
	return lines
}

func TestWhatHasNoEffectIsNotCounted(t *testing.T) {
	for name, does := range map[string]func(*ledger) bool{
		"a release without a press":        func(l *ledger) bool { return l.release("save", true) },
		"a press that is released outside": func(l *ledger) bool { return l.press("send", button, false) || l.release("send", false) },
		"another character of ctrl":        func(l *ledger) bool { return l.char("note", 0x03, "") },
		"what is swallowed": func(l *ledger) bool {
			l.swallow(true)
			clicked := l.press("save", button, false) || l.release("save", true)
			return clicked || l.press("note", text, false) || l.press("trash", icon, true) || l.char("note", 'a', "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger()
			if does(l) {
				t.Error("the window has something new to show")
			}
			if got := told(l.list()); len(got) > 0 {
				t.Errorf("counted %q", got)
			}
		})
	}
}

func TestATextShowsWhatReplacedItsSelection(t *testing.T) {
	l := newLedger()
	typing(l, "abc\x01d")
	if effects, units := l.shows("note"); effects != 3 || string(utf16.Decode(units)) != "d" {
		t.Errorf("it shows %d effects and %q, want 3 and d", effects, string(utf16.Decode(units)))
	}
}

// shelf is a desk that remembers where a window was put.
type shelf struct{ put string }

func (*shelf) Down() []string { return []string{"key 0x10"} }
func (s *shelf) Move(widget string, to image.Point) error {
	s.put = fmt.Sprint(widget, to)
	return nil
}

func TestTheDoorSpeaksAsTheVirtualDesktopsDoes(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, s, served := newLedger(), &shelf{}, make(chan error, 1)
	go func() { served <- serve(ln, l, s) }()
	client, err := wire.DialControl(t.Context(), ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Swallow(t.Context(), true); err != nil {
		t.Error(err)
	}
	l.press("note", text, false)
	if err := client.Swallow(t.Context(), false); err != nil {
		t.Error(err)
	}
	l.press("save", button, false)
	l.release("save", true)
	entries, err := client.Ledger(t.Context())
	if diff := cmp.Diff([]string{"save clicked"}, told(entries)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if down, err := client.Down(t.Context()); err != nil || !cmp.Equal(down, []string{"key 0x10"}) {
		t.Errorf("down are %v, %v", down, err)
	}
	if err := client.MoveWindow(t.Context(), "save", image.Pt(-3, 4)); err != nil || s.put != "save(-3,4)" {
		t.Errorf("moved %q, %v", s.put, err)
	}
	if err := client.Lock(t.Context(), true); err == nil {
		t.Error("the door locks the desktop, which it can't")
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve ended with %v", err)
	}
}

func TestALineThatIsNoRequestIsRefusedAndTheNextIsAnswered(t *testing.T) {
	here, there := net.Pipe()
	go converse(there, newLedger(), &shelf{})
	defer func() { _ = here.Close() }()
	lines := bufio.NewScanner(here)
	for _, c := range [][2]string{
		{"nonsense", `"code":`}, {`{"op":"swallow","args":1}`, `"code":`}, {`{"op":"down"}`, `{"result":["key 0x10"]}`},
	} {
		if _, err := fmt.Fprintln(here, c[0]); err != nil || !lines.Scan() {
			t.Fatalf("no answer to %q: %v", c[0], err)
		}
		if got := lines.Text(); !strings.Contains(got, c[1]) {
			t.Errorf("%q was answered %s, want %s in it", c[0], got, c[1])
		}
	}
}
