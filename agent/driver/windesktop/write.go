package windesktop

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// write types or pastes a text into the window in front and returns how many input
// events were sent.
func (d *Driver) write(ctx context.Context, gesture, text string, mode TypeMode) (int, error) {
	b, err := d.frontBoard(ctx)
	if err != nil {
		return 0, err
	}
	var p plan
	if mode == Clipboard {
		p, err = b.planPaste(d.config.PasteKeys)
	} else {
		p, err = b.planText(text, mode, d.config.TypePace)
	}
	if err != nil {
		return 0, err
	}
	if mode != Clipboard && d.system.IMEOpen(b.front) {
		return 0, driver.Tellable(fmt.Errorf("an input method takes what is typed into %s; switch it off there, or paste the text: %w",
			d.titled(b.front), driver.ErrBlocked))
	}
	if err = d.clear(ctx); err != nil {
		return 0, err
	}
	player := &player{system: d.system, title: d.titled, gesture: gesture, plan: p}
	defer func() { d.played(ctx, player) }()
	if mode == Clipboard {
		err = d.paste(ctx, player, text)
	} else {
		err = player.play(ctx)
	}
	return player.sent, err
}

// frontBoard is the keyboard of the window that has it; without one, what is typed
// would go nowhere.
func (d *Driver) frontBoard(ctx context.Context) (board, error) {
	var b board
	found, err := until(ctx, func() bool { b = newBoard(d.system); return b.front != 0 })
	if err == nil && !found {
		err = driver.Tellable(fmt.Errorf("no window has the keyboard: %w", driver.ErrNotInFront))
	}
	return b, err
}

// paste puts the text on the clipboard and presses the paste key. Whatever comes of
// it, the former text is put back later.
func (d *Driver) paste(ctx context.Context, p *player, text string) error {
	shown, err := clipboardText(text)
	if err != nil {
		return err
	}
	debt, err := d.clip.put(ctx, shown)
	if err != nil {
		return err
	}
	defer d.clip.repay(ctx, debt)
	err = p.play(ctx)
	if p.sent > 0 {
		d.pasted = time.Now()
	}
	return err
}
