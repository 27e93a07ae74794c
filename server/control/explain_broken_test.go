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
	broken atomic.Bool
	head   replay.Head
}

var errDisk = errors.New("input/output error")

func (b *breaking) Append(_ context.Context, entries []replay.Entry) error {
	if b.broken.Load() {
		return errDisk
	}
	b.head = entries[0].Head
	return nil
}

func (b *breaking) LiveOf(context.Context, string) ([]replay.Record, error) {
	if b.broken.Load() {
		return nil, errDisk
	}
	return nil, nil
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
