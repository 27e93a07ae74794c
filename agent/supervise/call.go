package supervise

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// pipePrefix begins the name of each pipe; 128 random bits in hexadecimal follow.
const (
	pipePrefix = `\\.\pipe\reprise-helper-`
	pipeRandom = 16
)

// invitation is what a helper reads on its standard input: no other process sees that,
// as it would a command line or an environment.
type invitation struct {
	Pipe   string // name of the pipe to call
	Server uint32 // process that holds it
	Owner  string // SID of the user who owns it
	Secret []byte // what service and helper share
}

// maxInvitation bounds an invitation, in bytes.
const maxInvitation = 4 << 10

// ErrNotInvited says that a helper was not started by the service.
var ErrNotInvited = errors.New("a helper is started by the service, never by hand")

func (i invitation) encode() ([]byte, error) { return json.Marshal(i) }

// readInvitation reads an invitation up to the end of r.
func readInvitation(r io.Reader) (i invitation, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInvitation+1))
	if err != nil {
		return i, fmt.Errorf("%w: standard input: %w", ErrNotInvited, err)
	}
	if len(text) > maxInvitation {
		return i, fmt.Errorf("%w: too much on standard input", ErrNotInvited)
	}
	// What is wrong with it is not told: it may hold the secret.
	if json.Unmarshal(text, &i) != nil {
		return i, fmt.Errorf("%w: no invitation on standard input", ErrNotInvited)
	}
	random, named := strings.CutPrefix(i.Pipe, pipePrefix)
	bits, err := hex.DecodeString(random)
	if !named || err != nil || len(bits) != pipeRandom || i.Server == 0 || i.Owner == "" || len(i.Secret) != SecretSize {
		return i, fmt.Errorf("%w: the invitation on standard input is not complete", ErrNotInvited)
	}
	return i, nil
}

// Dial reads on stdin whom this helper is to call, and calls. It returns the connection
// to the service that started it, and the secret that both share.
func Dial(ctx context.Context, stdin io.Reader) (net.Conn, []byte, error) {
	type read struct {
		invitation
		err error
	}
	reads := make(chan read, 1)
	go func() { // at the latest it ends with its standard input
		i, err := readInvitation(stdin)
		reads <- read{i, err}
	}()
	select {
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	case r := <-reads:
		if r.err != nil {
			return nil, nil, r.err
		}
		conn, err := dial(ctx, r.invitation)
		if err != nil {
			return nil, nil, fmt.Errorf("call the service: %w", err)
		}
		return conn, r.Secret, nil
	}
}
