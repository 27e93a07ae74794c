package control

import (
	"time"

	"google.golang.org/grpc"

	"github.com/reprise-rpa/reprise/server/dispatch"
)

// sendTimeout is how long one response may take to be sent: a watcher that reads
// nothing for so long is ended, whether or not more waits for it.
const sendTimeout = 10 * time.Second

// send sends a response, unless the watcher does not read. Nothing but the
// handler's return frees a Send that hangs, so it gets a goroutine of its own.
func send[M any](s *Service, st grpc.ServerStreamingServer[M], m *M) error {
	sent := make(chan error, 1)
	go func() { sent <- st.Send(m) }()
	late := time.NewTimer(sendTimeout)
	defer late.Stop()
	select {
	case err := <-sent:
		return err
	case <-late.C:
		return dispatch.ErrSlowWatcher
	case <-s.cfg.Ended:
		return dispatch.ErrStopped
	}
}
