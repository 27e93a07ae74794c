package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// write makes a file and returns its path.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// args are the flags that every agent of these tests needs, and others.
func args(t *testing.T, p *plane, d *desk, more ...string) []string {
	t.Helper()
	return append([]string{
		"--server", p.address, "--machine", "m", "--state-dir", t.TempDir(), "--driver", "virtual", "--desktop", d.input,
	}, more...)
}

func TestTheAgentIsWhoAndWhereItIsToldToBe(t *testing.T) {
	t.Parallel()
	d, other, p := newDesk(t), newPlane(t), newPlane(t)
	start(t, args(t, p, d, "--machine", "desk-7", "--token-file", write(t, t.TempDir(), "token", "t0k\n"))...)
	c := p.accept()
	if got := c.Header.Get("authorization"); c.Hello.GetMachineId() != "desk-7" || !slices.Equal(got, []string{"Bearer t0k"}) {
		t.Errorf("machine %s shows %q", c.Hello.GetMachineId(), got)
	}
	start(t, args(t, other, d)...)
	c = other.accept()
	if got := c.Header.Get("authorization"); c.Hello.GetMachineId() != "m" || len(got) != 0 {
		t.Errorf("without a token file machine %s shows %q", c.Hello.GetMachineId(), got)
	}
}

// certify makes a certificate for 127.0.0.1 that vouches for itself.
func certify(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestTheServersCertificateIsJudgedByTheCAFile(t *testing.T) {
	t.Parallel()
	served, ca := certify(t)
	_, foreign := certify(t)
	d, p, dir := newDesk(t), newPlane(t, served), t.TempDir()
	for name, refusal := range map[string][]string{
		"certificate signed by unknown authority": {"--ca-file", write(t, dir, "foreign.pem", foreign)},
		"error reading server preface":            nil, // plain text to loopback
	} {
		out := &watched{text: name}
		ctx, cancel := context.WithCancelCause(t.Context())
		out.seen = func() { cancel(errSignal) }
		late := time.AfterFunc(patience, func() { t.Errorf("nothing of %q: %s", name, out.all.String()); cancel(errSignal) })
		_ = execute(ctx, out, append([]string{"run", "--reconnect-backoff", "10ms"}, args(t, p, d, refusal...)...)...)
		late.Stop()
	}
	start(t, args(t, p, d, "--ca-file", write(t, dir, "ca.pem", ca))...)
	if c := p.accept(); c.Hello.GetMachineId() != "m" {
		t.Errorf("hello of %s", c.Hello.GetMachineId())
	}
}

func TestTheMemoryIsInTheStateDir(t *testing.T) {
	t.Parallel()
	d, p, dir := newDesk(t), newPlane(t), filepath.Join(t.TempDir(), "made", "when missing")
	memory := func(more ...string) string {
		a := start(t, args(t, p, d, more...)...)
		defer a.stop()
		return p.open().Hello.GetAgentInstanceId()
	}
	first := memory("--state-dir", dir)
	if again := memory("--state-dir", dir); again != first {
		t.Errorf("memory %s, then %s, of one folder", first, again)
	}
	if other := memory(); other == first {
		t.Error("another folder holds the same memory")
	}
}

func TestASecretOfTheSecretsDirIsTyped(t *testing.T) {
	t.Parallel()
	d, p, dir := newDesk(t), newPlane(t), t.TempDir()
	write(t, dir, "ward", "s3cret\n")
	typed := func(id string, more ...string) (*reprisev1.Report, string) {
		a := start(t, args(t, p, d, more...)...)
		defer a.stop()
		c := p.open()
		p.do(c, id+"1", 1, &reprisev1.Action{
			Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, ExpectedEffect: reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE,
			Target: &reprisev1.Target{WindowTitle: "Notes", Point: &reprisev1.Point{X: 0.5, Y: 0.5}},
		})
		r := p.do(c, id+"2", 1, &reprisev1.Action{
			Kind:           &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Secret{Secret: "ward"}}},
			ExpectedEffect: reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE,
		})
		text, err := d.control.Text(t.Context(), "note")
		must(t, err)
		return r, text
	}
	if r, text := typed("a"); r.GetSuccess() || text != "" {
		t.Errorf("without a folder: %v, typed %q", r.GetError(), text)
	}
	if r, text := typed("b", "--secrets-dir", dir); !r.GetSuccess() || text != "s3cret" {
		t.Errorf("with it: %v, typed %q", r.GetError(), text)
	}
}

func TestWhatIsRestlessIsNoEffect(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		more []string
		want reprisev1.Effect
	}{{nil, reprisev1.Effect_EFFECT_SEEN}, {[]string{"--restless", "0:0,0,1,1"}, reprisev1.Effect_EFFECT_NONE_SEEN}} {
		d, p := newDesk(t), newPlane(t)
		start(t, args(t, p, d, tt.more...)...)
		c := p.open()
		p.do(c, "a", 1, &reprisev1.Action{
			Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, ExpectedEffect: reprisev1.ExpectedEffect_EXPECTED_EFFECT_NONE,
			Target: &reprisev1.Target{WindowTitle: "Notes", Point: &reprisev1.Point{X: 0.5, Y: 0.5}},
		})
		r := p.do(c, "b", 1, &reprisev1.Action{
			Kind:           &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: "hello"}}},
			ExpectedEffect: reprisev1.ExpectedEffect_EXPECTED_EFFECT_CHANGE,
		})
		if !r.GetSuccess() || r.GetEffect() != tt.want {
			t.Errorf("with %v: %v %v", tt.more, r.GetEffect(), r.GetError())
		}
	}
}

