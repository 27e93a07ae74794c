package helper

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var (
	testSecret  = bytes.Repeat([]byte{7}, SecretSize)
	otherSecret = bytes.Repeat([]byte{8}, SecretSize)
)

// both runs both sides of a proof and returns what they say.
func both(ctx context.Context, near, far net.Conn, service, helper []byte) (serviceErr, helperErr error) {
	var all sync.WaitGroup
	all.Go(func() { serviceErr = prove(ctx, near, service, proveService) })
	all.Go(func() { helperErr = prove(ctx, far, helper, proveHelper) })
	all.Wait()
	return serviceErr, helperErr
}

func TestBothEndsOfOneSecretAcceptEachOther(t *testing.T) {
	near, far := net.Pipe()
	defer func() { _ = near.Close() }()
	if s, h := both(t.Context(), near, far, testSecret, testSecret); s != nil || h != nil {
		t.Fatalf("the service says %v, the helper %v", s, h)
	}
	go func() { _, _ = near.Write([]byte("next")) }()
	next := make([]byte, 4)
	if _, err := io.ReadFull(far, next); err != nil || string(next) != "next" {
		t.Errorf("after the proofs came %q, %v", next, err)
	}
}

func TestASecretThatDiffersIsRefusedAtBothEnds(t *testing.T) {
	near, far := net.Pipe()
	s, h := both(t.Context(), near, far, testSecret, otherSecret)
	if !errors.Is(s, ErrSecret) || !errors.Is(h, ErrSecret) {
		t.Errorf("the service says %v, the helper %v; want that the secrets differ", s, h)
	}
	for name, conn := range map[string]net.Conn{"service": near, "helper": far} {
		if _, err := conn.Write([]byte{1}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the end of the %s is still open: %v", name, err)
		}
	}
}

func TestASecretOfAnotherLengthIsNone(t *testing.T) {
	for _, secret := range [][]byte{nil, testSecret[1:], append(testSecret, 1)} {
		near, far := net.Pipe()
		if s, h := both(t.Context(), near, far, secret, secret); s == nil || h == nil {
			t.Errorf("%d bytes are taken: %v, %v", len(secret), s, h)
		}
	}
}

func TestAnEndThatStaysSilentIsGivenUp(t *testing.T) {
	for name, side := range map[string]func(io.ReadWriter, []byte) error{"service": proveService, "helper": proveHelper} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			defer func() { _ = far.Close() }()
			began := time.Now()
			err := prove(t.Context(), near, testSecret, side)
			if took := time.Since(began); !errors.Is(err, errProveTime) || took != proveTime {
				t.Errorf("%s: %v after %v", name, err, took)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(io.ErrNoProgress)
			near, far2 := net.Pipe()
			defer func() { _ = far2.Close() }()
			if err := prove(ctx, near, testSecret, side); !errors.Is(err, io.ErrNoProgress) {
				t.Errorf("%s: %v; want the cause", name, err)
			}
		})
	}
}

// tap is a connection that keeps what is read, and may change what is written.
type tap struct {
	net.Conn
	mu      sync.Mutex
	seen    bytes.Buffer
	written int
	change  func(at int, b byte) byte // the at-th byte that is written; nil: none
}

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Write(p[:n])
	return n, err
}

func (c *tap) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.seen.Write(p)
	p = bytes.Clone(p)
	for i := range p {
		if c.change != nil {
			p[i] = c.change(c.written, p[i])
		}
		c.written++
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func TestNeitherTheSecretNorItsProofIsEverTheSame(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		near, far := net.Pipe()
		c := &tap{Conn: near}
		if s, h := both(t.Context(), c, far, testSecret, testSecret); s != nil || h != nil {
			t.Fatal(s, h)
		}
		_ = near.Close()
		said := c.seen.Bytes()
		if bytes.Contains(said, testSecret[:8]) {
			t.Error("a part of the secret crosses")
		}
		for at := 0; at+32 <= len(said); at++ {
			if seen[string(said[at:at+32])] {
				t.Fatalf("32 bytes at %d of %d were said before", at, len(said))
			}
		}
		for at := 0; at+32 <= len(said); at++ {
			seen[string(said[at:at+32])] = true
		}
	}
}

// Whoever changes a byte of the exchange keeps the two ends apart.
func TestAChangedByteIsNoProof(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, 2*nonceSize+2*32+1).Draw(t, "at")
		flip := byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		near, far := net.Pipe()
		defer func() { _ = near.Close(); _ = far.Close() }()
		// What the service says is nonce, verdict, proof; the helper, nonce, proof, verdict.
		ofService := nonceSize + 1 + 32
		c, d := &tap{Conn: near}, &tap{Conn: far}
		c.change = func(i int, b byte) byte {
			if i == at {
				return b ^ flip
			}
			return b
		}
		d.change = func(i int, b byte) byte {
			if i == at-ofService {
				return b ^ flip
			}
			return b
		}
		ctx, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if s, h := both(ctx, c, d, testSecret, testSecret); s == nil && h == nil {
			t.Errorf("a flip of %#x at byte %d is not noticed", flip, at)
		}
	})
}

// A proof is of one side and of one exchange: neither a mirror nor a recording passes.
func TestAProofThatWasHeardIsNoUse(t *testing.T) {
	near, far := net.Pipe()
	c := &tap{Conn: far}
	if s, h := both(t.Context(), near, c, testSecret, testSecret); s != nil || h != nil {
		t.Fatal(s, h)
	}
	_ = near.Close()
	heard := c.seen.Bytes() // nonce of the service, nonce and proof of the helper, …
	for name, pretend := range map[string]func(nonce []byte) []byte{
		"a recording": func([]byte) []byte { return heard[nonceSize : 3*nonceSize] },
		"a mirror": func(nonce []byte) []byte { // the service's own proof, had it been asked with its nonce
			var n nonces
			copy(n.service[:], nonce)
			copy(n.helper[:], nonce)
			return append(bytes.Clone(nonce), n.proof(testSecret, proofLabelService)...)
		},
		"noise": func([]byte) []byte { return noise(2 * nonceSize) },
	} {
		near, far := net.Pipe()
		go func() {
			nonce := make([]byte, nonceSize)
			_, _ = io.ReadFull(far, nonce)
			_, _ = far.Write(pretend(nonce))
			_, _ = io.Copy(io.Discard, far)
		}()
		if err := prove(t.Context(), near, testSecret, proveService); !errors.Is(err, ErrSecret) || !strings.Contains(err.Error(), "proof is wrong") {
			t.Errorf("%s: %v", name, err)
		}
		_ = far.Close()
	}
	near, far = net.Pipe()
	defer func() { _ = near.Close() }()
	go func() { // a service that does not know the secret, and believes any helper
		_, _ = near.Write(noise(nonceSize))
		_, _ = io.ReadFull(near, make([]byte, nonceSize+32))
		_, _ = near.Write(append([]byte{acceptance}, noise(32)...))
		_, _ = io.Copy(io.Discard, near)
	}()
	if err := prove(t.Context(), far, testSecret, proveHelper); !errors.Is(err, ErrSecret) {
		t.Errorf("a service that does not know the secret: %v", err)
	}
}

func noise(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.Read(out)
	return out
}
