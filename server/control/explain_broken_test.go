package control

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
)

// breaking is a store that fails from some moment on, and still knows heads.
type breaking struct {
	empty
	broken  atomic.Bool
	full    atomic.Bool // nothing can be written
	records []replay.Record
	head    replay.Head
}

var errDisk = errors.New("input/output error")

func (b *breaking) Append(_ context.Context, entries []replay.Entry) error {
	if b.broken.Load() || b.full.Load() {
		return errDisk
	}
	b.head = entries[0].Head
	for _, e := range entries {
		b.records = append(b.records, e.Record)
	}
	return nil
}

func (b *breaking) LiveOf(context.Context, string) ([]replay.Record, error) {
	if b.broken.Load() {
		return nil, errDisk
	}
	return b.records, nil
}

func (b *breaking) Head(context.Context, string) (replay.Head, error) { return b.head, nil }

func TestAJournalThatCannotBeReadIsExplained(t *testing.T) {
	j := &breaking{}
	inFleet(t, j, func(ctx context.Context, fleet *dispatch.Fleet) {
		s := New(Config{Journal: j, Fleet: fleet, Machines: someMachines{"desk-1": true}, Registry: &registry.Registry{}})
		r, err := s.submit(ctx, "desk-1", replay.Created{MachineID: "desk-1", Steps: []replay.Step{{Kind: "wait"}}})
		if err != nil {
			t.Fatal(err)
		}
		j.broken.Store(true)
		if _, err := s.PauseReplay(ctx, &reprisev1.PauseReplayRequest{ReplayId: r.GetReplayId()}); err == nil {
			t.Fatal("a pause was written to a broken disk")
		}
		time.Sleep(time.Second)
		res, err := s.ExplainReplay(ctx, &reprisev1.ExplainReplayRequest{ReplayId: r.GetReplayId()})
		if err != nil || len(res.GetCauses()) != 1 || res.GetCauses()[0].GetJournalUnavailable().GetMachineId() != "desk-1" || res.GetReplay().GetReplayId() != r.GetReplayId() {
			t.Errorf("%v, %v", res, err)
		}
	})
}

// A full disk lets everything be read and nothing be decided: that nothing goes on
// has a cause, until there is room again.
func TestAJournalThatTakesNoWriteIsExplained(t *testing.T) {
	j := &breaking{}
	inFleet(t, j, func(ctx context.Context, fleet *dispatch.Fleet) {
		s := New(Config{Journal: j, Fleet: fleet, Machines: someMachines{"desk-1": true}, Registry: &registry.Registry{}})
		r, err := s.submit(ctx, "desk-1", replay.Created{MachineID: "desk-1", Steps: []replay.Step{{Kind: "wait"}}})
		if err != nil {
			t.Fatal(err)
		}
		pause := func() error {
			_, err := s.PauseReplay(ctx, &reprisev1.PauseReplayRequest{ReplayId: r.GetReplayId()})
			return err
		}
		last := func() *reprisev1.Cause {
			res, err := s.ExplainReplay(ctx, &reprisev1.ExplainReplayRequest{ReplayId: r.GetReplayId()})
			if err != nil {
				t.Fatal(err)
			}
			return res.GetCauses()[len(res.GetCauses())-1]
		}
		j.full.Store(true)
		if pause() == nil {
			t.Fatal("a pause was written to a full disk")
		}
		if c := last(); c.GetJournalUnavailable().GetMachineId() != "desk-1" {
			t.Errorf("on a full disk: %v", c)
		}
		j.full.Store(false)
		if err := pause(); err != nil {
			t.Fatal(err)
		}
		if c := last(); c.GetJournalUnavailable() != nil {
			t.Errorf("with room again: %v", c)
		}
	})
}
