package helper

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Each end proves that it knows the secret, and sends nothing from which it could be
// learned: the three passes of mutual authentication of ISO/IEC 9798-4, and a verdict,
// so that both ends know why the connection ends.
//
//	service → helper   nonce of the service, 32 bytes
//	helper → service   nonce of the helper, 32 bytes; proof of the helper, 32 bytes
//	service → helper   verdict, 1 byte; if accepted: proof of the service, 32 bytes
//	helper → service   verdict, 1 byte
//
// A proof is the HMAC-SHA256, with the secret as its key, of the name of the side that
// proves (see the labels) and both nonces, the service's first. The labels keep a proof
// from being sent back as the other side's, the nonces from being used again.
const (
	proofLabelHelper  = "reprise helper v1: the helper proves\x00"
	proofLabelService = "reprise helper v1: the service proves\x00"
	nonceSize         = 32

	refusal    byte = 0
	acceptance byte = 1
)

// proveTime is how long both proofs may take.
const proveTime = 10 * time.Second

var errProveTime = errors.New("the other end took too long")

type nonces struct{ service, helper [nonceSize]byte }

func (n *nonces) proof(secret []byte, label string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(label))
	mac.Write(n.service[:])
	mac.Write(n.helper[:])
	return mac.Sum(nil)
}

func (n *nonces) proven(secret []byte, label string, proof []byte) bool {
	return hmac.Equal(n.proof(secret, label), proof)
}

// prove runs one side, proveHelper or proveService, within proveTime. If it fails, conn
// is closed and the error says why.
func prove(ctx context.Context, conn net.Conn, secret []byte, side func(io.ReadWriter, []byte) error) error {
	err := fmt.Errorf("the secret has %d bytes, not %d", len(secret), SecretSize)
	if len(secret) == SecretSize {
		err = proveInTime(ctx, conn, secret, side)
	}
	if err != nil {
		_ = conn.Close() // err says why
		return fmt.Errorf("prove the secret: %w", err)
	}
	return nil
}

// proveInTime ends the exchange by closing conn: a deadline would outlive it.
func proveInTime(ctx context.Context, conn net.Conn, secret []byte, side func(io.ReadWriter, []byte) error) error {
	ctx, done := context.WithTimeoutCause(ctx, proveTime, errProveTime)
	defer done()
	inTime := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err := side(conn, secret)
	if !inTime() {
		return context.Cause(ctx)
	}
	return err
}

func proveService(conn io.ReadWriter, secret []byte) error {
	var n nonces
	_, _ = rand.Read(n.service[:]) // it never fails
	if _, err := conn.Write(n.service[:]); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	var answer [nonceSize + sha256.Size]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return fmt.Errorf("wait for the helper's proof: %w", err)
	}
	copy(n.helper[:], answer[:nonceSize])
	if !n.proven(secret, proofLabelHelper, answer[nonceSize:]) {
		_, _ = conn.Write([]byte{refusal}) // only for the other end's log
		return fmt.Errorf("%w: the helper's proof is wrong", ErrSecret)
	}
	if _, err := conn.Write(append([]byte{acceptance}, n.proof(secret, proofLabelService)...)); err != nil {
		return fmt.Errorf("prove: %w", err)
	}
	return heard(conn)
}

func proveHelper(conn io.ReadWriter, secret []byte) error {
	var n nonces
	if _, err := io.ReadFull(conn, n.service[:]); err != nil {
		return fmt.Errorf("wait for the service: %w", err)
	}
	_, _ = rand.Read(n.helper[:]) // it never fails
	if _, err := conn.Write(append(n.helper[:], n.proof(secret, proofLabelHelper)...)); err != nil {
		return fmt.Errorf("prove: %w", err)
	}
	if err := heard(conn); err != nil {
		return err
	}
	var proof [sha256.Size]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return fmt.Errorf("wait for the service's proof: %w", err)
	}
	if !n.proven(secret, proofLabelService, proof[:]) {
		_, _ = conn.Write([]byte{refusal}) // only for the other end's log
		return fmt.Errorf("%w: the service's proof is wrong", ErrSecret)
	}
	if _, err := conn.Write([]byte{acceptance}); err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	return nil
}

// heard waits for the other end's verdict on the proof of this one.
func heard(conn io.Reader) error {
	var verdict [1]byte
	if _, err := io.ReadFull(conn, verdict[:]); err != nil {
		return fmt.Errorf("wait for the verdict: %w", err)
	}
	if verdict[0] != acceptance {
		return fmt.Errorf("%w: the other end refused the proof", ErrSecret)
	}
	return nil
}
