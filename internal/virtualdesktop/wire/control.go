package wire

import (
	"context"
	"image"
)

// ControlClient is a connection to the control door.
type ControlClient struct{ *conn }

// DialControl connects to the control door.
func DialControl(ctx context.Context, address string) (ControlClient, error) {
	c, err := dial(ctx, address)
	return ControlClient{c}, err
}

// Ledger returns all that has happened to widgets since the desktop started.
func (c ControlClient) Ledger(ctx context.Context) ([]Entry, error) {
	var entries []Entry
	_, err := c.call(ctx, "ledger", nil, &entries)
	return entries, err
}

// Swallow makes clicks, keys and text vanish while the pointer still moves, or
// ends that. Whoever sends them is told that all is well.
func (c ControlClient) Swallow(ctx context.Context, on bool) error {
	_, err := c.call(ctx, "swallow", on, nil)
	return err
}

// Lock locks or unlocks the desktop.
func (c ControlClient) Lock(ctx context.Context, on bool) error {
	_, err := c.call(ctx, "lock", on, nil)
	return err
}

// Disconnect takes the display away or brings it back.
func (c ControlClient) Disconnect(ctx context.Context, on bool) error {
	_, err := c.call(ctx, "disconnect", on, nil)
	return err
}

// MoveWindow puts a window's upper left corner anywhere, also off all monitors.
func (c ControlClient) MoveWindow(ctx context.Context, window string, to image.Point) error {
	_, err := c.call(ctx, "move_window", Placement{Window: window, To: to}, nil)
	return err
}

// Placement is where a window goes.
type Placement struct {
	Window string      `json:"window"`
	To     image.Point `json:"to"`
}

// Popup opens a dialog over all windows, gives it the keyboard, and returns the
// window's id. Its button, whose id is that id and "-ok", closes it.
func (c ControlClient) Popup(ctx context.Context, d Dialog) (string, error) {
	var id string
	_, err := c.call(ctx, "popup", d, &id)
	return id, err
}

// Recorder opens a window that records all it is told in the ledger and gathers
// text, and gives it the keyboard.
func (c ControlClient) Recorder(ctx context.Context, title string) (Recording, error) {
	var r Recording
	_, err := c.call(ctx, "recorder", title, &r)
	return r, err
}

// Recording is a window that records what it is told.
type Recording struct {
	Window string          `json:"window"`
	Widget string          `json:"widget"` // its entries in the ledger carry this id
	Area   image.Rectangle `json:"area"`   // where it records
}

// Text returns a text area's whole text.
func (c ControlClient) Text(ctx context.Context, widget string) (string, error) {
	var text string
	_, err := c.call(ctx, "text", widget, &text)
	return text, err
}

// Find returns where a widget is, as far as it is shown.
func (c ControlClient) Find(ctx context.Context, widget string) (image.Rectangle, error) {
	var bounds image.Rectangle
	_, err := c.call(ctx, "find", widget, &bounds)
	return bounds, err
}
