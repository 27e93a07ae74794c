package x11desktop

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
)

func TestConfigReportsAllFaultsAtOnce(t *testing.T) {
	_, err := New(Config{Display: "nowhere", PasteKeys: []string{"hyper"}, TerminalPasteKeys: []string{"a", "a"}, Settle: -1})
	if err == nil {
		t.Fatal("no error")
	}
	for _, field := range []string{"Display", "PasteKeys", "TerminalPasteKeys", "Settle"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
	t.Setenv("DISPLAY", ":7")
	d, err := New(Config{})
	if err != nil || d.config.Display != ":7" {
		t.Errorf("without a display: %+v, %v; want the environment's", d, err)
	}
}

func TestDisplayNamesAreRead(t *testing.T) {
	for name, want := range map[string]display{
		":0":             {network: "unix", address: "/tmp/.X11-unix/X0", number: "0"},
		"unix:12.1":      {network: "unix", address: "/tmp/.X11-unix/X12", number: "12", screen: 1},
		"ward3:10.0":     {network: "tcp", address: "ward3:6010", host: "ward3", number: "10"},
		"192.0.2.1:1":    {network: "tcp", address: "192.0.2.1:6001", host: "192.0.2.1", number: "1"},
		"[2001:db8::1]:": {}, "": {}, ":": {}, ":x": {}, ":-1": {}, ":0.x": {}, ":0.-1": {}, ":40000": {}, "nowhere": {},
	} {
		got, err := parseDisplay(name)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(display{})); diff != "" || (err != nil) != (want == display{}) {
			t.Errorf("%q: %v\n%s", name, err, diff)
		}
	}
}

func authority(family uint16, fields ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, family)
	for _, f := range fields {
		b = binary.BigEndian.AppendUint16(b, uint16(len(f)))
		b = append(b, f...)
	}
	return b
}

func TestCookieOfTheDisplayIsTaken(t *testing.T) {
	file := bytes.Join([][]byte{
		authority(0, "\x7f\x00\x00\x01", "3", cookieProtocol, "of an address"),
		authority(familyLocal, "other", "3", cookieProtocol, "of another host"),
		authority(familyLocal, "here", "4", cookieProtocol, "of display four"),
		authority(familyLocal, "here", "3", "XDM-AUTHORIZATION-1", "of another kind"),
		authority(familyLocal, "here", "3", cookieProtocol, "the right one"),
		authority(familyWild, "", "", cookieProtocol, "for all"),
	}, nil)
	for _, c := range []struct{ host, number, want string }{
		{"here", "3", "the right one"}, {"here", "4", "of display four"}, {"elsewhere", "9", "for all"},
	} {
		got, err := readCookie(bytes.NewReader(file), c.host, c.number)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:%s: %q, %v; want %q", c.host, c.number, got, err, c.want)
		}
	}
	whole := authority(familyLocal, "here", "3", cookieProtocol, "the right one")
	if got, err := readCookie(bytes.NewReader(whole), "here", "5"); got != nil || err != nil {
		t.Errorf("of no display: %q, %v", got, err)
	}
	for cut := 1; cut < len(whole); cut++ {
		if got, err := readCookie(bytes.NewReader(whole[:cut]), "here", "3"); err == nil || got != nil {
			t.Errorf("cut at %d: %q, %v; want an error", cut, got, err)
		}
	}
}

func TestSetupRequestCarriesTheCookie(t *testing.T) {
	want := []byte("l\x00\x0b\x00\x00\x00\x12\x00\x05\x00\x00\x00MIT-MAGIC-COOKIE-1\x00\x00abcde\x00\x00\x00")
	if diff := cmp.Diff(want, setupRequest([]byte("abcde"))); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if got := setupRequest(nil); len(got) != 12 {
		t.Errorf("without a cookie: %q", got)
	}
}

