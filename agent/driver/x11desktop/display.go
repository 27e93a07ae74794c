package x11desktop

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// display is where an X server listens.
type display struct {
	network, address string
	host             string // empty for this machine
	number           string
	screen           int
}

// CheckDisplay says why a name is none of a display, such as ":0"; nil: it is one.
func CheckDisplay(name string) error {
	_, err := parseDisplay(name)
	return err
}

// parseDisplay reads "[host]:number[.screen]".
func parseDisplay(name string) (display, error) {
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 {
		return display{}, fmt.Errorf("%q is no display, such as \":0\"", name)
	}
	d := display{host: name[:colon]}
	if d.host == "unix" {
		d.host = ""
	}
	number, screen, hasScreen := strings.Cut(name[colon+1:], ".")
	n, err := strconv.ParseUint(number, 10, 15)
	if err == nil && hasScreen {
		d.screen, err = strconv.Atoi(screen)
	}
	if err != nil || d.screen < 0 {
		return display{}, fmt.Errorf("%q is no display, such as \":0\"", name)
	}
	d.number = number
	if d.host == "" {
		d.network, d.address = "unix", "/tmp/.X11-unix/X"+number
	} else {
		d.network, d.address = "tcp", fmt.Sprintf("%s:%d", d.host, 6000+n)
	}
	return d, nil
}

// cookieProtocol is the one way of authentication that X servers use in practice.
const cookieProtocol = "MIT-MAGIC-COOKIE-1"

// The families of addresses in an authority file that matter here.
const (
	familyLocal = 256
	familyWild  = 65535
)

// readCookie returns the display's cookie out of an authority file, nil if it
// holds none.
func readCookie(r io.Reader, host, number string) ([]byte, error) {
	for {
		var family uint16
		if err := binary.Read(r, binary.BigEndian, &family); errors.Is(err, io.EOF) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		var fields [4][]byte // address, display number, protocol, data
		for i := range fields {
			var size uint16
			if err := binary.Read(r, binary.BigEndian, &size); err != nil {
				return nil, err
			}
			fields[i] = make([]byte, size)
			if _, err := io.ReadFull(r, fields[i]); err != nil {
				return nil, err
			}
		}
		place := family == familyWild || family == familyLocal && string(fields[0]) == host
		shown := len(fields[1]) == 0 || string(fields[1]) == number
		if place && shown && string(fields[2]) == cookieProtocol {
			return fields[3], nil
		}
	}
}

// cookie looks where X clients look. No authority file is no fault: a server
// may let local clients in without.
func (d display) cookie() ([]byte, error) {
	path := os.Getenv("XAUTHORITY")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, nil // without a home there is no authority file
		}
		path = filepath.Join(home, ".Xauthority")
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	host := d.host
	if host == "" || host == "localhost" {
		if host, err = os.Hostname(); err != nil {
			return nil, err
		}
	}
	cookie, err := readCookie(f, host, d.number)
	if err != nil {
		return nil, fmt.Errorf("authority file %s: %w", path, err)
	}
	return cookie, nil
}

// setupRequest is the first message of a connection: protocol 11.0, least
// significant byte first, the cookie.
func setupRequest(cookie []byte) []byte {
	var protocol string
	if cookie != nil {
		protocol = cookieProtocol
	}
	b := []byte{'l', 0, 11, 0, 0, 0}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(protocol)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(cookie)))
	b = append(b, 0, 0)
	b = append(b, padded(protocol)...)
	return append(b, padded(string(cookie))...)
}

func padded(s string) string {
	return s + "\x00\x00\x00"[:(4-len(s)%4)%4]
}
