package systems

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-rpa/reprise/internal/bench/child"
	"github.com/reprise-rpa/reprise/internal/bench/rawstream"
	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/logs"
	"github.com/reprise-rpa/reprise/server/host"
	"github.com/reprise-rpa/reprise/server/settings"
)

// ServeFlag makes a program that finds it among its arguments, followed by one
// more, call Serve with that one.
const ServeFlag = "-serve"

// What to serve; the second is followed by the data folder.
const (
	kindRaw     = "raw"
	kindReprise = "reprise:"
)

// Serve is a child's life: it serves what the parent has asked for until in, which
// the parent writes to, ends.
func Serve(ctx context.Context, what string, in io.Reader, out io.Writer) error {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	serving, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- serve(ctx, what, lis, serving) }()
	select {
	case err := <-ended:
		return err
	case <-serving:
	}
	attended := make(chan error, 1)
	go func() { attended <- child.Attend(ctx, in, out, lis.Addr().String()) }()
	select {
	case err = <-attended:
		stop()
		return errors.Join(err, <-ended)
	case err = <-ended: // on its own: the parent learns of it by the end of the output
		return errors.Join(err, errors.New("the server ended before its parent"))
	}
}

func serve(ctx context.Context, what string, lis net.Listener, serving chan<- struct{}) error {
	switch dir, ours := strings.CutPrefix(what, kindReprise); {
	case ours:
		return serveReprise(ctx, dir, lis, serving)
	case what == kindRaw:
		close(serving)
		return rawstream.Serve(ctx, lis)
	}
	return errors.Join(fmt.Errorf("there is no %q to serve", what), lis.Close())
}

// serveReprise serves as reprised does, with its defaults.
func serveReprise(ctx context.Context, dir string, lis net.Listener, serving chan<- struct{}) (err error) {
	file, err := os.OpenFile(filepath.Join(dir, "server.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s := settings.Default()
	s.DataDir = dir
	log, err := logs.New(file, s.LogLevel, s.LogFormat)
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	return host.Serve(ctx, host.Config{Settings: s, Version: buildinfo.Version(), Log: log}, lis, nil, func(*host.Host) { close(serving) })
}
