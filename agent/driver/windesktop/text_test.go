package windesktop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

var layouts = map[string]winapi.HKL{"us": layoutUS, "us-intl": layoutUSIntl, "fr-FR": layoutFR, "de-DE": layoutDE}

func TestB07_TextIsTypedAsCharactersWhateverTheLayout(t *testing.T) {
	const text = "aqz!@€{}^~é"
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFake()
				w.layout, w.caps = layout, true
				d, win := open(t, w, Config{})
				if err := d.Do(t.Context(), driver.Type{Text: text}); err != nil {
					t.Fatal(err)
				}
				for _, e := range w.taken() {
					if k, ok := e.(winapi.KeyEvent); !ok || k.Flags&winapi.KeyUnicode == 0 || k.Key != 0 {
						t.Errorf("%+v is no character", e)
					}
				}
				if got := win.told().Text; got != text {
					t.Errorf("arrived: %q, want %q", got, text)
				}
			})
		})
	}
}

func TestB07_AnOpenInputMethodIsReportedBeforeAnythingIsTyped(t *testing.T) {
	w := newFake()
	w.ime = true
	for mode, want := range map[TypeMode]error{Unicode: driver.ErrBlocked, ScanCodes: driver.ErrBlocked, Clipboard: nil} {
		d, _ := open(t, w, Config{TypeMode: mode, RestoreClipboard: Never})
		err := d.Do(t.Context(), driver.Type{Text: "abc"})
		if !errors.Is(err, want) || want != nil && (!driver.NothingSent(err) || !strings.Contains(err.Error(), "switch it off")) {
			t.Errorf("mode %d: %v; want %v", mode, err, want)
		}
	}
}

func TestB08_EqualLettersAndEmojiArriveToTheLetter(t *testing.T) {
	const text = "aabbll 😀😀 👨‍👩‍👧 é\n\tHello"
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		d, win := open(t, w, Config{})
		if err := d.Do(t.Context(), driver.Type{Text: text}); err != nil {
			t.Fatal(err)
		}
		if got := win.told().Text; got != text {
			t.Errorf("arrived: %q, want %q", got, text)
		}
		if down := w.downNames(); len(down) != 0 {
			t.Errorf("still down: %v", down)
		}
	})
}

func TestB08_HalvesOfASurrogatePairLeaveInOneCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aab é€😀👨‍👩\n\t漢"))).Draw(t, "text")
		w := newFake()
		b := board{system: w, front: 1, layout: layoutUS}
		p, err := b.planText(text, Unicode, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.steps {
			send, ok := s.(sendStep)
			if !ok {
				continue
			}
			halves := 0
			for i, e := range send.events {
				k := e.(winapi.KeyEvent)
				up := k.Flags&winapi.KeyUp != 0
				if up != (i%2 == 1) {
					t.Fatalf("no key goes up before the next goes down: %+v", send.events)
				}
				if !up && utf16.IsSurrogate(rune(k.Scan)) && k.Flags&winapi.KeyUnicode != 0 {
					halves++
				}
			}
			if halves == 1 {
				t.Fatalf("half a character in one call: %+v", send.events)
			}
		}
	})
}

func TestB08_CharactersArePaced(t *testing.T) {
	wholeCalls(t)
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		var at []time.Time
		w.before = func([]winapi.Event) { at = append(at, time.Now()) }
		d, _ := open(t, w, Config{TypePace: 7 * time.Millisecond})
		if err := d.Do(t.Context(), driver.Type{Text: "a😀\né"}); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap != 7*time.Millisecond {
				t.Errorf("character %d comes %v after the one before", i, gap)
			}
		}
		if len(at) != 4 {
			t.Errorf("%d calls for 4 characters", len(at))
		}
	})
}

func TestB08_WhatNoKeyTypesIsRefusedBeforeAnythingIsTyped(t *testing.T) {
	for _, mode := range []TypeMode{Unicode, ScanCodes, Clipboard} {
		w := newFake()
		d, _ := open(t, w, Config{TypeMode: mode})
		for _, text := range []string{"secret\x00", "secret\r\n", "secret\x1b", "secret\xff", "secret\u0085"} {
			err := d.Do(t.Context(), driver.Type{Text: text})
			if !errors.Is(err, driver.ErrUnsupported) || !driver.NothingSent(err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q in mode %d: %v", text, mode, err)
			}
		}
		if got := w.taken(); len(got) != 0 || w.hasText {
			t.Errorf("sent: %v", got)
		}
	}
}

func TestB05_TheRestIsNotTypedIntoAWindowThatCameToTheFront(t *testing.T) {
	wholeCalls(t)
	for _, mode := range []TypeMode{Unicode, ScanCodes} {
		synctest.Test(t, func(t *testing.T) {
			w := newFake()
			d, win := open(t, w, Config{TypeMode: mode})
			other := w.open("Update ready", win.area)
			w.bring(win.hwnd)
			calls := 0
			w.before = func([]winapi.Event) {
				if calls++; calls == 4 {
					w.bring(other.hwnd) // this call's character still goes astray: Windows has no call that looks and types
				}
			}
			err := d.Do(t.Context(), driver.Type{Text: "abcdefgh"})
			var partly *driver.InputError
			if !errors.Is(err, driver.ErrNotInFront) || !errors.As(err, &partly) || partly.Sent != 8 {
				t.Fatalf("%v; want %v after 8 events", err, driver.ErrNotInFront)
			}
			if !strings.Contains(err.Error(), `"Update ready"`) {
				t.Errorf("%v does not say what came to the front", err)
			}
			if got := win.told().Text + "|" + other.told().Text; got != "abc|d" {
				t.Errorf("arrived: %q", got)
			}
		})
	}
}

