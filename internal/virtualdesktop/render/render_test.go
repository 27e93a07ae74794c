package render_test

import (
	"bytes"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/render"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

const committed = "../testdata/anchors"

var walked = sync.OnceValues(func() ([]render.Stop, error) {
	scene, _ := virtualdesktop.BuiltIn("linux_db")
	return render.Walk(scene)
})

func walk(t *testing.T) []render.Stop {
	t.Helper()
	stops, err := walked()
	if err != nil {
		t.Fatal(err)
	}
	return stops
}

// After a change of the looks: go run ./internal/virtualdesktop/cmd/virtual-desktop
// anchors internal/virtualdesktop/testdata/anchors, and the same for whoever keeps a copy.
func TestCommittedAnchorsAreWhatIsDrawn(t *testing.T) {
	scene, _ := virtualdesktop.BuiltIn("linux_db")
	fresh := t.TempDir()
	names, err := render.WriteAnchors(scene, fresh)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(fresh, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(committed, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is drawn (%v)", name, err)
		}
	}
	kept, err := os.ReadDir(committed)
	if err != nil || len(kept) != len(names) || len(names) != 7 {
		t.Errorf("%d anchors are committed and %d drawn, want 7 (%v)", len(kept), len(names), err)
	}
}

func TestEachAnchorIsOnItsScreenOnceAndIsNoFlatColour(t *testing.T) {
	for _, stop := range walk(t) {
		if stop.Anchor == nil {
			continue
		}
		if found := find(stop.Screen, stop.Anchor); len(found) != 1 || found[0] != stop.At.Min {
			t.Errorf("%s is found at %v, want %v alone", stop.Step.Anchor, found, stop.At.Min)
		}
		colours := map[color.RGBA]int{}
		b := stop.Anchor.Bounds()
		for i := range b.Dx() * b.Dy() {
			colours[stop.Anchor.RGBAAt(i%b.Dx(), i/b.Dx())]++
		}
		for c, n := range colours {
			if n > b.Dx()*b.Dy()*9/10 {
				t.Errorf("%s is nearly all %v", stop.Step.Anchor, c)
			}
		}
	}
}

func TestAnAnchorIsNotThereOneStepEarly(t *testing.T) {
	stops := walk(t)
	for i, stop := range stops[1:] {
		before := stops[i]
		if stop.Anchor == nil || before.Step.Act == virtualdesktop.Await {
			continue // what was waited for came with all else that is in its window
		}
		if found := find(before.Screen, stop.Anchor); len(found) != 0 {
			t.Errorf("%s is already at %v", stop.Step.Anchor, found)
		}
	}
}

func TestEveryStepThatActsChangesTheScreen(t *testing.T) {
	stops := walk(t)
	for i, stop := range stops[:len(stops)-1] {
		changed := !bytes.Equal(stop.Screen.Pix, stops[i+1].Screen.Pix)
		if acts := stop.Step.Act != virtualdesktop.Await; changed != acts {
			t.Errorf("step %d (%s%s): changed = %v", i+1, stop.Step.Anchor, strings.Join(stop.Step.Keys, "+"), changed)
		}
	}
}

func TestTheSameViewIsTheSamePicture(t *testing.T) {
	scene, _ := virtualdesktop.BuiltIn("linux_db")
	again, err := render.Walk(scene)
	if err != nil {
		t.Fatal(err)
	}
	for i, stop := range walk(t) {
		if !bytes.Equal(stop.Screen.Pix, again[i].Screen.Pix) {
			t.Errorf("step %d is drawn in two ways", i+1)
		}
	}
}

func TestADesktopThatIsAwayShowsNothingOfItself(t *testing.T) {
	scene, _ := virtualdesktop.BuiltIn("simple")
	d := virtualdesktop.New(scene)
	black := color.RGBA{A: 0xff}
	shown := render.Picture(d.View())
	if got := shown.RGBAAt(-400, 50); got != black {
		t.Errorf("a place on no monitor is %v", got)
	}
	d.Lock(true)
	locked := render.Picture(d.View())
	d.OpenRecorder("behind the lock", time.Unix(0, 0))
	if again := render.Picture(d.View()); !bytes.Equal(locked.Pix, again.Pix) || bytes.Equal(locked.Pix, shown.Pix) {
		t.Error("a locked desktop shows what is behind")
	}
	d.Disconnect(true)
	gone := render.Picture(d.View())
	for i, p := range gone.Pix {
		if p != 0 && i%4 != 3 {
			t.Fatal("a disconnected display is not black")
		}
	}
}

func TestTextAtTheCaretIsAlwaysShown(t *testing.T) {
	scene, _ := virtualdesktop.BuiltIn("simple")
	d, now := virtualdesktop.New(scene), time.Unix(0, 0)
	r := d.OpenRecorder("long text", now)
	send := func(e wire.Event) {
		t.Helper()
		if err := d.Apply(e, now); err != nil {
			t.Fatal(err)
		}
	}
	send(wire.Event{Kind: wire.Clipboard, Text: strings.Repeat("a line of text\n", 500)})
	send(wire.Event{Kind: wire.KeyDown, Key: "ctrl"})
	send(wire.Event{Kind: wire.KeyDown, Key: "v"})
	send(wire.Event{Kind: wire.KeyUp, Key: "v"})
	send(wire.Event{Kind: wire.KeyUp, Key: "ctrl"})
	shown := func() []byte { return bytes.Clone(render.Picture(d.View()).SubImage(r.Area).(*image.RGBA).Pix) }
	before := shown()
	send(wire.Event{Kind: wire.Char, Text: "M"})
	if bytes.Equal(before, shown()) {
		t.Error("what is typed below the last line is not shown")
	}
}

func TestACharacterThatTheFontLacksIsStillSeen(t *testing.T) {
	scene, _ := virtualdesktop.BuiltIn("simple")
	view := virtualdesktop.New(scene).View()
	node := &view.Surfaces[1].Nodes[0]
	node.Text = " "
	blank := render.Picture(view)
	node.Text = "😀"
	if bytes.Equal(blank.Pix, render.Picture(view).Pix) {
		t.Error("an emoji looks like a blank")
	}
}

func TestAnyTextIsDrawnWithoutHarm(t *testing.T) {
	scene, _ := virtualdesktop.BuiltIn("simple")
	rapid.Check(t, func(rt *rapid.T) {
		view := virtualdesktop.New(scene).View()
		node := &view.Surfaces[1].Nodes[0]
		node.Text, node.Focused, node.All = rapid.String().Draw(rt, "text"), true, rapid.Bool().Draw(rt, "all")
		node.Caret = rapid.IntRange(0, len([]rune(node.Text))).Draw(rt, "caret")
		width := rapid.IntRange(1, 60).Draw(rt, "width")
		node.Bounds.Max.X = node.Bounds.Min.X + width
		view.Bounds, view.Monitors = image.Rect(0, 0, 300, 200), []wire.Monitor{{Bounds: image.Rect(0, 0, 300, 200)}}
		if got := render.Picture(view).Bounds(); got != view.Bounds {
			rt.Fatalf("bounds = %v", got)
		}
	})
}

// find is where a picture lies in another, pixel by pixel.
func find(screen, picture *image.RGBA) []image.Point {
	var found []image.Point
	size := picture.Bounds().Size()
	row := func(img *image.RGBA, x, y, width int) []byte {
		from := img.PixOffset(x, y)
		return img.Pix[from : from+4*width]
	}
	middle := row(picture, 0, size.Y/2, size.X) // edges are often flat
	for y := range screen.Bounds().Dy() - size.Y + 1 {
		line := row(screen, 0, y+size.Y/2, screen.Bounds().Dx())
		for from := 0; ; from++ {
			next := bytes.Index(line[from:], middle)
			if next < 0 {
				break
			}
			from += next
			same := from%4 == 0
			for dy := 0; same && dy < size.Y; dy++ {
				same = bytes.Equal(row(screen, from/4, y+dy, size.X), row(picture, 0, dy, size.X))
			}
			if same {
				found = append(found, image.Pt(from/4, y))
			}
		}
	}
	return found
}