func TestThePopupsOfTheFileAreClosed(t *testing.T) {
	t.Parallel()
	rules := write(t, t.TempDir(), "popups.yaml", "popups:\n  - window: {title: Notice, titleMatch: exact}\n    point: {x: 0.84, y: 0.78}\n")
	for _, tt := range []struct {
		more    []string
		handled bool
	}{{nil, false}, {[]string{"--popups-file", rules}, true}} {
		d, p := newDesk(t), newPlane(t)
		start(t, args(t, p, d, tt.more...)...)
		c := p.open()
		_, err := d.control.Popup(t.Context(), wire.GenericDialog())
		must(t, err)
		r := p.do(c, "a", 1, save())
		if handled := slices.Contains(r.GetWarnings(), reprisev1.Warning_WARNING_POPUP_HANDLED); handled != tt.handled || handled && d.saved() != 1 {
			t.Errorf("with %v: %v, %d clicks", tt.more, r, d.saved())
		}
	}
	out := &watched{}
	if err := execute(t.Context(), out, append([]string{"run"}, args(t, newPlane(t), newDesk(t), "--popups-file", filepath.Join(t.TempDir(), "none"))...)...); err == nil {
		t.Error("a file that is not there is no fault")
	}
}

func TestTheDesktopIsTheOneThatIsSet(t *testing.T) {
	t.Parallel()
	one, two, p := newDesk(t), newDesk(t), newPlane(t)
	start(t, args(t, p, one, "--desktop", two.input)...)
	if r := p.do(p.open(), "a", 1, save()); !r.GetSuccess() || one.saved() != 0 || two.saved() != 1 {
		t.Errorf("%v: %d clicks on the one, %d on the other", r.GetError(), one.saved(), two.saved())
	}
}

func TestAnActionBeyondTheDedupSizeIsForgotten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		more   []string
		clicks int
	}{
		{"all three are remembered", nil, 3},
		{"one is remembered", []string{"--dedup-size", "1"}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, p := newDesk(t), newPlane(t)
			start(t, args(t, p, d, tt.more...)...)
			c := p.open()
			for _, id := range []string{"a", "b", "c"} {
				p.do(c, id, 1, save())
			}
			r := p.do(c, "a", 2, save())
			fromMemory := slices.Contains(r.GetWarnings(), reprisev1.Warning_WARNING_ALREADY_EXECUTED)
			if d.saved() != tt.clicks || fromMemory != (tt.clicks == 3) {
				t.Errorf("%d clicks, want %d; answered from memory: %v", d.saved(), tt.clicks, fromMemory)
			}
		})
	}
}

func TestTheLogHasTheLevelAndTheFormThatAreSet(t *testing.T) {
	t.Parallel()
	log := func(more ...string) []string {
		d, p := newDesk(t), newPlane(t)
		a := start(t, args(t, p, d, more...)...)
		p.open()
		a.stop()
		return a.said()
	}
	if got := log(); len(got) < 2 || !strings.Contains(got[0], "level=INFO") {
		t.Errorf("by default: %q", got)
	}
	if got := log("--log-level", "error"); len(got) != 0 {
		t.Errorf("errors alone: %q", got)
	}
	for _, line := range log("--log-format", "json") {
		if !json.Valid([]byte(line)) {
			t.Errorf("as JSON: %q", line)
		}
	}
}

// What is shown of the agent elsewhere, by its configuration in memory, comes from
// these flags.

func TestTheFlagMinDisplayReachesTheDesktop(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for size, want := range map[string]reprisev1.DesktopStateKind{
		"1280x800": reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_ACTIVE,
		"1281x800": reprisev1.DesktopStateKind_DESKTOP_STATE_KIND_DISPLAY_TOO_SMALL,
	} {
		p := newPlane(t)
		start(t, args(t, p, d, "--min-display", size)...)
		if got := p.accept().Hello.GetDesktopState().GetKind(); got != want {
			t.Errorf("%s: %v", size, got)
		}
	}
}

func TestTheFlagMasksReachesThePictures(t *testing.T) {
	t.Parallel()
	d, p := newDesk(t), newPlane(t)
	start(t, args(t, p, d, "--masks", "0:0,0,0.5,0.5;1:0,0,1,1")...)
	c := p.open()
	must(t, c.Capture(&reprisev1.Capture{CaptureId: "c"}))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := c.CaptureResult(ctx)
	must(t, err)
	if r.GetPicture().GetMasks() != 2 {
		t.Errorf("the picture is %v", r)
	}
}

func TestTheFlagReconnectBackoffReachesTheLink(t *testing.T) {
	t.Parallel()
	d, p := newDesk(t), newPlane(t)
	a := start(t, args(t, p, d, "--reconnect-backoff", "1ms,1ms,2ms", "--log-format", "json")...)
	for range 10 {
		p.open().End(nil)
	}
	a.stop()
	waits := 0
	for _, line := range a.said() {
		var said struct {
			Msg   string        `json:"msg"`
			After time.Duration `json:"after"`
		}
		must(t, json.Unmarshal([]byte(line), &said))
		if strings.Contains(said.Msg, "connecting again") {
			waits++
			if said.After > 2*time.Millisecond {
				t.Errorf("waited %v", said.After)
			}
		}
	}
	if waits < 9 {
		t.Errorf("the log tells of %d waits", waits)
	}
}
