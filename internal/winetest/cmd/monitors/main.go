// Command monitors gives the X server Xvnc several monitors. It is an aid to tests.
//
//	monitors -rfb SOCKET [-primary N] 1280x800+0+0 1024x768+1280+0
//
// SOCKET is where Xvnc listens (-rfbunixpath). The primary monitor, counted from 1, is
// set on the display that DISPLAY names; monitors left of it and above it then have
// negative places in Windows.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"net"
	"os"
	"time"

	"github.com/reprise-rpa/reprise/internal/winetest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "monitors:", err)
		os.Exit(1)
	}
}

func run() error {
	socket := flag.String("rfb", "", "Unix `socket` of Xvnc")
	primary := flag.Int("primary", 1, "which monitor is the primary one, from 1")
	flag.Parse()
	var monitors []image.Rectangle
	for _, arg := range flag.Args() {
		m, err := winetest.ParseMonitor(arg)
		if err != nil {
			return err
		}
		monitors = append(monitors, m)
	}
	if *primary < 1 || *primary > len(monitors) {
		return fmt.Errorf("monitor %d of %d can't be the primary one", *primary, len(monitors))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", *socket)
	if err != nil {
		return fmt.Errorf("reach Xvnc: %w", err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err = winetest.SetMonitors(conn, monitors); err != nil {
		return err
	}
	return winetest.SetPrimary(os.Getenv("DISPLAY"), monitors[*primary-1])
}
