package person

import (
	"image"
	"image/color"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// machine is the side of a machine at which a person sits; winapi.Loop has it. Its
// methods return within some seconds, whatever hangs.
type machine interface {
	watching
	signs
	// ShowTray puts the icon into the notification area, or changes it. Chosen is called
	// with what is chosen from its menu and must return at once.
	ShowTray(look winapi.Tray, chosen func(id int)) error
	// Language is the primary language of the user's Windows: LANG_… of winnt.h.
	Language() uint16
	// Class is the class of all windows of the signs, and of no others.
	Class() string
	// Close takes everything away.
	Close() error
}

// watching is what the machine sees of the person.
type watching interface {
	// Hook has see called with every input event before any window gets it; true keeps it
	// from all. Called again, it sets the hooks anew, and misses nothing meanwhile.
	Hook(see func(winapi.Seen) bool) error
	// LastInput is when the session got its last input event, in milliseconds that wrap.
	LastInput() (uint32, error)
	// Pressed says whether Windows holds a key to be down.
	Pressed(vk uint16) bool
}

// signs are what the machine shows to the person.
type signs interface {
	// WorkArea is the part of the primary monitor that no taskbar covers, and its
	// resolution; 96 is 100 %.
	WorkArea() (image.Rectangle, int, error)
	// Measure is how high a text is when it wraps within a width.
	Measure(text string, font winapi.Font, width int) (int, error)
	// OutOfPictures says whether pictures leave out what the signs show.
	OutOfPictures() bool
	ShowNotice(p winapi.Page) error
	HideNotice() error
	ShowOutline(bars [4]image.Rectangle, colour color.RGBA) error
	HideOutline() error
	// Composed waits until the screen shows what was hidden and shown before.
	Composed()
}
