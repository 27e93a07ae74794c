package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"syscall"

	"github.com/reprise-rpa/reprise/internal/buildinfo"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/internal/logs"
	"github.com/reprise-rpa/reprise/server/host"
	"github.com/reprise-rpa/reprise/server/journal"
	"github.com/reprise-rpa/reprise/server/settings"
)

func serve(ctx context.Context, s settings.Settings, warnings []string, out io.Writer) error {
	log, err := logs.New(out, s.LogLevel, s.LogFormat)
	if err != nil {
		return err
	}
	slog.SetDefault(log)
	for _, w := range warnings {
		log.Warn(w)
	}
	// The addresses before the folder: a port that is taken leaves no data folder behind.
	lis, metricsOn, err := prepare(s)
	if err != nil {
		return err
	}
	if metricsOn != nil {
		log.Info("serving metrics", logkeys.Path, "http://"+metricsOn.Addr().String()+"/metrics")
	}
	started := false
	err = host.Serve(ctx, host.Config{Settings: s, Version: buildinfo.Version(), Log: log}, lis, metricsOn, func(*host.Host) {
		started = true
		log.Info("serving", "address", lis.Addr().String(), "data", s.DataDir, "version", buildinfo.Version())
	})
	if err != nil && !started {
		return fmt.Errorf("data-dir: %q: %w", s.DataDir, err) // what a start reads is in there
	}
	if err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// prepare looks at what the settings name, opens the addresses of the server and,
// when asked for, of its metrics, and tells all that is wrong with them at once.
func prepare(s settings.Settings) (lis, metricsOn net.Listener, err error) {
	errs := []error{certified(s)}
	open := func(setting, address string) net.Listener {
		l, err := net.Listen("tcp", address)
		errs = append(errs, notOpened(setting, address, err))
		return l
	}
	lis = open("listen", s.Listen)
	if s.MetricsListen != "" {
		metricsOn = open("metrics-listen", s.MetricsListen)
	}
	if errors.Join(errs...) == nil {
		return lis, metricsOn, nil
	}
	for _, l := range []net.Listener{lis, metricsOn} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	if lis == nil { // the likely reason comes first: this very server runs already
		errs = append([]error{journal.Locked(s.DataDir)}, errs...)
	}
	return nil, nil, errors.Join(errs...)
}

// notOpened says which setting gave an address that cannot be listened on.
func notOpened(setting, address string, err error) error {
	if err == nil {
		return nil
	}
	why := err
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		why = op.Err // what is around it says the address again
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %q: %w; end the program that has it, or name another address with --%[1]s", setting, address, why)
	}
	return fmt.Errorf("%s: %q: %w", setting, address, why)
}

// certified says whether the certificate and its key can be read and belong
// together.
func certified(s settings.Settings) error {
	if s.TLSCertFile == "" {
		return nil
	}
	cert, noCert := os.ReadFile(s.TLSCertFile)
	if noCert != nil {
		noCert = fmt.Errorf("tls-cert-file: %w", noCert)
	}
	key, noKey := os.ReadFile(s.TLSKeyFile)
	if noKey != nil {
		noKey = fmt.Errorf("tls-key-file: %w", noKey)
	}
	if err := errors.Join(noCert, noKey); err != nil {
		return err
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return fmt.Errorf("tls-cert-file: %s, tls-key-file: %s: %w", s.TLSCertFile, s.TLSKeyFile, err)
	}
	return nil
}
