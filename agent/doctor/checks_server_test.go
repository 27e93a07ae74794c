package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/spool"
)

// chain is a certificate that ends after a time, and the one of its CA.
func chain(subject string, left time.Duration) []*x509.Certificate {
	now := time.Now()
	return []*x509.Certificate{
		{Subject: pkix.Name{CommonName: subject}, Issuer: pkix.Name{CommonName: "ca"}, NotBefore: now.Add(-day), NotAfter: now.Add(left)},
		{Subject: pkix.Name{CommonName: "ca"}, NotBefore: now.Add(-day), NotAfter: now.Add(1000 * day)},
	}
}

func TestB26_WhoMayReadTheTokenIsJudgedAndTheTokenNotTold(t *testing.T) {
	for _, id := range []string{"token", "secrets"} {
		judged(t, id, []one{{"others may", func(f *facts, _ *Settings) { f.others = []string{"everybody"} }, Fault, "may be read by everybody"}})
	}
	judged(t, "token", []one{
		{"none in the file", func(f *facts, _ *Settings) { f.token.Err = errors.New("must hold one token") }, Fault, "must hold one token"},
		{"none is shown", func(_ *facts, s *Settings) { s.TokenFile = "" }, Warning, "add-agent"},
		{"none is shown on this machine", func(_ *facts, s *Settings) { s.TokenFile, s.Server = "", "localhost:1" }, OK, "may want none"},
	})
}

func TestAStateDirectoryMustTakeWhatIsWritten(t *testing.T) {
	state := func(st State) func(*facts, *Settings) { return func(f *facts, _ *Settings) { f.state = st } }
	judged(t, "state-dir", []one{
		{"none is set", func(_ *facts, s *Settings) { s.StateDir = "" }, Fault, "--state-dir"},
		{"not writable", state(State{Write: errors.New("read-only")}), Fault, "read-only"},
		{"full", state(State{Free: 10 << 20}), Fault, "10 MiB"},
		{"nearly full", state(State{Free: 500 << 20}), Warning, "500 MiB"},
		{"its room is not known", state(State{FreeErr: errors.New("no call")}), Unknown, "no call"},
		{"not there yet", state(State{Free: 5 << 30, Missing: true}), OK, "the agent makes it"},
	})
	judged(t, "spool", []one{
		{"damaged", state(State{Spool: fmt.Errorf("%w at 7", spool.ErrCorrupt)}), Fault, "move the file spool"},
		{"not readable", state(State{Spool: errors.New("denied")}), Unknown, "denied"},
		{"its lock is not known", state(State{LockErr: errors.New("denied")}), Unknown, "denied"},
		{"an agent has it", state(State{Held: true, Unheard: 2}), OK, "a second one would not start; it remembers 0 actions, and 2 results wait"},
		{"none yet", state(State{NoMemory: true}), OK, "none yet"},
		{"none is set", func(_ *facts, s *Settings) { s.StateDir = "" }, Unknown, "--state-dir"},
	})
}

func TestALogThatCannotBeWrittenIsAFault(t *testing.T) {
	judged(t, "log-file", []one{
		{"it can", func(*facts, *Settings) {}, OK, "agent.log can be written to"},
		{"it can't", func(f *facts, _ *Settings) { f.logFile = errors.New("no folder") }, Fault, "another file with --log-file"},
	})
}

func reached(r Reached) func(*facts, *Settings) { return func(f *facts, _ *Settings) { f.reached = r } }

func TestWhyTheServerIsNotReachedIsToldApart(t *testing.T) {
	at := func(s stage, err error) func(*facts, *Settings) { return reached(Reached{Stage: s, Err: err}) }
	expired := x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired}
	other := x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a"}}, Host: "b"}
	judged(t, "server", []one{
		{"settings", at(atSettings, errors.New("host:port is needed")), Fault, "host:port is needed"},
		{"name", at(atName, errors.New("no such host")), Fault, "DNS"},
		{"port", at(atPort, status.Error(codes.Unavailable, "refused")), Fault, "nothing answers at reprise.example:7443: refused"},
		{"port of a proxy", reached(Reached{Stage: atPort, Err: errors.New("refused"), Proxy: "proxy:3128"}), Fault, "through the proxy proxy:3128"},
		{"a CA that the file does not have", at(atTLS, fmt.Errorf("tls: %w", x509.UnknownAuthorityError{})), Fault, "firewall that reads along"},
		{"a CA that the system does not have", func(f *facts, s *Settings) {
			s.CAFile = ""
			f.reached = Reached{Stage: atTLS, Err: x509.UnknownAuthorityError{}, Chain: chain("s", day)}
		}, Fault, `name the server's CA with --ca-file`},
		{"its issuer is named", reached(Reached{Stage: atTLS, Err: x509.UnknownAuthorityError{}, Chain: chain("s", day)}), Fault, `issued by "CN=ca"`},
		{"another name", at(atTLS, other), Fault, "another name"},
		{"expired", at(atTLS, expired), Fault, "renew"},
		{"plain text", at(atTLS, tls.RecordHeaderError{Msg: "not TLS"}), Fault, "does not speak TLS"},
		{"an older TLS", at(atTLS, errors.New("protocol version not supported")), Fault, "TLS 1.3"},
		{"another program", at(atCall, status.Error(codes.Unavailable, "preface")), Fault, "not as a reprise server: preface"},
		{"without health", reached(Reached{Stage: answered, HealthUnknown: true}), Warning, "does not say"},
		{"recovering", reached(Reached{Stage: answered}), Warning, "reading its journal"},
		{"in plain text", reached(Reached{Stage: answered, Serving: true}), OK, "in plain text"},
	})
}

