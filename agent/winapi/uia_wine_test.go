//go:build windows && wine && !386

package winapi

import (
	"errors"
	"fmt"
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/windows"
)

var someElements = []Element{
	{
		ID: "2a.1f.3", Name: "Enregistrer l'été € 😀", AutomationID: "save", ControlType: 50000, Enabled: true,
		Bounds: image.Rect(-1280, 20, -1200, 44), Clickable: &image.Point{X: -1270, Y: 30},
	},
	{ControlType: 50004, OffScreen: true}, // one that says nothing of itself
}

func TestElementsAreAskedForAndReadAsTheHeaderSays(t *testing.T) {
	c := &fakeCOM{found: someElements}
	tree, err := treeOf(c.automation())
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.find(0x1a02f4, ElementQuery{Name: "l'été 😀", AutomationID: "save", ControlType: 50000})
	if diff := cmp.Diff(someElements, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err = tree.find(7, ElementQuery{}); len(got) != 2 || err != nil {
		t.Errorf("any element: %v, %v", got, err)
	}
	tree.close()
	noLeaks(t, c, "closed")
	want := []string{
		"cache request", "add 30000", "add 30005", "add 30011", "add 30003", "add 30001", "add 30022", "add 30010", "add 30014", "mode 0",
		"element of window 0x1a02f4",
		"30003 is 50000 of kind 3",
		`30011 is the text "save"`, `(30003 is 50000 of kind 3 and 30011 is the text "save")`,
		`30005 is the text "l'été 😀"`, `((30003 is 50000 of kind 3 and 30011 is the text "save") and 30005 is the text "l'été 😀")`,
		`all ((30003 is 50000 of kind 3 and 30011 is the text "save") and 30005 is the text "l'été 😀") in scope 4 by a cache request`,
	}
	if diff := cmp.Diff(want, c.said[:min(len(want), len(c.said))]); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestB29_EveryInterfaceIsGivenBackWhateverFails(t *testing.T) {
	for n := 0; ; n++ {
		c := &fakeCOM{found: someElements, failing: n}
		when := fmt.Sprintf("call %d fails", n)
		tree, err := treeOf(c.automation())
		if err == nil {
			var found []Element
			found, err = tree.find(1, ElementQuery{Name: "a", AutomationID: "b", ControlType: 50000})
			if err != nil && found != nil {
				t.Errorf("%s: %v with %v", when, found, err)
			}
			tree.close()
		}
		noLeaks(t, c, when)
		if n > c.calls { // the call that was to fail is beyond the last
			if err != nil || n < 25 {
				t.Errorf("%d calls: %v", c.calls, err)
			}
			return
		}
		if (err == nil) != (n == 0) {
			t.Errorf("%s: %v", when, err)
		}
	}
}

func TestB29_AThousandSearchesLeaveNothingBehind(t *testing.T) {
	c := &fakeCOM{found: someElements}
	tree, err := treeOf(c.automation())
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := tree.find(1, ElementQuery{Name: "a", ControlType: 50000}); err != nil {
			t.Fatal(err)
		}
	}
	tree.close()
	noLeaks(t, c, "closed")
}

func TestAWindowThatIsGoneHasNoElements(t *testing.T) {
	if found, err := (System{}).Elements(t.Context(), 0x7ffffffe, ElementQuery{Name: "OK"}); !errors.Is(err, ErrGone) {
		t.Errorf("%v, %v", found, err)
	}
}

func TestAWineWithoutUIAutomationSaysSo(t *testing.T) {
	desktop := HWND(windows.GetDesktopWindow())
	for range 2 {
		found, err := (System{}).Elements(t.Context(), desktop, ElementQuery{Name: "OK"})
		if err == nil {
			t.Skip("this Wine has UI Automation, as 10 has")
		}
		if !errors.Is(err, ErrNotHere) || found != nil {
			t.Errorf("%v, %v", found, err)
		}
	}
}
