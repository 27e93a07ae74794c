package winapi

import (
	"errors"
	"fmt"
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errInjected = errors.New("injected")

// fakeGDI keeps books as Windows does: a bitmap that is selected is not deleted, and
// a device context that goes lets go of what is selected. It fails at one step.
type fakeGDI struct {
	failAt, step      int
	next              handle
	screens, contexts map[handle]bool
	bitmaps           map[handle][]byte
	selected          map[handle]handle // by device context
	created, deleted  int
	flushed           int
}

func newFakeGDI() *fakeGDI {
	return &fakeGDI{screens: map[handle]bool{}, contexts: map[handle]bool{}, bitmaps: map[handle][]byte{}, selected: map[handle]handle{}}
}

// begin starts a picture that fails at a step; 0: it succeeds.
func (g *fakeGDI) begin(failAt int) { g.step, g.failAt = 0, failAt }

func (g *fakeGDI) fails() bool { g.step++; return g.step == g.failAt }

func (g *fakeGDI) create() handle { g.created++; g.next++; return g.next }

func (g *fakeGDI) screenDC() (handle, error) {
	if g.fails() {
		return 0, errInjected
	}
	h := g.create()
	g.screens[h] = true
	return h, nil
}

func (g *fakeGDI) releaseDC(dc handle) error { return g.remove(g.screens, dc) }

func (g *fakeGDI) memoryDC(like handle) (handle, error) {
	if g.fails() {
		return 0, errInjected
	}
	if !g.screens[like] {
		return 0, fmt.Errorf("%d is no screen", like)
	}
	h := g.create()
	g.contexts[h], g.selected[h] = true, stock
	return h, nil
}

const stock handle = 1 << 30 // the bitmap that a new device context has

func (g *fakeGDI) deleteDC(dc handle) error {
	delete(g.selected, dc)
	return g.remove(g.contexts, dc)
}

// remove deletes, and may say all the same that it failed: what counts is that
// everything else is given back nevertheless.
func (g *fakeGDI) remove(from map[handle]bool, h handle) error {
	if !from[h] {
		return fmt.Errorf("%d is not there", h)
	}
	delete(from, h)
	g.deleted++
	if g.fails() {
		return errInjected
	}
	return nil
}

func (g *fakeGDI) bitmap(_ handle, size image.Point) (handle, []byte, error) {
	if g.fails() {
		return 0, nil, errInjected
	}
	h := g.create()
	g.bitmaps[h] = make([]byte, 4*size.X*size.Y)
	return h, g.bitmaps[h], nil
}

func (g *fakeGDI) deleteBitmap(bitmap handle) error {
	for _, in := range g.selected {
		if in == bitmap {
			return errors.New("the bitmap is selected")
		}
	}
	pixels, there := g.bitmaps[bitmap]
	if !there {
		return fmt.Errorf("%d is no bitmap", bitmap)
	}
	clear(pixels) // gone with it
	delete(g.bitmaps, bitmap)
	g.deleted++
	if g.fails() {
		return errInjected
	}
	return nil
}

func (g *fakeGDI) selectObject(dc, bitmap handle) (handle, error) {
	if g.fails() {
		return 0, errInjected
	}
	former, there := g.selected[dc]
	if !there {
		return 0, fmt.Errorf("%d is no device context", dc)
	}
	g.selected[dc] = bitmap
	return former, nil
}

func (g *fakeGDI) flush() error {
	if g.fails() {
		return errInjected
	}
	g.flushed++
	return nil
}

// draw numbers the first pixels of the bitmap that is selected.
func (g *fakeGDI) draw(to, screen handle) error {
	if g.fails() {
		return errInjected
	}
	if !g.screens[screen] {
		return fmt.Errorf("%d is no screen", screen)
	}
	pixels := g.bitmaps[g.selected[to]]
	for i := 0; i < min(len(pixels), 1024); i += 4 {
		n := byte(i / 4)
		copy(pixels[i:], []byte{n, n + 1, n + 2, 7}) // blue, green, red, undefined
	}
	return nil
}

var whole = image.Rect(-64, 10, 0, 74)

func (g *fakeGDI) picture() (*image.RGBA, error) {
	return shoot(g, whole.Size(), image.Point{}, whole, g.draw)
}

// stepsOfAPicture is how many calls can fail in one.
func stepsOfAPicture(t *testing.T) int {
	t.Helper()
	g := newFakeGDI()
	if _, err := g.picture(); err != nil {
		t.Fatal(err)
	}
	return g.step
}

func TestB29_TwelveThousandCapturesLeaveNoObjectWhateverFails(t *testing.T) {
	steps := stepsOfAPicture(t)
	if steps < 10 {
		t.Fatalf("a picture has %d steps: the fake misses some", steps)
	}
	g := newFakeGDI()
	failed := 0
	for i := range 12_000 {
		failAt := i % (steps + 1)
		g.begin(failAt)
		img, err := g.picture()
		if failAt == 0 {
			if err != nil || img == nil {
				t.Fatalf("capture %d: %v", i, err)
			}
			continue
		}
		failed++
		if !errors.Is(err, errInjected) || img != nil {
			t.Fatalf("capture %d failing at step %d: %v, picture %v", i, failAt, err, img != nil)
		}
		if g.created != g.deleted {
			t.Fatalf("capture %d failing at step %d: %d created, %d deleted", i, failAt, g.created, g.deleted)
		}
	}
	if g.created != g.deleted || g.created < 12_000 || len(g.bitmaps)+len(g.screens)+len(g.contexts) > 0 {
		t.Errorf("%d created, %d deleted", g.created, g.deleted)
	}
	if failed < 10_000 {
		t.Errorf("only %d of the captures failed", failed)
	}
}

func TestB12_APictureHasItsPartOfTheBitmapWithTheRightColours(t *testing.T) {
	g := newFakeGDI()
	bounds := image.Rect(-3, 5, -1, 7)
	img, err := shoot(g, image.Pt(4, 3), image.Pt(1, 1), bounds, g.draw)
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds() != bounds || g.flushed != 1 {
		t.Errorf("bounds %v, flushed %d times", img.Bounds(), g.flushed)
	}
	// Pixels 5, 6 and 9, 10 of the 4 by 3: red, green, blue, opaque.
	want := []byte{7, 6, 5, 255, 8, 7, 6, 255, 11, 10, 9, 255, 12, 11, 10, 255}
	if diff := cmp.Diff(want, img.Pix); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAPictureOfNothingTouchesNothing(t *testing.T) {
	for _, c := range []struct {
		size, from image.Point
		bounds     image.Rectangle
	}{
		{image.Pt(0, 5), image.Point{}, image.Rect(0, 0, 1, 1)},
		{image.Pt(5, 5), image.Point{}, image.Rectangle{}},
		{image.Pt(5, 5), image.Pt(1, 0), image.Rect(0, 0, 5, 5)},
		{image.Pt(5, 5), image.Pt(-1, 0), image.Rect(0, 0, 2, 2)},
	} {
		g := newFakeGDI()
		if _, err := shoot(g, c.size, c.from, c.bounds, g.draw); err == nil || g.created != 0 {
			t.Errorf("%+v: %v, %d objects created", c, err, g.created)
		}
	}
}

func BenchmarkConvert2560x1600(b *testing.B) {
	img := image.NewRGBA(image.Rect(0, 0, 2560, 1600))
	pixels := make([]byte, len(img.Pix))
	b.SetBytes(int64(len(pixels)))
	for b.Loop() {
		convert(img, pixels, 2560, image.Point{})
	}
}
