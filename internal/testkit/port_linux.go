package testkit

import (
	"errors"
	"fmt"
	"syscall"
)

// ReservePort takes a free loopback port for programs that listen there later, or
// again and again. Until release the system gives it to nobody who asks for any
// port, be it to listen or to connect.
//
// A socket is bound to it and does not listen. Those that set SO_REUSEADDR, as Go's
// listeners do, may listen there all the same (socket(7)).
func ReservePort() (address string, release func() error, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("reserve a port: %w", err)
	}
	port, err := bind(fd)
	if err != nil {
		return "", nil, fmt.Errorf("reserve a port: %w", errors.Join(err, syscall.Close(fd)))
	}
	return fmt.Sprintf("127.0.0.1:%d", port), func() error { return syscall.Close(fd) }, nil
}

// bind binds a socket to a port that the system chooses.
func bind(fd int) (int, error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	at, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("a socket of IPv4 is bound to %T", name)
	}
	return at.Port, nil
}
