//go:build x11

package x11desktop

import (
	"context"
	"time"

	"github.com/jezek/xgb/xproto"
)

// settles has a driver go on as soon as the client has read a changed layout, and handled
// what came before, instead of after a time in which it may not have come to it.
func (c *client) settles(d *Driver) {
	d.settle = func(ctx context.Context, _ time.Duration) error { return c.caughtUp(ctx) }
}

// caughtUp returns when the client has handled all that the display has told it so far:
// what it says to itself now comes behind that.
func (c *client) caughtUp(ctx context.Context) error {
	heard := make(chan struct{})
	c.mu.Lock()
	c.words = append(c.words, heard)
	e := xproto.ClientMessageEvent{
		Format: 32, Window: c.link.clip.window, Type: c.link.atoms["TEXT"],
		Data: xproto.ClientMessageDataUnionData32New([]uint32{uint32(len(c.words) - 1), 0, 0, 0, 0}),
	}
	c.mu.Unlock()
	xproto.SendEvent(c.link.conn, false, e.Window, xproto.EventMaskNoEvent, string(e.Bytes()))
	select {
	case <-heard:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
