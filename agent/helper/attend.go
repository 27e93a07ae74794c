package helper

import (
	"context"
	"errors"
	"image"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/reprise-rpa/reprise/agent/driver"
	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// Attend tells what the person does, at one helper after the other, until ctx ends. A
// stop that was told stands until GoOn, though its helper goes away.
func (d *Desktop) Attend(ctx context.Context, told func(driver.Act)) error {
	if act := d.standing(); act != nil {
		told(*act)
	}
	again := time.NewTimer(attendAgain)
	defer again.Stop()
	for {
		l, news := d.attendable()
		if l != nil {
			if err := d.attend(ctx, l, told); ctx.Err() == nil && !l.ended() {
				d.cfg.Log.Warn("the helper does not tell what the person does", logkeys.Error, err)
			}
		}
		again.Reset(attendAgain)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-news:
		case <-again.C:
		}
	}
}

// attendable returns the line of a helper at which a person sits, or nil, and what is
// closed when that changes.
func (d *Desktop) attendable() (*line, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.line == nil || !d.line.attended {
		return nil, d.news
	}
	return d.line, d.news
}

// attend tells what one helper tells, until that ends, and returns why.
func (d *Desktop) attend(ctx context.Context, l *line, told func(driver.Act)) error {
	bound, done := untimed(ctx)
	defer done()
	stream, err := l.client.Attend(bound, &helperv1.AttendRequest{})
	if err != nil {
		return l.failed(ctx, err)
	}
	for {
		said, err := stream.Recv()
		switch {
		case err != nil:
			return l.failed(ctx, err)
		case said.GetFault() != nil:
			return decodeFault(ctx, said.GetFault())
		case said.GetAct() != nil:
			if act := decodeAct(said.GetAct()); d.isNew(act) {
				told(act)
			}
		}
	}
}

// isNew keeps a stop, and says whether an act was not told before: a helper tells a stop
// again that stands.
func (d *Desktop) isNew(act driver.Act) bool {
	if act.Kind != driver.Stopped {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped != nil && d.stopped.At.Equal(act.At) {
		return false
	}
	d.stopped = &act
	return true
}

// standing is the stop that nobody has taken back; nil: there is none.
func (d *Desktop) standing() *driver.Act {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stopped
}

// Hold keeps gestures back because of a stop that was made before the service began, at
// each helper that comes too.
func (d *Desktop) Hold(ctx context.Context, stop driver.Act) error {
	if err := take(ctx, d.notes); err != nil {
		return err
	}
	defer give(d.notes)
	if !d.isNew(stop) {
		return nil
	}
	l, _ := d.attendable()
	if l == nil {
		return nil
	}
	_, err := ask(ctx, l, helperv1.HelperServiceClient.Hold, &helperv1.HoldRequest{Stop: encodeAct(stop)})
	return unlessEnded(err)
}

// GoOn takes a stop back, at the helper too. One that has gone takes its stop along; a
// stop that comes meanwhile stands.
func (d *Desktop) GoOn(ctx context.Context) error {
	if err := take(ctx, d.notes); err != nil { // no helper that comes is told of the stop after it
		return err
	}
	defer give(d.notes)
	act := d.standing()
	if l, _ := d.attendable(); l != nil {
		_, err := ask(ctx, l, helperv1.HelperServiceClient.GoOn, &helperv1.GoOnRequest{})
		if err != nil && !errors.Is(err, ErrEnded) {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped == act {
		d.stopped = nil
	}
	return nil
}

// ShowPause shows a pause, and at each new helper again, until HidePause. Without a
// helper it is shown by the next one.
func (d *Desktop) ShowPause(ctx context.Context, n driver.Notice) error {
	if err := take(ctx, d.notes); err != nil {
		return err
	}
	defer give(d.notes)
	if !slices.ContainsFunc(d.notices, func(shown driver.Notice) bool { return shown.PauseID == n.PauseID }) {
		d.notices = append(d.notices, n)
	}
	l, _ := d.now()
	if l == nil {
		return nil
	}
	_, err := ask(ctx, l, helperv1.HelperServiceClient.ShowPause, encodeNotice(n))
	return unlessEnded(err)
}

// HidePause takes a pause away, at the helper and from what the next one is to show.
func (d *Desktop) HidePause(ctx context.Context, pauseID string) error {
	if err := take(ctx, d.notes); err != nil {
		return err
	}
	defer give(d.notes)
	d.notices = slices.DeleteFunc(d.notices, func(shown driver.Notice) bool { return shown.PauseID == pauseID })
	l, _ := d.attendable()
	if l == nil {
		return nil
	}
	_, err := ask(ctx, l, helperv1.HelperServiceClient.HidePause, &helperv1.HidePauseRequest{PauseId: valid(pauseID)})
	return unlessEnded(err)
}

// ShowServer shows whether the agent has its server, and tells each new helper.
func (d *Desktop) ShowServer(ctx context.Context, connected bool) error {
	if err := take(ctx, d.notes); err != nil {
		return err
	}
	defer give(d.notes)
	d.cutOff = !connected
	l, _ := d.attendable()
	if l == nil {
		return nil
	}
	_, err := ask(ctx, l, helperv1.HelperServiceClient.ShowServer, &helperv1.ShowServerRequest{Connected: connected})
	return unlessEnded(err)
}

// unlessEnded is err, unless it is that the helper has gone: with it goes what it
// showed, and the next one shows what is to be shown.
func unlessEnded(err error) error {
	if errors.Is(err, ErrEnded) {
		return nil
	}
	return err
}

// Announce outlines a place.
func (d *Desktop) Announce(ctx context.Context, around image.Rectangle, duration time.Duration) error {
	l, err := d.helper()
	if err == nil {
		_, err = ask(ctx, l, helperv1.HelperServiceClient.Announce, &helperv1.AnnounceRequest{
			Around: encodeRectangle(around), Duration: durationpb.New(duration),
		})
	}
	return err
}
