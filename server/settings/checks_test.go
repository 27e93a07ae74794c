package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestSettingsThatBelongTogetherAreCheckedTogether(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string // part of the fault; empty: none
	}{
		{"receipt equal to orphan", []string{"--receipt-timeout=30s"}, "receipt-timeout must be less than orphan-timeout"},
		{"receipt below orphan", []string{"--receipt-timeout=29s"}, ""},
		{"scan above orphan", []string{"--scan-interval=31s"}, "scan-interval must not be more than orphan-timeout"},
		{"scan equal to orphan", []string{"--scan-interval=30s"}, ""},
		{"keepalive more often than allowed", []string{"--keepalive-min-time=10.1s", "--ping-interval=20s"}, "keepalive-min-time must not be more than keepalive-time"},
		{"ping more often than allowed", []string{"--ping-interval=4s"}, "keepalive-min-time must not be more than ping-interval"},
		{"looking for longer than running", []string{"--action-timeout=30s"}, "resolve-timeout must be less than action-timeout"},
		{"waiting for an effect for longer than running", []string{"--effect-timeout=1m"}, "effect-timeout must be less than action-timeout"},
		{"paste longer than any server-side action", []string{"--paste-timeout=4m"}, "paste-timeout must not be more than server-action-timeout"},
		{"grace shorter than a ping's", []string{"--agent-offline-grace=10s"}, "ping-timeout must be less than agent-offline-grace"},
		{"more resends than deliveries", []string{"--max-resends=20"}, "max-resends must be less than max-deliveries"},
		{"a certificate without its key", []string{"--tls-cert-file=c"}, "must be given together"},
		{"a key without its certificate", []string{"--tls-key-file=c"}, "must be given together"},
		{"no data folder", []string{"--data-dir="}, "data-dir must not be empty"},
		{"no port", []string{"--listen=127.0.0.1"}, "listen must be host:port"},
		{"a port that is none", []string{"--listen=127.0.0.1:99999"}, "listen must end with a port"},
		{"plain text to everyone", []string{"--listen=:7443"}, "listen must be a loopback address"},
		{"plain text to all of IPv4", []string{"--listen=0.0.0.0:7443"}, "listen must be a loopback address"},
		{"plain text to a network", []string{"--listen=192.168.1.5:7443"}, "listen must be a loopback address"},
		{"plain text to a name", []string{"--listen=db.internal:7443"}, "listen must be a loopback address"},
		{"plain text to IPv4 loopback", []string{"--listen=127.3.2.1:0"}, ""},
		{"plain text to IPv6 loopback", []string{"--listen=[::1]:7443"}, ""},
		{"plain text to localhost", []string{"--listen=localhost:7443"}, ""},
		{"TLS to everyone", []string{"--listen=:7443", "--tls-cert-file=c", "--tls-key-file=k"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := load(t, tt.args, nil, "")
			if tt.want == "" && err != nil {
				t.Error(err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func TestOlderNamesAreTakenWithAWarning(t *testing.T) {
	s, warnings, err := load(t, nil, map[string]string{"RPA_RETRY_WATCHDOG_ENABLED": "0", "RPA_WATCHDOG_MAX_RETRIES": "7"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if s.Watchdog || s.MaxResends != 7 {
		t.Errorf("watchdog %v, resends %d", s.Watchdog, s.MaxResends)
	}
	for _, want := range []string{
		"RPA_RETRY_WATCHDOG_ENABLED is an older name, use RPA_WATCHDOG_ENABLED",
		"RPA_WATCHDOG_MAX_RETRIES is an older name, use RPA_WATCHDOG_MAX_RESENDS",
	} {
		if !slices.Contains(warnings, want) {
			t.Errorf("no warning %q in %q", want, warnings)
		}
	}
}

func TestABooleanIsTakenAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]bool{
		"1": true, "true": true, "yes": true, "on": true, "ON": true, "0": false, "false": false, "no": false, "off": false, "No": false,
	} {
		for source, run := range map[string]func() (Settings, []string, error){
			"flag": func() (Settings, []string, error) { return load(t, []string{"--watchdog=" + text}, nil, "") },
			"environment": func() (Settings, []string, error) {
				return load(t, nil, map[string]string{"RPA_WATCHDOG_ENABLED": text}, "")
			},
			"file": func() (Settings, []string, error) { return load(t, nil, nil, "watchdog: "+text+"\n") },
		} {
			if s, _, err := run(); err != nil || s.Watchdog != want {
				t.Errorf("%s from %s: %v, %v", text, source, s.Watchdog, err)
			}
		}
	}
}

func TestWhatSurprisesIsSaidAtStart(t *testing.T) {
	tests := []struct{ arg, want string }{
		{"--repush-position=tail", "out of the workflow's order"},
		{"--watchdog=off", "watchdog is off"},
		{"--metrics-listen=:9464", "plain text"},
	}
	for _, tt := range tests {
		if _, warnings, err := load(t, []string{tt.arg}, nil, ""); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], tt.want) {
			t.Errorf("%s: %q, %v", tt.arg, warnings, err)
		}
	}
	if _, warnings, err := load(t, []string{"--metrics-listen=127.0.0.1:9464"}, nil, ""); err != nil || len(warnings) != 0 {
		t.Errorf("the defaults surprise: %q, %v", warnings, err)
	}
}

func TestTheFileIsNamedByFlagOrEnvironment(t *testing.T) {
	fs := pflag.NewFlagSet("reprised", pflag.ContinueOnError)
	l := Bind(fs)
	_, _, err := l.Load(func(name string) (string, bool) { return "/nowhere/reprised.yaml", name == ConfigEnv })
	if err == nil || !strings.Contains(err.Error(), "/nowhere/reprised.yaml") {
		t.Errorf("the environment's file was not read: %v", err)
	}
	if err := fs.Parse([]string{"--config", "/elsewhere.yaml"}); err != nil {
		t.Fatal(err)
	}
	_, _, err = l.Load(func(name string) (string, bool) { return "/nowhere/reprised.yaml", name == ConfigEnv })
	if err == nil || !strings.Contains(err.Error(), "/elsewhere.yaml") {
		t.Errorf("the flag did not win: %v", err)
	}
}
