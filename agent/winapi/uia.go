package winapi

import (
	"errors"
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"
)

// ElementQuery says which elements of UI Automation are looked for: all that is set
// must be equal, letter by letter.
type ElementQuery struct {
	Name         string
	AutomationID string
	ControlType  int // UIA_…ControlTypeId of UIAutomationClient.h; 0: any
}

// Element is one element of the UI Automation tree, as it was when it was found.
type Element struct {
	ID           string // the same for the same element; empty when it has none
	Name         string
	AutomationID string
	ControlType  int
	Bounds       image.Rectangle // empty: it shows nowhere
	Clickable    *image.Point    // where it wants to be clicked; nil: it does not say
	OffScreen    bool            // scrolled away, or part of an icon; one that is covered is not
	Enabled      bool
}

// ErrDenied says that Windows keeps the agent out, as out of a window whose program
// has more rights.
var ErrDenied = errors.New("access denied")

// hresult is an HRESULT of winerror.h: negative when a call failed.
type hresult int32

// known are the failures that callers branch on: of winerror.h, and UIA_E_… of
// UIAutomationCoreApi.h.
var known = map[uint32]error{
	0x80040154: ErrNotHere, // REGDB_E_CLASSNOTREG
	0x8007007e: ErrNotHere, // ERROR_MOD_NOT_FOUND
	0x80070005: ErrDenied,  // E_ACCESSDENIED
	0x80070578: ErrGone,    // ERROR_INVALID_WINDOW_HANDLE
	0x80040201: ErrGone,    // UIA_E_ELEMENTNOTAVAILABLE
	0x800706ba: ErrGone,    // RPC_S_SERVER_UNAVAILABLE: the program ended
	0x80010108: ErrGone,    // RPC_E_DISCONNECTED
	0x800401fd: ErrGone,    // CO_E_OBJNOTCONNECTED
	0x80131505: ErrHung,    // UIA_E_TIMEOUT
	0x8001011f: ErrHung,    // RPC_E_TIMEOUT
}

// failed is a failed call as an error; nil: it did not fail.
func (r hresult) failed(call string) error {
	if r >= 0 {
		return nil
	}
	number := uint32(r)
	if err, ok := known[number]; ok {
		return fmt.Errorf("%s: %w (0x%08x)", call, err, number)
	}
	return fmt.Errorf("%s: 0x%08x", call, number)
}

// pointOf is a point that a provider gave in pixels; nil: it is none.
func pointOf(numbers []float64) *image.Point {
	if len(numbers) != 2 {
		return nil
	}
	for _, n := range numbers {
		if math.IsNaN(n) || math.Abs(n) > math.MaxInt32 {
			return nil
		}
	}
	return &image.Point{X: int(math.Floor(numbers[0])), Y: int(math.Floor(numbers[1]))}
}

// idOf is a runtime id in the form in which it is compared.
func idOf(numbers []int32) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.FormatInt(int64(n), 16)
	}
	return strings.Join(parts, ".")
}
