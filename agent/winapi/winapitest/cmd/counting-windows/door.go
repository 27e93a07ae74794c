package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"net"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// desk is the windows and the desktop that they are on.
type desk interface {
	// Down names the keys and buttons that Windows takes for down, sorted.
	Down() []string
	// Move puts the upper left corner of the window with a widget anywhere, also off
	// the monitors.
	Move(widget string, to image.Point) error
}

// serve answers at the door until it is closed, and returns why it was.
func serve(door net.Listener, l *ledger, d desk) error {
	for {
		conn, err := door.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go converse(conn, l, d)
	}
}

// converse answers one caller, line by line, until it goes.
func converse(conn net.Conn, l *ledger, d desk) {
	defer func() { _ = conn.Close() }()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		line, err := json.Marshal(reply(lines.Bytes(), l, d))
		if err != nil {
			return
		}
		if _, err := conn.Write(append(line, '\n')); err != nil {
			return
		}
	}
}

func reply(line []byte, l *ledger, d desk) wire.Reply {
	result, err := answer(line, l, d)
	raw, fault := json.Marshal(result)
	if err = errors.Join(err, fault); err != nil {
		return wire.Reply{Error: &wire.Error{Code: wire.ErrBadRequest.Code, Message: err.Error()}}
	}
	return wire.Reply{Result: raw}
}

// answer does what a request asks for.
func answer(line []byte, l *ledger, d desk) (any, error) {
	var r wire.Request
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("the line is no request: %w", err)
	}
	switch r.Op {
	case "ledger":
		return l.list(), nil
	case "down":
		return d.Down(), nil
	case "swallow":
		var on bool
		if err := json.Unmarshal(r.Args, &on); err != nil {
			return nil, err
		}
		l.swallow(on)
		return nil, nil
	case "move_window":
		var p wire.Placement
		if err := json.Unmarshal(r.Args, &p); err != nil {
			return nil, err
		}
		return nil, d.Move(p.Window, p.To)
	}
	return nil, fmt.Errorf("this door has no %q", r.Op)
}
