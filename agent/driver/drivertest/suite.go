package drivertest

import (
	"testing"
)

// Promise is one thing that a driver promises; it is the name of its subtest.
type Promise string

// The promises.
const (
	ClickLands       Promise = "a click lands on the pixel and is one click"
	ClickButtons     Promise = "each button arrives as itself"
	DoubleClick      Promise = "count 2 is a double click and count 3 a triple one"
	ClickModifiers   Promise = "modifiers are down during a click and up after it"
	MoveArrives      Promise = "the pointer moves to the pixel and presses nothing"
	DragArrives      Promise = "a drag presses, moves and releases"
	ScrollNotches    Promise = "the wheel turns by the notches asked for"
	TypeArrives      Promise = "typed text arrives to the letter"
	TypeRefused      Promise = "a character without a key is refused before anything is typed"
	PasteArrives     Promise = "pasted text arrives to the letter"
	ComboArrives     Promise = "a combo goes down in order and up in reverse"
	ComboRefused     Promise = "an unknown key is refused before any key goes down"
	ComboFront       Promise = "keys for one window are pressed only while it is in front"
	OffScreenRefused Promise = "a place on no monitor is refused with nothing sent"
	CoveredRefused   Promise = "a gesture for a window that is not the topmost at its place is refused with nothing sent"
	CountRefused     Promise = "a click count that no hand makes is refused with nothing sent"
	WindowsListed    Promise = "windows are listed the topmost first and the active one says so"
	FocusArrives     Promise = "focus brings a window to the front and gives it the keyboard"
	FocusRefused     Promise = "focus of a window that is gone fails with nothing sent"
	CaptureChanges   Promise = "a picture spans all monitors and shows what changed"
	LooksBeside      Promise = "pictures are taken beside a gesture, and neither they nor their cancelling disturbs it"
	WindowPictured   Promise = "a picture of a window spans it, shows what changed in it, and says how it was taken"
	GonePictured     Promise = "a picture of a window that is gone is refused as such"
	MonitorsListed   Promise = "the primary monitor comes first and there is only one"
	CancelLetsGo     Promise = "a gesture that is cancelled between two events lets go of everything"
	CancelledBefore  Promise = "a gesture that is cancelled before it begins sends nothing"
	ReleaseLetsGo    Promise = "release lets go of what a dead process left down"
	LockedDesktop    Promise = "a locked desktop is said to be locked and gets no input"
)

var suite = []struct {
	promise Promise
	keep    func(*testing.T, Fixture)
}{
	{ClickLands, clickLands},
	{ClickButtons, clickButtons},
	{DoubleClick, doubleClick},
	{ClickModifiers, clickModifiers},
	{MoveArrives, moveArrives},
	{DragArrives, dragArrives},
	{ScrollNotches, scrollNotches},
	{TypeArrives, typeArrives},
	{TypeRefused, typeRefused},
	{PasteArrives, pasteArrives},
	{ComboArrives, comboArrives},
	{ComboRefused, comboRefused},
	{ComboFront, comboFront},
	{OffScreenRefused, offScreenRefused},
	{CoveredRefused, coveredRefused},
	{CountRefused, countRefused},
	{WindowsListed, windowsListed},
	{FocusArrives, focusArrives},
	{FocusRefused, focusRefused},
	{CaptureChanges, captureChanges},
	{LooksBeside, looksBeside},
	{WindowPictured, windowPictured},
	{GonePictured, gonePictured},
	{MonitorsListed, monitorsListed},
	{CancelLetsGo, cancelLetsGo},
	{CancelledBefore, cancelledBefore},
	{ReleaseLetsGo, releaseLetsGo},
	{LockedDesktop, lockedDesktop},
}

// Run puts a driver to every promise, each on a fresh fixture. A promise that
// the fixture excepts is skipped with the fixture's reason.
func Run(t *testing.T, open func(*testing.T) Fixture) {
	t.Helper()
	for _, s := range suite {
		t.Run(string(s.promise), func(t *testing.T) {
			f := open(t)
			if reason, excepted := f.Exceptions()[s.promise]; excepted {
				if reason == "" {
					t.Fatal("the promise is excepted without a reason")
				}
				t.Skip("this desktop cannot: " + reason)
			}
			s.keep(t, f)
		})
	}
}
