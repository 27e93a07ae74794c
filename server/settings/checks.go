package settings

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/reprise-rpa/reprise/internal/setting"
)

// declareChecks adds the conditions between settings, each with its reason.
func declareChecks(set *setting.Set, s *Settings) {
	// A delivery that was never received must be told from one that takes long.
	less(set, "receipt-timeout", &s.ReceiptTimeout, "orphan-timeout", &s.OrphanTimeout)
	// A net with wider meshes than what it is to catch is none.
	atMost(set, "scan-interval", &s.ScanInterval, "orphan-timeout", &s.OrphanTimeout)
	// Else the server ends healthy connections with "too many pings".
	atMost(set, "keepalive-min-time", &s.KeepaliveMinTime, "keepalive-time", &s.KeepaliveTime)
	atMost(set, "keepalive-min-time", &s.KeepaliveMinTime, "ping-interval", &s.PingInterval)
	// An action that looks or waits for longer than it may run always times out.
	less(set, "resolve-timeout", &s.ResolveTimeout, "action-timeout", &s.ActionTimeout)
	less(set, "effect-timeout", &s.EffectTimeout, "action-timeout", &s.ActionTimeout)
	// It is one of the server-side actions.
	atMost(set, "paste-timeout", &s.PasteTimeout, "server-action-timeout", &s.ServerActionTimeout)
	// A dead stream must be found before its agent counts as away, and a replay
	// must not pause for one that is only slow to answer.
	less(set, "ping-timeout", &s.PingTimeout, "agent-offline-grace", &s.OfflineGrace)

	set.Check(func() error {
		// The first delivery and each resend are deliveries.
		if s.MaxResends >= s.MaxDeliveries {
			return errors.New("max-resends must be less than max-deliveries")
		}
		return nil
	}, "max-resends", "max-deliveries")
	set.Check(func() error {
		if (s.TLSCertFile == "") != (s.TLSKeyFile == "") {
			return errors.New("tls-cert-file and tls-key-file must be given together")
		}
		return nil
	}, "tls-cert-file", "tls-key-file")
	set.Check(func() error { return s.checkListen() }, "listen", "tls-cert-file")
	set.Check(func() error {
		if s.MetricsListen == "" {
			return nil
		}
		_, err := hostOf("metrics-listen", s.MetricsListen)
		return err
	}, "metrics-listen")
	set.Check(func() error {
		if s.DataDir == "" {
			return errors.New("data-dir must not be empty")
		}
		return nil
	}, "data-dir")
}

// checkListen keeps plain text on this machine.
func (s *Settings) checkListen() error {
	host, err := hostOf("listen", s.Listen)
	if err != nil {
		return err
	}
	if s.TLSCertFile == "" && !loopback(host) {
		return errors.New("listen must be a loopback address, such as 127.0.0.1:7443, unless tls-cert-file is given")
	}
	return nil
}

func hostOf(name, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return "", fmt.Errorf("%s must be host:port", name)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return "", fmt.Errorf("%s must end with a port", name)
	}
	return host, nil
}

// loopback says whether host is this machine alone, without asking a resolver:
// what a name means may change after the check.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func less(set *setting.Set, nameA string, a *time.Duration, nameB string, b *time.Duration) {
	set.Check(func() error {
		if *a >= *b {
			return fmt.Errorf("%s must be less than %s", nameA, nameB)
		}
		return nil
	}, nameA, nameB)
}

func atMost(set *setting.Set, nameA string, a *time.Duration, nameB string, b *time.Duration) {
	set.Check(func() error {
		if *a > *b {
			return fmt.Errorf("%s must not be more than %s", nameA, nameB)
		}
		return nil
	}, nameA, nameB)
}
