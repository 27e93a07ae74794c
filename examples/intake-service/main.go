// Command intake-service is an example of a service on top of reprise, to copy
// from: the front desk of a hospital fills in a form over HTTP, and a desktop enters
// it into the hospital's program. It shows what such a service owes its users: one
// replay per form whatever is sent twice, a word when a person is needed and why, and
// nothing lost when either side is restarted.
//
//	intake-service --server 127.0.0.1:7443 --token-file operator.token --machine desk-1
//
// The files: form.go makes a workflow of a form, intake.go has the commands,
// follow.go the status, call.go deadlines, retries and reasons, http.go the front
// desk. The tests run against the real server with scripted agents, by
// server/servertest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "intake-service:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("intake-service", flag.ContinueOnError)
	server := flags.String("server", "127.0.0.1:7443", "address of reprised")
	tokenFile := flags.String("token-file", "", "file with the operator's token")
	caFile := flags.String("ca-file", "", "PEM file to check the server's certificate with; empty: plain text, on loopback only")
	machine := flags.String("machine", "desk-1", "machine that the intakes are entered on")
	listen := flags.String("listen", "127.0.0.1:8080", "address to serve the front desk on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	conn, err := dial(*server, *tokenFile, *caFile)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nothing is left to send
	intakes := New(ctx, conn, *machine, slog.Default())
	defer intakes.Close()
	if err := intakes.Recover(ctx); err != nil {
		return err
	}
	front := &http.Server{Addr: *listen, Handler: intakes.Handler(), ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = front.Close() })()
	if err := front.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// dial prepares a connection; the first call makes it, and it is made again
// whenever it breaks. One connection serves all calls of a process.
func dial(server, tokenFile, caFile string) (*grpc.ClientConn, error) {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, fmt.Errorf("the operator's token: %w", err)
	}
	transport := insecure.NewCredentials()
	if caFile != "" {
		if transport, err = credentials.NewClientTLSFromFile(caFile, ""); err != nil {
			return nil, fmt.Errorf("the server's certificate: %w", err)
		}
	}
	return grpc.NewClient(server,
		grpc.WithTransportCredentials(transport),
		grpc.WithPerRPCCredentials(bearer{token: strings.TrimSpace(string(token)), secure: caFile != ""}),
		// A dead path is noticed within 15 s; the server allows no shorter time than 5 s.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
	)
}

// bearer is a token that is shown with each call.
type bearer struct {
	token  string
	secure bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials: over a network
// the token never travels in plain text.
func (b bearer) RequireTransportSecurity() bool { return b.secure }
