//go:build windows && wine

package windesktop

import (
	"bytes"
	"errors"
	"image"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// Wine 8 has no UI Automation. A driver there is one without elements, and says so once.
func TestOnWineTheDriverHasNoElements(t *testing.T) {
	w := winapitest.Open(t, "is asked for elements", image.Rect(40, 40, 240, 160))
	var log bytes.Buffer
	d, err := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	windows, err := d.Windows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for _, at := range windows {
		if h, _, ok := parseWindowID(at.ID); ok && h == w.HWND() {
			id = at.ID
		}
	}
	if id == "" {
		t.Fatalf("the window is not among %+v", windows)
	}
	var said sync.Once
	for _, in := range []string{id, "", id} {
		found, err := d.elements(t.Context(), in, driver.Element{Name: "OK"}, &said)
		if err == nil {
			t.Skip("this Wine has UI Automation, as 10 has")
		}
		if !errors.Is(err, driver.ErrUnsupported) || found != nil {
			t.Errorf("in window %q: %v, %v", in, found, err)
		}
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "0x80040154") {
		t.Errorf("log: %s", log.String())
	}
	if _, err := d.Elements(t.Context(), "0x7ffffffe-1", driver.Element{Name: "OK"}); !errors.Is(err, driver.ErrGone) {
		t.Errorf("in a window that is gone: %v", err)
	}
}
