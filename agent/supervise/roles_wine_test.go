//go:build windows && wine

package supervise

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
)

// This program is its own helper and its own service: the word after it says which.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		os.Exit(m.Run())
	}
	roles := map[string]func() error{
		"echo": echo, "intrude": intrude, "greet": greet, "deaf": deaf, "mute": mute, "crash": crash, "call": callFor, "serve": serve,
	}
	if err := roles[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

// call is what each helper does first.
func call() (net.Conn, []byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return Dial(ctx, os.Stdin)
}

// intrude calls in another's place; it fails if it is not served.
func intrude() error {
	conn, _, err := call()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err = conn.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		return errors.New("thrown out")
	}
	return err
}

// echo says back what it hears, as long as it hears anything.
func echo() error {
	conn, _, err := call()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = io.Copy(conn, conn)
	return err
}

// greet says its secret and its process, which no product does, and then listens.
func greet() error {
	conn, secret, err := call()
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(conn, "%x %d %s\n", secret, os.Getpid(), strings.Join(os.Args, " ")); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, conn)
	return err
}

// deaf says its process, and does not hear the end.
func deaf() error {
	conn, _, err := call()
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintln(conn, os.Getpid()); err != nil {
		return err
	}
	<-time.After(time.Hour)
	return conn.Close()
}

// mute never calls.
func mute() error {
	<-time.After(time.Hour)
	return nil
}

func crash() error {
	_, _, _ = call()
	panic("out of luck")
}

// callFor passes its invitation on to a process of its own, which is not the helper.
func callFor() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	other := exec.Command(os.Args[0], "intrude")
	other.Stdin, other.Stderr = bytes.NewReader(text), os.Stderr
	if err = other.Run(); err == nil {
		return errors.New("another process than the helper was served")
	}
	conn, _, err := Dial(context.Background(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	if _, err = io.WriteString(conn, "it is me"); err != nil {
		return err
	}
	<-time.After(time.Hour)
	return conn.Close()
}

// serve is a service: it keeps a helper and says its process. The helper does not end
// with its connection, so that only the job ends it.
func serve() error {
	m, err := NewMachine([]string{os.Args[0], "deaf"})
	if err != nil {
		return err
	}
	s, err := New(Config{Machine: m, Desk: sayingDesk{}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	return s.Run(context.Background())
}

// sayingDesk says each helper's process on standard output.
type sayingDesk struct{}

func (sayingDesk) Absent(desktop.State) {}

func (sayingDesk) Connect(_ context.Context, conn net.Conn, _ []byte) error {
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	fmt.Print(line)
	go func() { _, _ = io.Copy(io.Discard, r) }()
	return nil
}
