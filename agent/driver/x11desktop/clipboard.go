package x11desktop

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jezek/xgb/xproto"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// clipboard is the text that the driver offers. X has no place for it: whoever
// pastes asks the program that copied.
type clipboard struct {
	window xproto.Window // owns the selections

	mu      sync.Mutex
	text    string
	owned   map[xproto.Atom]bool
	fetched chan struct{} // told when an application has fetched the text
}

func (l *link) prepareClipboard() error {
	window, err := xproto.NewWindowId(l.conn)
	if err != nil {
		return err
	}
	l.clip.window = window
	return xproto.CreateWindowChecked(l.conn, 0, window, l.root, 0, 0, 1, 1, 0,
		xproto.WindowClassInputOnly, xproto.WindowNone, 0, nil).Check()
}

// offer puts text on the clipboard. The channel tells when it is fetched.
func (l *link) offer(text string) (<-chan struct{}, error) {
	defer l.guard()()
	selections := []xproto.Atom{l.atoms["CLIPBOARD"], xproto.AtomPrimary}
	fetched := make(chan struct{}, 1)
	l.clip.mu.Lock()
	l.clip.text, l.clip.fetched = text, fetched
	l.clip.owned = map[xproto.Atom]bool{selections[0]: true, selections[1]: true}
	l.clip.mu.Unlock()
	for _, selection := range selections {
		xproto.SetSelectionOwner(l.conn, l.clip.window, selection, xproto.TimeCurrentTime)
		owner, err := xproto.GetSelectionOwner(l.conn, selection).Reply()
		if err != nil {
			return nil, fmt.Errorf("clipboard: %w", err)
		}
		if owner.Owner != l.clip.window {
			return nil, fmt.Errorf("another program keeps the clipboard: %w", driver.ErrBlocked)
		}
	}
	return fetched, nil
}

// lost forgets the text when other programs have taken both selections.
func (c *clipboard) lost(selection xproto.Atom) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owned, selection)
	if len(c.owned) == 0 {
		c.text = ""
	}
}

// property is what a selection is handed over as.
type property struct {
	kind   xproto.Atom
	format byte
	value  []byte
}

// convert turns the text into what an application asks for. It says false if
// the text does not exist in that form.
func (l *link) convert(text string, target xproto.Atom) (property, bool) {
	switch target {
	case l.atoms["TARGETS"]:
		targets := []xproto.Atom{l.atoms["TARGETS"], l.atoms["UTF8_STRING"], l.atoms["text/plain;charset=utf-8"], l.atoms["TEXT"]}
		if _, ok := toLatin1(text); ok {
			targets = append(targets, xproto.AtomString)
		}
		return property{kind: xproto.AtomAtom, format: 32, value: atomBytes(targets)}, true
	case l.atoms["UTF8_STRING"], l.atoms["TEXT"]:
		return property{kind: l.atoms["UTF8_STRING"], format: 8, value: []byte(text)}, true
	case l.atoms["text/plain;charset=utf-8"]:
		return property{kind: target, format: 8, value: []byte(text)}, true
	case xproto.AtomString:
		value, ok := toLatin1(text)
		return property{kind: target, format: 8, value: value}, ok
	}
	return property{}, false
}

func atomBytes(atoms []xproto.Atom) []byte {
	b := make([]byte, 0, 4*len(atoms))
	for _, a := range atoms {
		b = append(b, byte(a), byte(a>>8), byte(a>>16), byte(a>>24))
	}
	return b
}

// serveSelection hands the text to an application that asked for it. It runs on
// the connection's reader and waits for no answer.
func (l *link) serveSelection(e xproto.SelectionRequestEvent) {
	l.clip.mu.Lock()
	text, fetched, owned := l.clip.text, l.clip.fetched, l.clip.owned[e.Selection]
	l.clip.mu.Unlock()
	answer := xproto.SelectionNotifyEvent{Time: e.Time, Requestor: e.Requestor, Selection: e.Selection, Target: e.Target}
	place := e.Property
	if place == 0 {
		place = e.Target // what clients of old mean by that
	}
	given, ok := l.convert(text, e.Target)
	if ok && owned {
		l.put(e.Requestor, place, given)
		answer.Property = place
	}
	xproto.SendEvent(l.conn, false, e.Requestor, xproto.EventMaskNoEvent, string(answer.Bytes()))
	if ok && owned && e.Target != l.atoms["TARGETS"] {
		select {
		case fetched <- struct{}{}:
		default: // it is told already
		}
	}
}

// put writes a property, in pieces if it is longer than a request may be. The
// application reads it when it gets the answer, so it sees it whole.
func (l *link) put(w xproto.Window, place xproto.Atom, p property) {
	const header = 32
	size := 4*int(l.setup.MaximumRequestLength) - header
	mode := byte(xproto.PropModeReplace)
	for part := range slices.Chunk(p.value, size) {
		xproto.ChangeProperty(l.conn, mode, w, place, p.kind, p.format, uint32(len(part)/int(p.format/8)), part)
		mode = xproto.PropModeAppend
	}
	if len(p.value) == 0 {
		xproto.ChangeProperty(l.conn, mode, w, place, p.kind, p.format, 0, nil)
	}
}

// fetchBound is how long a paste waits for the application to take the text. An
// application that takes it later, or never, is no fault of the input: what came
// of it is for the screen to show.
const fetchBound = time.Second

// paste offers the text, presses the paste key and waits until the text is
// taken, so that the next gesture does not overtake it.
func (d *Driver) paste(ctx context.Context, p *player, steps []step, text string) error {
	fetched, err := p.link.offer(text)
	if err != nil {
		return err
	}
	if err = p.play(ctx, steps); err != nil {
		return err
	}
	timer := time.NewTimer(fetchBound)
	defer timer.Stop()
	select {
	case <-fetched:
	case <-p.link.ended:
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// pasteKeys is the combo that pastes into the active window.
func (d *Driver) pasteKeys(l *link) ([]string, error) {
	windows, err := l.windows()
	if err != nil {
		return nil, err
	}
	for _, w := range windows {
		if w.Active && slices.Contains(d.config.TerminalClasses, w.Class) {
			return d.config.TerminalPasteKeys, nil
		}
	}
	return d.config.PasteKeys, nil
}
