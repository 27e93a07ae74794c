//go:build faultpoint

package faultpoint

import (
	"bufio"
	"encoding/json"
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
