package faultpoint

import (
	"encoding/json"
	"net"
	"sync"
)

// Arrival says that a process stands at a point.
type Arrival struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	PID     int    `json:"pid"`
	conn    net.Conn
}

// GoOn lets the process continue. Closing without it does the same.
func (a Arrival) GoOn() { _ = a.conn.Close() }

// Listener receives arrivals; the test's side.
type Listener struct {
	listener net.Listener
	arrivals chan Arrival
}

// Listen listens on a free loopback port.
func Listen() (*Listener, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Listener{listener: ln, arrivals: make(chan Arrival, 64)}
	go l.accept()
	return l, nil
}

// Address is what goes into the environment of the processes.
func (l *Listener) Address() string { return l.listener.Addr().String() }

// Arrivals delivers who stands at a point: one that came because another was let go
// on comes after it. It is closed after Close.
func (l *Listener) Arrivals() <-chan Arrival { return l.arrivals }

// Close ends listening.
func (l *Listener) Close() error { return l.listener.Close() }

// accept takes each arrival by itself: a process may be stopped in the middle of
// saying where it is.
func (l *Listener) accept() {
	var saying sync.WaitGroup
	defer func() { saying.Wait(); close(l.arrivals) }()
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		saying.Go(func() {
			var a Arrival
			if json.NewDecoder(conn).Decode(&a) != nil {
				_ = conn.Close()
				return
			}
			a.conn = conn
			l.arrivals <- a
		})
	}
}
