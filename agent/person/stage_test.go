package person

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
)

func TestAPauseIsShownOnceAndGoneWithItsEnd(t *testing.T) {
	m := newFake()
	g := guard(t, m, Config{})
	show := func(id, text string) {
		if err := g.ShowPause(t.Context(), driver.Notice{PauseID: id, Reason: "operator", Message: text}); err != nil {
			t.Error(err)
		}
	}
	show("one", "first")
	show("one", "again")
	if m.notices != 1 || !slices.ContainsFunc(m.notice.Pieces, func(p winapi.Piece) bool { return p.Text == "first" }) {
		t.Errorf("it came up %d times: %+v", m.notices, m.notice)
	}
	if err := g.HidePause(t.Context(), "another"); err != nil || m.notice == nil {
		t.Errorf("another pause took it away, %v", err)
	}
	show("two", "next")
	if m.notices != 2 {
		t.Errorf("the next pause: it came up %d times", m.notices)
	}
	for range 2 {
		if err := g.HidePause(t.Context(), "two"); err != nil || m.notice != nil {
			t.Errorf("it still shows, %v", err)
		}
	}
}

func TestANoticeFollowsTheMonitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFake()
		g := guard(t, m, Config{})
		if err := g.ShowPause(t.Context(), driver.Notice{PauseID: "p"}); err != nil {
			t.Fatal(err)
		}
		for _, work := range []image.Rectangle{image.Rect(0, 0, 800, 560), image.Rect(-1000, 0, 0, 700)} {
			m.locked(func() { m.work = work })
			time.Sleep(watchEvery)
			synctest.Wait()
			m.locked(func() {
				if !m.notice.Bounds.In(work) {
					t.Errorf("it lies at %v, outside %v", m.notice.Bounds, work)
				}
			})
		}
		if err := g.HidePause(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(watchEvery)
		synctest.Wait()
		if notice, _ := m.shows(); notice {
			t.Error("it came back after its end")
		}
	})
}

