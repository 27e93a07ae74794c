package drivertest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
)

const (
	letters = "aabbll Hello!! {[~@#\\^]} <>|&;:\"'`$%*?_-+=/()"
	accents = "Grüße: é à ç œ ÀÉ ß € 5 → 😀"
	lines   = "first\n\tsecond\n\nlast"
)

func typeArrives(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "typing")
	want := ""
	for _, text := range []string{letters, accents, lines, strings.Repeat("paced é ", 40)} {
		do(t, f, driver.Type{Text: text})
		want += text
		awaitText(t, w, want)
	}
	nothingDown(t, f)
}

func typeRefused(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "refused text")
	for _, text := range []string{"abc\x00", "abc\x1b", "abc\r\n", "abc\xff"} {
		refused(t, f, driver.Type{Text: text}, driver.ErrUnsupported)
		if why, told := driver.Telling(f.Driver().Do(t.Context(), driver.Type{Text: text})); !told || !strings.Contains(why, "byte 3") {
			t.Errorf("%q: %q tells nobody which character it is", text, why)
		}
	}
	do(t, f, driver.Type{Text: "ok"})
	awaitText(t, w, "ok")
}

func pasteArrives(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "pasting")
	want := ""
	for _, text := range []string{accents, lines, strings.Repeat("SELECT 'é€';\n", 1500)} {
		do(t, f, driver.Paste{Text: text})
		want += text
		awaitText(t, w, want)
	}
	nothingDown(t, f)
}

func comboArrives(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "combos")
	want := []string{}
	for _, keys := range [][]string{{"ctrl", "shift", "f11"}, {"ctrl", "enter"}, {"f2"}, {"ctrl", "k"}, {"shift", "end"}} {
		do(t, f, driver.Combo{Keys: keys})
		for _, k := range keys {
			want = append(want, "down "+k)
		}
		for i := len(keys) - 1; i >= 0; i-- {
			want = append(want, "up "+keys[i])
		}
	}
	got := []string{}
	for _, e := range awaitEvents(t, w, len(want), KeyDown, KeyUp) {
		if e.Kind == KeyDown {
			got = append(got, "down "+e.Key)
		} else {
			got = append(got, "up "+e.Key)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	nothingDown(t, f)
}

func comboFront(t *testing.T, f Fixture) {
	behind := f.OpenWindow(t, "behind")
	front := f.OpenWindow(t, "in front")
	keys := []string{"ctrl", "k"}
	for _, id := range []string{find(t, f, "behind").ID, "2147483646"} {
		refused(t, f, driver.Combo{Keys: keys, Front: id}, driver.ErrNotInFront)
	}
	do(t, f, driver.Combo{Keys: keys, Front: find(t, f, "in front").ID})
	if got := awaitEvents(t, front, 4, KeyDown, KeyUp); len(got) != 4 || got[1].Key != "k" {
		t.Errorf("the window in front saw %v, want ctrl and k once", got)
	}
	if got := only(behind.Await(t, func(Seen) bool { return true }).Events, KeyDown, KeyUp); len(got) != 0 {
		t.Errorf("the window behind saw %v", got)
	}
	nothingDown(t, f)
}

func comboRefused(t *testing.T, f Fixture) {
	w := f.OpenWindow(t, "refused combos")
	for _, keys := range [][]string{{"ctrl", "hyper"}, {"ctrl", "ctrl", "a"}, {""}, {}} {
		refused(t, f, driver.Combo{Keys: keys}, driver.ErrUnsupported)
	}
	refused(t, f, driver.Click{At: inside(w.Area(), 0), Count: 1, Modifiers: []string{"enter"}}, driver.ErrUnsupported)
	do(t, f, driver.Combo{Keys: []string{"f2"}})
	seen := w.Await(t, func(s Seen) bool { return len(only(s.Events, KeyUp)) >= 1 })
	if got := only(seen.Events, KeyDown, Press); len(got) != 1 || got[0].Key != "f2" {
		t.Errorf("the window saw %v, want f2 alone", got)
	}
}