func TestTheEndOfTheCertificateIsTold(t *testing.T) {
	of := func(c []*x509.Certificate) func(*facts, *Settings) {
		return reached(Reached{Stage: answered, Secure: true, Chain: c})
	}
	ca := chain("s", 100*day)
	ca[1].NotAfter = time.Now().Add(3*day + time.Hour)
	judged(t, "certificate", []one{
		{"over", of(chain("s", -time.Hour)), Fault, "it is over"},
		{"soon", of(chain("s", 5*day+time.Hour)), Warning, "in 5 days"},
		{"its CA's soon", of(ca), Warning, "in 3 days"},
		{"none in plain text", reached(Reached{Stage: answered}), OK, "plain text"},
		{"not seen", reached(Reached{Stage: atPort}), Unknown, "see check server"},
	})
}

func TestB25_WhatIsWrongWithTheTokenIsTold(t *testing.T) {
	refused := func(reason string) func(*facts, *Settings) {
		return reached(Reached{Stage: answered, Reason: reason, Access: status.Error(codes.Unauthenticated, "no")})
	}
	judged(t, "access", []one{
		{"needed", refused("TOKEN_NEEDED"), Fault, "--token-file"},
		{"invalid", refused("TOKEN_INVALID"), Fault, "revoked"},
		{"an operator's", refused("ROLE_FORBIDDEN"), Fault, "not an agent's"},
		{"the server can't read them", refused("TOKENS_UNREADABLE"), Unknown, "try again"},
		{"something else", refused(""), Unknown, "no"},
		{"none in the file", reached(Reached{Stage: answered, Access: fmt.Errorf("%w: empty", errNoToken)}), Unknown, "see check token"},
		{"not reached", reached(Reached{Stage: atTLS}), Unknown, "see check server"},
	})
}

func TestB23_SkewIsShownAndUnknownSkewIsUnknown(t *testing.T) {
	skew := func(d time.Duration) func(*facts, *Settings) {
		return reached(Reached{Stage: answered, Clock: &d, Precision: time.Second})
	}
	early := chain("s", 100*day)
	early[0].NotBefore = time.Now().Add(time.Hour)
	judged(t, "clock", []one{
		{"not reached", reached(Reached{Stage: atPort}), Unknown, "not reached"},
		{"not told", reached(Reached{Stage: answered}), Unknown, "does not tell its time"},
		{"before the certificate's beginning", reached(Reached{Stage: atTLS, Chain: early}), Fault, "valid only from"},
		{"nearly the same", skew(3 * time.Second), OK, "3s behind"},
		{"within the precision", skew(6 * time.Second), OK, ""},
		{"ahead", skew(-30 * time.Second), Warning, "30s ahead of"},
		{"an hour", skew(time.Hour), Fault, "w32tm"},
	})
}

func TestB02_AStreamThatIsCutIsJudgedByItsAge(t *testing.T) {
	cut := func(after time.Duration, text string) func(*facts, *Settings) {
		return func(f *facts, _ *Settings) { f.idled = Idled{Lived: after, Err: status.Error(codes.Unavailable, text)} }
	}
	judged(t, "idle", []one{
		{"after a minute", cut(time.Minute, "reset"), Warning, "ping-interval"},
		{"sooner than the agent's pings come", cut(20*time.Second, "reset"), Fault, "proxies in docs/deploy.md"},
		{"forgotten without a word", cut(75*time.Second, "keepalive ping failed to receive ACK within timeout"), Fault, "without a word"},
		{"never opened", cut(0, "refused"), Unknown, "see check server"},
	})
}
