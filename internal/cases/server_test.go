package cases

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing/synctest"

	"google.golang.org/grpc/test/bufconn"

	"github.com/reprise-rpa/reprise/server/host"
)

// door is where the server is reached; behind it may be another server later.
type door struct {
	mu    sync.Mutex
	lis   *bufconn.Listener // nil: there is no server
	conns []net.Conn
}

var errNoServer = errors.New("no server listens")

func (d *door) dial(ctx context.Context, _ string) (net.Conn, error) {
	d.mu.Lock()
	lis := d.lis
	d.mu.Unlock()
	if lis == nil {
		return nil, errNoServer
	}
	conn, err := lis.DialContext(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns = append(d.conns, conn)
	return conn, nil
}

// leadTo breaks what is connected and leads to another server; nil: to none.
func (d *door) leadTo(lis *bufconn.Listener) {
	d.mu.Lock()
	conns := d.conns
	d.lis, d.conns = lis, nil
	d.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
}

// startServer starts a server on the data folder.
func (w *world) startServer() *host.Host {
	w.t.Helper()
	s := w.with.server
	s.DataDir = w.dir
	h, err := host.New(w.base, host.Config{Settings: s, Version: "test", Log: w.logger})
	w.must(err)
	lis, scrape := bufconn.Listen(1<<20), bufconn.Listen(1<<16)
	r := run(w.base, func(ctx context.Context) error { return h.Run(ctx, lis, scrape) })
	w.server, w.scrape = r, scrape
	w.door.leadTo(lis)
	w.t.Cleanup(r.end)
	return h
}

// stopServer ends the server in order, as SIGTERM does.
func (w *world) stopServer() {
	w.server.end()
	w.door.leadTo(nil)
}

// killServer ends the server as SIGKILL does: what is on its disk at this moment
// is all that the next one finds, and its connections break.
func (w *world) killServer() {
	w.t.Helper()
	synctest.Wait()
	left := w.t.TempDir()
	w.must(os.CopyFS(left, os.DirFS(w.dir)))
	w.must(os.RemoveAll(filepath.Join(left, "journal.db-shm"))) // memory, not disk
	w.dir = left
	w.door.leadTo(nil)
	w.server.stop() // what it still does, it does to what nobody reads
}