func TestB12_NoPictureShowsASign(t *testing.T) {
	for _, unseen := range []bool{false, true} { // true: Windows sees to it
		synctest.Test(t, func(t *testing.T) {
			m := newFake()
			m.unseen = unseen
			var shown []bool
			d := &fakeDriver{}
			d.capture = func() driver.Picture {
				notice, outline := m.shows()
				shown = append(shown, notice || outline)
				return driver.Picture{}
			}
			g := guard(t, m, Config{Driver: d})
			ends := make(chan error, 1)
			go func() { ends <- g.Announce(t.Context(), rectangle, time.Second) }()
			if err := g.ShowPause(t.Context(), driver.Notice{PauseID: "p"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			for range 2 {
				if p, err := g.Capture(t.Context()); err != nil || p.Note != "" {
					t.Errorf("captured: %q, %v", p.Note, err)
				}
				if _, err := g.CaptureWindow(t.Context(), "w"); err != nil {
					t.Error(err)
				}
				if notice, outline := m.shows(); !notice || !outline {
					t.Errorf("after a picture the notice shows: %v, the outline %v", notice, outline)
				}
			}
			if diff := cmp.Diff([]bool{unseen, unseen, unseen, unseen}, shown); diff != "" {
				t.Errorf("signs that showed (-want +got):\n%s", diff)
			}
			if err := <-ends; err != nil {
				t.Error(err)
			}
			if notice, outline := m.shows(); !notice || outline {
				t.Errorf("at last the notice shows: %v, the outline %v", notice, outline)
			}
		})
	}
}

func TestB12_ASignThatComesDuringAPictureWaitsForItsEnd(t *testing.T) {
	m := newFake()
	m.unseen = false
	var g *Guard
	d := &fakeDriver{}
	deep := false
	d.capture = func() driver.Picture {
		if !deep { // a second picture ends while the first is taken
			deep = true
			if err := g.ShowPause(t.Context(), driver.Notice{PauseID: "p"}); err != nil {
				t.Error(err)
			}
			if _, err := g.Capture(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if notice, _ := m.shows(); notice {
			t.Error("the notice shows during a picture")
		}
		return driver.Picture{}
	}
	g = guard(t, m, Config{Driver: d})
	if _, err := g.Capture(t.Context()); err != nil {
		t.Fatal(err)
	}
	if notice, _ := m.shows(); !notice {
		t.Error("the notice does not show after the picture")
	}
}

func TestB12_APictureThatMayShowASignSaysSo(t *testing.T) {
	m := newFake()
	m.unseen = false
	m.refuses["hide"] = errElse
	g := guard(t, m, Config{Driver: &fakeDriver{capture: func() driver.Picture { return driver.Picture{Note: driver.NoteOneColour} }}})
	if err := g.ShowPause(t.Context(), driver.Notice{PauseID: "p"}); err != nil {
		t.Fatal(err)
	}
	p, err := g.Capture(t.Context())
	if want := driver.NoteOneColour + "; " + maybeSeen; err != nil || p.Note != want {
		t.Errorf("it says %q, %v; want %q", p.Note, err, want)
	}
}

func TestAPictureThatIsGivenUpBringsTheSignsBack(t *testing.T) {
	m := newFake()
	m.unseen = false
	g := guard(t, m, Config{})
	if err := g.ShowPause(t.Context(), driver.Notice{PauseID: "p"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTestEnds)
	for range 20 { // whichever of two ways its end is seen by
		if _, err := g.Capture(ctx); !errors.Is(err, errTestEnds) {
			t.Fatalf("captured: %v", err)
		}
	}
	if notice, _ := m.shows(); !notice {
		t.Error("the notice is gone")
	}
	if _, err := g.Capture(t.Context()); err != nil {
		t.Error(err)
	}
	if notice, _ := m.shows(); !notice {
		t.Error("the notice is gone after the next picture")
	}
}

func TestAnOutlineIsThereForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFake()
		m.dpi = 192
		g := guard(t, m, Config{})
		began, ends := time.Now(), make(chan error, 1)
		announce := func() { ends <- g.Announce(t.Context(), rectangle, 300*time.Millisecond) }
		go announce()
		synctest.Wait()
		want := [4]image.Rectangle{
			image.Rect(94, 94, 206, 100), image.Rect(94, 150, 206, 156), image.Rect(94, 100, 100, 150), image.Rect(200, 100, 206, 150),
		}
		m.locked(func() {
			if diff := cmp.Diff(&want, m.bars); diff != "" {
				t.Errorf("bars (-want +got):\n%s", diff)
			}
		})
		if err := <-ends; err != nil || time.Since(began) != 300*time.Millisecond {
			t.Errorf("it ended with %v after %v", err, time.Since(began))
		}
		if _, outline := m.shows(); outline {
			t.Error("it is still there")
		}
		go announce()
		synctest.Wait()
		m.pressStop()
		if err := <-ends; !errors.Is(err, driver.ErrStopped) {
			t.Errorf("after a stop it ended with %v", err)
		}
		if _, outline := m.shows(); outline {
			t.Error("it is still there after a stop")
		}
	})
}

func TestTheSignsAreNoWindows(t *testing.T) {
	theirs := driver.Window{ID: "1", Class: "Notepad"}
	g := guard(t, newFake(), Config{Driver: &fakeDriver{windows: []driver.Window{{ID: "0", Class: "RepriseAgent-1"}, theirs, {ID: "2", Class: "RepriseAgent-2"}}}})
	windows, err := g.Windows(t.Context())
	if diff := cmp.Diff([]driver.Window{theirs, {ID: "2", Class: "RepriseAgent-2"}}, windows); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestANoticeLiesBottomRightAndHoldsItsText(t *testing.T) {
	m := newFake()
	long := strings.Repeat("a long word or two ", 500)
	for _, c := range []struct {
		name string
		work image.Rectangle
		dpi  int
		n    driver.Notice
	}{
		{"a short one", image.Rect(0, 0, 1280, 760), 96, driver.Notice{Message: "m"}},
		{"on a monitor with negative places, scaled", image.Rect(-1920, -200, 0, 880), 144, driver.Notice{Message: "m", Checks: []string{"a", "b"}}},
		{"one that is far too long", image.Rect(0, 0, 800, 300), 192, driver.Notice{Message: long, Checks: slices.Repeat([]string{long}, 30)}},
	} {
		page, err := layout(english.page(c.n), c.work, c.dpi, m.Measure)
		if err != nil {
			t.Fatal(err)
		}
		gap := scaled(edge, c.dpi)
		if want := c.work.Max.Sub(image.Pt(gap, gap)); page.Bounds.Max != want || !page.Bounds.In(c.work) {
			t.Errorf("%s: it lies at %v of %v", c.name, page.Bounds, c.work)
		}
		if page.Bounds.Dx() != min(scaled(noticeWidth, c.dpi), c.work.Dx()-2*gap) {
			t.Errorf("%s: it is %d wide", c.name, page.Bounds.Dx())
		}
		last := 0
		for _, p := range page.Pieces {
			if p.Area.Min.Y < last || !p.Area.In(image.Rectangle{Max: page.Bounds.Size()}) || p.Area.Empty() {
				t.Errorf("%s: a piece lies at %v, after %d, of %v", c.name, p.Area, last, page.Bounds.Size())
			}
			last = p.Area.Max.Y
		}
	}
	if _, err := layout(english.page(driver.Notice{}), image.Rect(0, 0, 60, 40), 96, m.Measure); err == nil {
		t.Error("a work area without room is no error")
	}
}
