package keyname_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/internal/keyname"
)

func TestEveryNameOfTheSchemaIsAKey(t *testing.T) {
	names := []string{
		"ctrl", "shift", "alt", "win", "enter", "tab", "escape", "space", "backspace", "delete",
		"insert", "home", "end", "pageup", "pagedown", "left", "right", "up", "down",
	}
	for n := 1; n <= 24; n++ {
		names = append(names, "f"+strconv.Itoa(n))
	}
	codes := map[keyname.Code]string{}
	for _, name := range names {
		key, err := keyname.Parse(name)
		if err != nil {
			t.Errorf("Parse(%q): %v", name, err)
			continue
		}
		if other, taken := codes[key.Code]; taken {
			t.Errorf("%q and %q are one key", name, other)
		}
		codes[key.Code] = name
		if key.String() != name {
			t.Errorf("Parse(%q).String() = %q", name, key)
		}
		if want := name == "ctrl" || name == "shift" || name == "alt" || name == "win"; key.Modifier() != want {
			t.Errorf("%q: Modifier() = %v", name, !want)
		}
	}
}

func TestACharacterIsAKeyToTheLetter(t *testing.T) {
	for _, r := range []rune{'a', 'A', 'é', '€', '1', 'ß', '~', 'f'} {
		got, err := keyname.Parse(string(r))
		if want := (keyname.Key{Code: keyname.Character, Rune: r}); err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v", r, got, err)
		}
	}
	if got, err := keyname.Parse(" "); err != nil || got.Code != keyname.Space {
		t.Errorf("a blank is %+v, %v; want the space key", got, err)
	}
}

func TestWhatIsNoKeyIsRefused(t *testing.T) {
	for _, name := range []string{"", "\n", "\t", "\x00", "f0", "f25", "f01", "f+1", "control", "ab", "\xff", "\u0301", "e\u0301", "ctrl ", "\u00a0"} {
		if key, err := keyname.Parse(name); !errors.Is(err, keyname.ErrUnknown) {
			t.Errorf("Parse(%q) = %v, %v; want ErrUnknown", name, key, err)
		}
	}
}

func TestAComboNamesEachKeyOnce(t *testing.T) {
	got, err := keyname.ParseAll([]string{"Ctrl", "shift", "a"})
	if err != nil {
		t.Fatal(err)
	}
	want := []keyname.Key{{Code: keyname.Ctrl}, {Code: keyname.Shift}, {Code: keyname.Character, Rune: 'a'}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := keyname.ParseAll([]string{"ctrl", "CTRL"}); !errors.Is(err, keyname.ErrRepeated) {
		t.Errorf("ctrl twice: %v", err)
	}
	if _, err := keyname.ParseAll([]string{"ctrl", "hyper"}); !errors.Is(err, keyname.ErrUnknown) {
		t.Errorf("hyper: %v", err)
	}
}

func TestAKeyIsReadBackFromItsName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`f[0-9]{1,2}`)).Draw(t, "name")
		key, err := keyname.Parse(name)
		if err != nil {
			return
		}
		if again, err := keyname.Parse(key.String()); err != nil || again != key {
			t.Fatalf("Parse(%q) = %+v, but Parse(%q) = %+v, %v", name, key, key.String(), again, err)
		}
	})
}

func TestTextWithoutAKeyIsRefusedAndNeverQuoted(t *testing.T) {
	for _, text := range []string{"", "Grüße, 5 €\n\t😀", "\ufffd is a character"} {
		if err := keyname.CheckText(text); err != nil {
			t.Errorf("CheckText(%q) = %v", text, err)
		}
	}
	for _, text := range []string{"secret\x00", "secret\r\n", "secret\x1b", "secret\u0085", "secret\xff"} {
		err := keyname.CheckText(text)
		if !errors.Is(err, keyname.ErrUnknown) {
			t.Errorf("CheckText(%q) = %v; want ErrUnknown", text, err)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error quotes the text: %v", err)
		}
	}
}