func TestB05_WithoutAWindowInFrontNothingIsTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFake()
		d, win := open(t, w, Config{})
		w.bring(0)
		for _, in := range []driver.Input{driver.Type{Text: "abc"}, driver.Paste{Text: "abc"}} {
			if err := d.Do(t.Context(), in); !errors.Is(err, driver.ErrNotInFront) || !driver.NothingSent(err) {
				t.Errorf("%T: %v; want %v with nothing sent", in, err, driver.ErrNotInFront)
			}
		}
		// For a moment there is none while windows change places.
		time.AfterFunc(2*lookPause, func() { w.bring(win.hwnd) })
		if err := d.Do(t.Context(), driver.Type{Text: "abc"}); err != nil || win.told().Text != "abc" {
			t.Errorf("arrived: %q, %v", win.told().Text, err)
		}
	})
}

func TestB24_ScanCodesPressTheKeysOfTheLayout(t *testing.T) {
	texts := map[string]string{
		"us": "Az1! #~^", "us-intl": "Az1!@€éß", "fr-FR": "aqz!@€{}^éàA1§µ", "de-DE": "yzß@€{}~µÄ?",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFake()
				w.layout, w.caps = layouts[name], true
				d, win := open(t, w, Config{TypeMode: ScanCodes})
				if err := d.Do(t.Context(), driver.Type{Text: text + "\n\t"}); err != nil {
					t.Fatal(err)
				}
				for _, e := range w.taken() {
					if k := e.(winapi.KeyEvent); k.Scan == 0 || k.Flags&winapi.KeyScanCode == 0 || k.Flags&winapi.KeyUnicode != 0 {
						t.Errorf("%+v is no scan code", k)
					}
				}
				if got := win.told().Text; got != text+"\n\t" {
					t.Errorf("arrived: %q, want %q", got, text)
				}
				if !w.caps || len(w.downNames()) != 0 {
					t.Errorf("caps lock is on: %v; still down: %v", w.caps, w.downNames())
				}
			})
		})
	}
}

func TestB24_AltGrIsTheRightAltAndNotCtrlAlt(t *testing.T) {
	b := board{system: newFake(), front: 1, layout: layoutFR}
	p, err := b.planText("@", ScanCodes, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	const scan = winapi.KeyScanCode
	want := []step{sendStep{front: 1, events: []winapi.Event{
		winapi.KeyEvent{Key: vkRMenu, Scan: 0x38, Flags: scan | winapi.KeyExtended}, winapi.KeyEvent{Key: '0', Scan: 0x0B, Flags: scan},
		winapi.KeyEvent{Key: '0', Scan: 0x0B, Flags: scan | winapi.KeyUp},
		winapi.KeyEvent{Key: vkRMenu, Scan: 0x38, Flags: scan | winapi.KeyExtended | winapi.KeyUp},
	}}}
	if diff := cmp.Diff(want, p.steps, cmp.AllowUnexported(sendStep{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestB24_WhatTheLayoutCannotExpressIsRefusedBeforeAnythingIsTyped(t *testing.T) {
	for name, text := range map[string]string{"us": "abcé", "fr-FR": "abc~", "de-DE": "abc´", "us-intl": "abc'"} {
		w := newFake()
		w.layout, w.caps = layouts[name], true
		d, _ := open(t, w, Config{TypeMode: ScanCodes})
		err := d.Do(t.Context(), driver.Type{Text: text})
		if !errors.Is(err, driver.ErrUnsupported) || !driver.NothingSent(err) {
			t.Errorf("%s: %v; want %v with nothing sent", name, err, driver.ErrUnsupported)
		}
		if err != nil && (!strings.Contains(err.Error(), "byte 3") || strings.Contains(err.Error(), text[3:])) {
			t.Errorf("%s: %v; want the place and not the character", name, err)
		}
		if got := w.taken(); len(got) != 0 || !w.caps {
			t.Errorf("%s: sent: %v", name, got)
		}
	}
}

func TestScanCodesTypeWhatTheLayoutHasToTheLetter(t *testing.T) {
	for name, layout := range layouts {
		var typeable []rune
		for _, k := range fakeLayouts[layout] {
			for _, r := range k.types {
				if at, ok := fakeLayouts[layout].keyOf(r); ok && !at.Dead && !slices.Contains(typeable, r) {
					typeable = append(typeable, r)
				}
			}
		}
		rapid.Check(t, func(rt *rapid.T) {
			w := newFake()
			w.layout, w.caps = layout, rapid.Bool().Draw(rt, "caps lock")
			win := w.open("in front", w.screens[0])
			text := rapid.StringOf(rapid.RuneFrom(typeable)).Draw(rt, "text")
			p, err := newBoard(w).planText(text, ScanCodes, time.Nanosecond)
			if err != nil {
				rt.Fatalf("%s: %v", name, err)
			}
			caps := w.caps
			if err := (&player{system: w, plan: p}).play(t.Context()); err != nil || win.told().Text != text || w.caps != caps {
				rt.Fatalf("%s: arrived: %q, %v; want %q; caps lock %v, then %v", name, win.told().Text, err, text, caps, w.caps)
			}
		})
	}
}

// The action has a minute and 20 ms more for each character (kind.Timeout).
func TestTheLongestTextIsTypedInTheTimeThatItsActionHas(t *testing.T) {
	const longest, given = 20_000, time.Minute + 20_000*20*time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		d, win := open(t, newFake(), Config{TypePace: 16 * time.Millisecond}) // as a Windows that counts in old ticks
		ctx, stop := context.WithTimeout(t.Context(), given)
		defer stop()
		if err := d.Do(ctx, driver.Type{Text: strings.Repeat("a", longest)}); err != nil || len(win.told().Text) != longest {
			t.Errorf("%v; %d characters arrived", err, len(win.told().Text))
		}
	})
}
