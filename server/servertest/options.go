package servertest

import (
	"log/slog"

	"github.com/reprise-rpa/reprise/server/settings"
)

// Options sets up a server. The zero value serves.
type Options struct {
	// Dir is the server's folder; it outlives the server. Empty: a temporary one.
	Dir string
	// Settings changes the server's settings; nil changes none. It is given the
	// defaults of reprised with one exception: the drain timeout is 0, since a test
	// should not wait for what is in flight when its server ends.
	Settings func(*settings.Settings)
	// Listen is a loopback address, such as 127.0.0.1:0, for services that are not in
	// this process; empty: none. The server keeps the port until it
	// is closed; while it is stopped or has crashed, connections there end at once.
	Listen string
	// Log takes the server's log; nil: [New] discards it, [Start] writes it to the
	// test's own log.
	Log *slog.Logger
}

func (o Options) settings(dir string) settings.Settings {
	s := settings.Default()
	s.DrainTimeout = 0
	if o.Settings != nil {
		o.Settings(&s)
	}
	s.DataDir = dir
	return s
}
