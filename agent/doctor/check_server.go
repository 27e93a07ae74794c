package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

func lookServer(ctx context.Context, f Facts, s Settings) answer {
	r := f.Reach(ctx, s)
	way := ""
	if r.Proxy != "" {
		way = " through the proxy " + r.Proxy + " (HTTPS_PROXY)"
	}
	switch r.Stage {
	case atSettings:
		return fault("mend the setting server or ca-file", "%v", r.Err)
	case atName:
		return fault("mend the setting server, or the machine's DNS", "the name in %s is not known: %v", s.Server, r.Err)
	case atPort:
		return fault("start the server, mend its address or port, or open the way in the firewalls between; if a proxy is named that must not be used, add the server to NO_PROXY",
			"nothing answers at %s%s: %s", s.Server, way, said(r.Err))
	case atTLS:
		return judgeTLS(s, r, way)
	case atCall:
		return fault("if the server has a certificate, name its CA with --ca-file; else look at what answers there: another program, or a proxy that does not pass gRPC (HTTP/2) on",
			"%s%s answers, and not as a reprise server: %s", s.Server, way, said(r.Err))
	}
	how := fmt.Sprintf("%s%s answers in %v", s.Server, way, r.Elapsed.Round(time.Millisecond))
	if !r.Secure {
		how += ", in plain text"
	}
	switch {
	case r.HealthUnknown:
		return warning("look whether it is a reprise server, or a proxy that passes only some calls on", "%s, and does not say whether it serves", how)
	case !r.Serving:
		return warning("wait; the server's log says what it does", "%s, and says that it does not serve yet: it is reading its journal, or ending", how)
	}
	return ok("%s and serves", how)
}

// judgeTLS tells apart why no secure connection comes about.
func judgeTLS(s Settings, r Reached, way string) answer {
	var unknownCA x509.UnknownAuthorityError
	var otherName x509.HostnameError
	var invalid x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	where := s.Server + way
	switch {
	case errors.As(r.Err, &unknownCA) && s.CAFile == "":
		return fault("name the server's CA with --ca-file", "this machine does not trust the CA of %s%s: %v", where, issued(r), r.Err)
	case errors.As(r.Err, &unknownCA):
		return fault("put the server's CA into the ca-file; if the issuer is a firewall that reads along, have it leave this server out",
			"%s does not show a certificate of a CA in %s%s: %v", where, s.CAFile, issued(r), r.Err)
	case errors.As(r.Err, &otherName):
		return fault("use the name for which the certificate is, or have one made for this name", "the certificate of %s is for another name: %v", where, r.Err)
	case errors.As(r.Err, &invalid) && invalid.Reason == x509.Expired:
		return fault("renew the certificate, or set this machine's clock", "the certificate of %s is not valid now: %v", where, r.Err)
	case errors.As(r.Err, &plain):
		return fault("give the server a certificate, or mend its port", "%s does not speak TLS: %v", where, r.Err)
	}
	return fault("look at what lies between: the server itself speaks TLS 1.3 and HTTP/2", "no secure connection to %s: %v", where, r.Err)
}

func issued(r Reached) string {
	if len(r.Chain) == 0 {
		return ""
	}
	return fmt.Sprintf(" (its certificate is issued by %q)", r.Chain[0].Issuer.String())
}

// soon is how long before its end a certificate is worth a warning.
const soon = 30 * day

func lookCertificate(ctx context.Context, f Facts, s Settings) answer {
	r := f.Reach(ctx, s)
	switch {
	case len(r.Chain) == 0 && r.Stage == answered && !r.Secure:
		return ok("the server is spoken to in plain text, which it allows on this machine alone")
	case len(r.Chain) == 0:
		return unknown("see check server", "no certificate was seen")
	}
	first := r.Chain[0]
	for _, c := range r.Chain {
		if c.NotAfter.Before(first.NotAfter) {
			first = c
		}
	}
	left := time.Until(first.NotAfter)
	text := fmt.Sprintf("the certificate of %q, issued by %q, ends on %s", first.Subject.String(), first.Issuer.String(), first.NotAfter.UTC().Format(time.DateOnly))
	switch {
	case left <= 0:
		return fault("renew the server's certificate", "%s: it is over", text)
	case left < soon:
		return warning("renew the server's certificate in time", "%s: in %d days", text, int(left/day))
	}
	return ok("%s", text)
}

