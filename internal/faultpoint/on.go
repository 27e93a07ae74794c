//go:build faultpoint

package faultpoint

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
)

// Enabled says whether this build has fault points.
const Enabled = true

// Hit stops at the point name, if the test asked for it, until the test lets
// the process go on. subject says what the process is working on, such as an
// action id. A test that is gone lets everything pass.
func Hit(name, subject string) {
	address := os.Getenv(Address)
	if address == "" || !slices.Contains(strings.Split(os.Getenv(Names), ","), name) {
		return
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	if err := json.NewEncoder(conn).Encode(Arrival{Name: name, Subject: subject, PID: os.Getpid()}); err != nil {
		return
	}
	_, _ = bufio.NewReader(conn).ReadString('\n')
}

// Handed is what a process gives to one that does not inherit its environment, for
// Take. Empty: the test asked for nothing.
func Handed() string {
	if os.Getenv(Address) == "" {
		return ""
	}
	return os.Getenv(Address) + ";" + os.Getenv(Names)
}

// Take makes this process stop where the one that handed it over does.
func Take(handed string) error {
	address, names, ok := strings.Cut(handed, ";")
	if !ok {
		return fmt.Errorf("fault points %q: an address and names, parted by a semicolon, are needed", handed)
	}
	return errors.Join(os.Setenv(Address, address), os.Setenv(Names, names))
}