func TestTitlesAreDecodedByTheirType(t *testing.T) {
	for _, c := range []struct {
		name   string
		value  string
		latin1 bool
		want   string
	}{
		{"UTF-8", "D\u00e9j\u00e0 \u20ac", false, "Déjà €"},
		{"Latin-1", "D\xe9j\xe0 vu", true, "Déjà vu"},
		{"Latin-1 that looks like UTF-8", "\xc3\xa9", true, "Ã©"},
		{"declared as something else, Latin-1 in truth", "D\xe9j\xe0", false, "Déjà"},
		{"ended by NUL", "title\x00", false, "title"},
		{"none", "", false, ""},
	} {
		if got := decodeText([]byte(c.value), c.latin1); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for value, want := range map[string]string{"xterm\x00XTerm\x00": "XTerm", "xterm\x00XTerm": "XTerm", "xterm": "", "": ""} {
		if got := decodeClass([]byte(value)); got != want {
			t.Errorf("class of %q: %q, want %q", value, got, want)
		}
	}
}

func TestWindowIDsComeBack(t *testing.T) {
	for _, w := range []xproto.Window{1, 0x1400003, 0xffffffff} {
		if got, ok := parseWindowID(windowID(w)); !ok || got != w {
			t.Errorf("%v comes back as %v, %v", w, got, ok)
		}
	}
	for _, id := range []string{"", "0x", "window", "-1", "0x100000000"} {
		if got, ok := parseWindowID(id); ok {
			t.Errorf("%q is read as %v", id, got)
		}
	}
}

func TestPixelsKeepTheirColours(t *testing.T) {
	r := image.Rect(-1, 5, 1, 7) // two by two
	want := []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}}
	for _, c := range []struct {
		name   string
		format pixelFormat
		data   string
	}{
		{"32 bits, low byte first", common,
			"\x00\x00\xff\x55\x00\xff\x00\x55\xff\x00\x00\x55\xff\xff\xff\x55"},
		{"32 bits, high byte first", pixelFormat{bitsPerPixel: 32, padBits: 32, msbFirst: true, red: 0xff0000, green: 0xff00, blue: 0xff},
			"\x55\xff\x00\x00\x55\x00\xff\x00\x55\x00\x00\xff\x55\xff\xff\xff"},
		{"32 bits, red last", pixelFormat{bitsPerPixel: 32, padBits: 32, red: 0xff, green: 0xff00, blue: 0xff0000},
			"\xff\x00\x00\x55\x00\xff\x00\x55\x00\x00\xff\x55\xff\xff\xff\x55"},
		{"24 bits, padded rows", pixelFormat{bitsPerPixel: 24, padBits: 32, red: 0xff0000, green: 0xff00, blue: 0xff},
			"\x00\x00\xff\x00\xff\x00..\xff\x00\x00\xff\xff\xff.."},
		{"16 bits", pixelFormat{bitsPerPixel: 16, padBits: 32, red: 0xf800, green: 0x07e0, blue: 0x001f},
			"\x00\xf8\xe0\x07\x1f\x00\xff\xff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			img, err := c.format.decode([]byte(c.data), r)
			if err != nil {
				t.Fatal(err)
			}
			got := []color.RGBA{img.RGBAAt(-1, 5), img.RGBAAt(0, 5), img.RGBAAt(-1, 6), img.RGBAAt(0, 6)}
			if diff := cmp.Diff(want, got); diff != "" || img.Rect != r {
				t.Errorf("bounds %v, pixels (-want +got):\n%s", img.Rect, diff)
			}
			if _, err = c.format.decode([]byte(c.data[:len(c.data)-1]), r); err == nil {
				t.Error("a picture that is cut off is taken")
			}
		})
	}
}

func TestPrimaryMonitorComesFirst(t *testing.T) {
	bounds := image.Rect(0, 0, 300, 100)
	left := randr.MonitorInfo{X: 0, Y: 0, Width: 100, Height: 100}
	right := randr.MonitorInfo{X: 100, Y: 0, Width: 200, Height: 100, Primary: true}
	for _, c := range []struct {
		name  string
		found []randr.MonitorInfo
		want  []driver.Monitor
	}{
		{"none is the whole desktop", nil, []driver.Monitor{{Bounds: bounds, Scale: 1, Primary: true}}},
		{"the second is the primary one", []randr.MonitorInfo{left, right}, []driver.Monitor{
			{Index: 1, Bounds: image.Rect(100, 0, 300, 100), Scale: 1, Primary: true},
			{Index: 0, Bounds: image.Rect(0, 0, 100, 100), Scale: 1},
		}},
		{"none is primary: the first", []randr.MonitorInfo{left, left}, []driver.Monitor{
			{Index: 0, Bounds: image.Rect(0, 0, 100, 100), Scale: 1, Primary: true},
			{Index: 1, Bounds: image.Rect(0, 0, 100, 100), Scale: 1},
		}},
	} {
		if diff := cmp.Diff(c.want, monitorsOf(c.found, bounds)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSmallDisplayIsNotUsable(t *testing.T) {
	least := image.Pt(1200, 800)
	for size, want := range map[image.Point]desktop.Kind{
		{X: 1200, Y: 800}: desktop.Active, {X: 1199, Y: 800}: desktop.DisplayTooSmall, {X: 5000, Y: 799}: desktop.DisplayTooSmall,
	} {
		if got := usable(size, least); got.Kind != want {
			t.Errorf("%v: %v, want %v", size, got.Kind, want)
		}
	}
}

func TestWhatIsDownIsReadFromTheBitMap(t *testing.T) {
	if diff := cmp.Diff([]xproto.Keycode{0, 15, 37}, pressed([]byte{1, 0x80, 0, 0, 0x20})); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]byte{1, 3, 5}, pressedButtons(xproto.KeyButMaskButton1|xproto.KeyButMaskButton3|xproto.KeyButMaskButton5|xproto.KeyButMaskShift)); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}
}

func TestClipboardOffersOnlyFormsThatHoldTheText(t *testing.T) {
	l := &link{atoms: map[string]xproto.Atom{"TARGETS": 101, "UTF8_STRING": 102, "text/plain;charset=utf-8": 103, "TEXT": 104}}
	for _, c := range []struct {
		name, text string
		target     xproto.Atom
		want       property
		ok         bool
	}{
		{"UTF-8", "é€", 102, property{102, 8, []byte("é€")}, true},
		{"TEXT is UTF-8", "é€", 104, property{102, 8, []byte("é€")}, true},
		{"STRING is Latin-1", "é", xproto.AtomString, property{xproto.AtomString, 8, []byte{0xe9}}, true},
		{"STRING lacks a euro", "€", xproto.AtomString, property{xproto.AtomString, 8, nil}, false},
		{"a picture", "é", 999, property{}, false},
		{"the forms", "€", 101, property{xproto.AtomAtom, 32, atomBytes([]xproto.Atom{101, 102, 103, 104})}, true},
		{"the forms of Latin-1", "é", 101, property{xproto.AtomAtom, 32, atomBytes([]xproto.Atom{101, 102, 103, 104, xproto.AtomString})}, true},
	} {
		got, ok := l.convert(c.text, c.target)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(property{})); diff != "" || ok != c.ok {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, ok, diff)
		}
	}
}
