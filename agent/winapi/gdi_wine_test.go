//go:build windows && wine

package winapi

import (
	"image"
	"testing"

	"golang.org/x/sys/windows"
)

var (
	procGetGuiResources = user32.NewProc("GetGuiResources")
	procGetObjectType   = gdi32.NewProc("GetObjectType")
)

// countingGDI is the real one, with a look at each object before it is made and after
// it is deleted.
type countingGDI struct {
	gdiCalls
	created, deleted int
	left             []string
}

func (g *countingGDI) memoryDC(like handle) (handle, error) {
	h, err := g.gdiCalls.memoryDC(like)
	return h, g.count(h, "device context", err)
}

func (g *countingGDI) bitmap(dc handle, size image.Point) (handle, []byte, error) {
	h, pixels, err := g.gdiCalls.bitmap(dc, size)
	return h, pixels, g.count(h, "bitmap", err)
}

func (g *countingGDI) deleteDC(dc handle) error {
	err := g.gdiCalls.deleteDC(dc)
	g.gone(dc, "device context")
	return err
}

func (g *countingGDI) deleteBitmap(bitmap handle) error {
	err := g.gdiCalls.deleteBitmap(bitmap)
	g.gone(bitmap, "bitmap")
	return err
}

func (g *countingGDI) count(h handle, what string, err error) error {
	if err == nil {
		g.created++
		if ask(procGetObjectType, uintptr(h)) == 0 {
			g.left = append(g.left, what+" that is none")
		}
	}
	return err
}

func (g *countingGDI) gone(h handle, what string) {
	if ask(procGetObjectType, uintptr(h)) == 0 {
		g.deleted++
	} else {
		g.left = append(g.left, what+" that is still there")
	}
}

func TestB29_TwelveThousandRealCapturesLeaveNoObject(t *testing.T) {
	part := image.Rect(10, 10, 74, 74)
	objects := func() uintptr { return ask(procGetGuiResources, uintptr(windows.CurrentProcess()), 0) }
	if _, err := (System{}).CaptureScreen(part); err != nil {
		t.Fatal(err)
	}
	before := objects()
	g := &countingGDI{}
	for i := range 12_000 {
		if _, err := shoot(g, part.Size(), image.Point{}, part, blit(part)); err != nil {
			t.Fatalf("capture %d: %v", i, err)
		}
	}
	if g.created != g.deleted || g.created != 24_000 || len(g.left) > 0 {
		t.Errorf("%d created, %d deleted, first left: %v", g.created, g.deleted, g.left[:min(5, len(g.left))])
	}
	// Wine has no such count and says 0, before as after.
	if after := objects(); after != before {
		t.Errorf("%d objects of GDI before, %d after", before, after)
	}
	t.Logf("%d created, %d deleted; the process had %d objects before", g.created, g.deleted, before)
}