// What the server says of a token, in the words of docs/errors.md.
const (
	reasonHelloExpected  = "HELLO_EXPECTED"
	reasonNoHello        = "NO_HELLO"
	reasonTokenNeeded    = "TOKEN_NEEDED"
	reasonTokenInvalid   = "TOKEN_INVALID"
	reasonRoleForbidden  = "ROLE_FORBIDDEN"
	reasonTokensBroken   = "TOKENS_UNREADABLE"
	reasonRecovering     = "RECOVERING"
	reasonServerIsEnding = "GOING_AWAY"
)

func lookAccess(ctx context.Context, f Facts, s Settings) answer {
	r := f.Reach(ctx, s)
	const anew = "`reprised token add-agent` on the server makes a token for the machine; put it into the token file"
	switch {
	case r.Stage != answered:
		return unknown("see check server", "the server was not reached")
	case r.Access == nil:
		return ok("the server takes the agent; whether the token is this machine's it says when the agent connects")
	}
	if errors.Is(r.Access, errNoToken) {
		return unknown("see check token", "%v", errNoToken)
	}
	switch r.Reason {
	case reasonTokenNeeded:
		return fault(anew+" and name that with --token-file", "the server wants a token, and none is shown")
	case reasonTokenInvalid:
		return fault(anew, "the server does not know the token: it is mistyped, revoked, or another server's")
	case reasonRoleForbidden:
		return fault(anew, "the token is not an agent's: %s", said(r.Access))
	case reasonTokensBroken, reasonRecovering, reasonServerIsEnding:
		return unknown("try again; the server's log says why", "the server cannot say now: %s", said(r.Access))
	}
	return unknown("see check server", "the call of an agent was answered with: %s", said(r.Access))
}

// How far two clocks may be apart.
const (
	skewTold  = 5 * time.Second
	skewWrong = 5 * time.Minute
)

func lookClock(ctx context.Context, f Facts, s Settings) answer {
	const toDo = "set the clock by the network: `w32tm /resync` on Windows, and see that the server does the same"
	r := f.Reach(ctx, s)
	if r.Clock == nil {
		now := time.Now()
		for _, c := range r.Chain {
			if now.Before(c.NotBefore) {
				return fault(toDo, "this machine's clock says %s, and the server's certificate is valid only from %s on",
					now.UTC().Format(time.RFC3339), c.NotBefore.UTC().Format(time.RFC3339))
			}
		}
		if r.Stage != answered {
			return unknown("see check server", "the server was not reached; this machine's time is %s", now.UTC().Format(time.RFC3339))
		}
		return unknown("`reprisectl machines` shows when the server last heard of the machine; compare it with this machine's clock",
			"the server does not tell its time before a session is open; this machine's is %s", now.UTC().Format(time.RFC3339))
	}
	skew := *r.Clock
	size, which := skew.Abs(), "behind"
	if skew < 0 {
		which = "ahead of"
	}
	text := fmt.Sprintf("this machine's clock is %v %s the server's, give or take %v", size.Round(time.Millisecond), which, r.Precision.Round(time.Millisecond))
	switch {
	case size-r.Precision > skewWrong:
		return fault(toDo, "%s: certificates and tokens may seem not to be valid", text)
	case size-r.Precision > skewTold:
		return warning(toDo, "%s", text)
	}
	return ok("%s", text)
}

// pingsWithin is longer than the silence between two messages of the agent's own
// stream, which the server's setting ping-interval bounds.
const pingsWithin = 30 * time.Second

func lookIdle(ctx context.Context, f Facts, s Settings) answer {
	i := f.Idle(ctx, s)
	lived := i.Lived.Round(100 * time.Millisecond)
	const toDo = "have what lies between (a proxy, a load balancer, a firewall) leave idle streams of gRPC open; the section on proxies in docs/deploy.md says what to set"
	switch {
	case i.Err == nil:
		return ok("a stream on which nobody said anything was still open after %v", lived)
	case i.Lived < time.Second:
		return unknown("see check server", "no stream was opened: %s", said(i.Err))
	case strings.Contains(i.Err.Error(), "keepalive"):
		return fault(toDo, "after %v what lies between lost the connection without a word: %s", lived, said(i.Err))
	case i.Lived < pingsWithin:
		return fault(toDo, "a stream on which nobody said anything was closed after %v, which hits the agent's stream too: %s", lived, said(i.Err))
	}
	return warning("nothing, while the server's ping-interval stays well below that time; else "+toDo,
		"a stream on which nobody said anything was closed after %v; the agent's own says something every few seconds and lives on: %s", lived, said(i.Err))
}
