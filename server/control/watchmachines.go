package control

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/rpcstatus"
)

const (
	// relistEvery is how often a watch looks at all machines: nobody tells it of
	// machines that are registered or revoked.
	relistEvery = 5 * time.Second
	// gather is how long a watch that was woken waits for what comes with it.
	gather = 10 * time.Millisecond
)

// WatchMachines implements MachineService.WatchMachines.
func (s *Service) WatchMachines(req *reprisev1.WatchMachinesRequest, st grpc.ServerStreamingServer[reprisev1.WatchMachinesResponse]) error {
	return rpcstatus.Error(s.watchMachines(req, st))
}

func (s *Service) watchMachines(req *reprisev1.WatchMachinesRequest, st grpc.ServerStreamingServer[reprisev1.WatchMachinesResponse]) error {
	changes := s.cfg.Changes.subscribe()
	defer changes.end()
	relist := time.NewTicker(relistEvery)
	defer relist.Stop()
	w := machineWatch{service: s, wanted: req.GetMachineIds(), shown: map[string]*reprisev1.Machine{}}
	news, err := w.look(st.Context(), s.machineIDs())
	if err != nil {
		return err
	}
	if err := send(s, st, news); err != nil {
		return err
	}
	for {
		ids, err := s.nextToLookAt(st.Context(), changes, relist.C)
		if err != nil {
			return err
		}
		news, err := w.look(st.Context(), ids)
		if err != nil {
			return err
		}
		if len(news.Machines)+len(news.RemovedMachineIds) == 0 {
			continue
		}
		if err := send(s, st, news); err != nil {
			return err
		}
	}
}

// nextToLookAt waits until there is reason to look, and says at which machines.
func (s *Service) nextToLookAt(ctx context.Context, changes *changed, relist <-chan time.Time) ([]string, error) {
	select {
	case <-changes.wake:
		if err := s.pause(ctx, gather); err != nil {
			return nil, err
		}
		return slices.Collect(maps.Keys(changes.take())), nil
	case <-relist:
		return s.machineIDs(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.cfg.Ended:
		return nil, dispatch.ErrStopped
	}
}

// pause lets time pass, unless the call or the server ends.
func (s *Service) pause(ctx context.Context, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.cfg.Ended:
		return dispatch.ErrStopped
	}
}

// machineWatch is what one watcher was shown.
type machineWatch struct {
	service *Service
	wanted  []string // empty: all
	shown   map[string]*reprisev1.Machine
}

// look looks at some machines, and says which of them are other than was shown.
func (w *machineWatch) look(ctx context.Context, ids []string) (*reprisev1.WatchMachinesResponse, error) {
	news := &reprisev1.WatchMachinesResponse{}
	slices.Sort(ids)
	for _, id := range ids {
		if len(w.wanted) > 0 && !slices.Contains(w.wanted, id) {
			continue
		}
		m, err := w.service.machine(ctx, id)
		if err != nil {
			return nil, err
		}
		before, known := w.shown[id]
		switch {
		case m == nil && known:
			delete(w.shown, id)
			news.RemovedMachineIds = append(news.RemovedMachineIds, id)
		case m != nil && !proto.Equal(before, m):
			w.shown[id] = m
			news.Machines = append(news.Machines, m)
		}
	}
	return news, nil
}
