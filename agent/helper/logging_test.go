package helper_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/helper"
)

// recording is a log that keeps its lines, as text with the kinds of values.
type recording struct {
	attrs string
	mu    *sync.Mutex
	lines *[]string
}

func newRecording() *recording { return &recording{mu: &sync.Mutex{}, lines: &[]string{}} }

func (r *recording) Enabled(context.Context, slog.Level) bool { return true }
func (r *recording) WithGroup(string) slog.Handler            { return r }

func (r *recording) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := r.attrs
	for _, a := range attrs {
		more += " " + a.String()
	}
	return &recording{more, r.mu, r.lines}
}

func (r *recording) Handle(_ context.Context, rec slog.Record) error {
	line := rec.Level.String() + " " + rec.Message + r.attrs
	rec.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s:%s", a, a.Value.Kind())
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.lines = append(*r.lines, line)
	return nil
}

func (r *recording) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, *r.lines...)
}

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.GroupValue(slog.Int("n", 1)) }

func TestTheServiceLogsWhatTheHelperLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := newRecording()
		d := helper.New(helper.Config{Version: "v1", Log: slog.New(lines), Settings: helper.Settings{LogLevel: slog.LevelDebug}})
		t.Cleanup(func() { must(t, d.Close()) })
		log := helper.NewLog()
		releases := 0
		b := &bare{release: func(context.Context) error {
			if releases++; releases == 2 {
				log.Logger().Warn("the last words")
			}
			return nil
		}}
		log.Logger().Info("before anybody listens")
		log.Logger().Debug("of no interest yet")
		s, err := pair(t, d, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(b), Log: log})
		must(t, err)
		synctest.Wait() // the log is followed now
		log.Logger().With("a", 1, "b", true).WithGroup("g").With("c", "two words").Debug("d\xffe",
			"u", uint64(1)<<63, "f", 1.5, "for", time.Second, "at", time.Unix(0, 0).UTC().Local(), "v", valuer{}, slog.Group("", slog.String("in", "line")),
			"err", errors.New("why"), "nil", nil)
		s.end(errChanged)
		_ = s.wait()
		synctest.Wait()
		want := []string{
			"INFO before anybody listens peer=helper",
			"DEBUG d\xffe peer=helper a=1:Int64 b=true:Bool g.c=two words:String g.u=9223372036854775808:Uint64 g.f=1.5:Float64 g.for=1s:Duration" +
				" g.at=" + slog.TimeValue(time.Unix(0, 0).Local()).String() + ":Time g.v.n=1:Int64 g.in=line:String g.err=why:String g.nil=<nil>:String",
			"WARN the last words peer=helper",
		}
		got := lines.said()
		if diff := cmp.Diff(want, got[:min(len(want), len(got))]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(got) != len(want)+1 || !strings.Contains(got[len(want)], "the helper has gone") {
			t.Errorf("then: %q", got[min(len(want), len(got)):])
		}
	})
}

// The desktop does not wait for the log: what nobody takes in time is dropped, and how
// much is said.
func TestALogThatNobodyTakesDropsLinesAndCountsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := newRecording()
		d := helper.New(helper.Config{Version: "v1", Log: slog.New(lines)})
		t.Cleanup(func() { must(t, d.Close()) })
		log := helper.NewLog()
		for i := range 1500 { // nobody is there
			log.Logger().Info("line", "i", i)
		}
		_, err := pair(t, d, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(&bare{}), Log: log})
		must(t, err)
		synctest.Wait()
		counted, dropped := 0, 0
		for _, line := range lines.said() {
			if _, err := fmt.Sscanf(line, "WARN lines of the log were dropped peer=helper count=%d:Int64", &dropped); err != nil {
				counted++
			}
		}
		if counted+dropped != 1500 || dropped == 0 {
			t.Errorf("%d lines came and %d were counted, of 1500", counted, dropped)
		}
	})
}

func TestWhatALeftDownKeyIsWorthIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := newRecording()
		d := helper.New(helper.Config{Version: "v1", Log: slog.New(lines)})
		t.Cleanup(func() { must(t, d.Close()) })
		b := &bare{release: func(context.Context) error { return driver.ErrUnavailable }}
		_, err := pair(t, d, helper.ServerConfig{Secret: secret, Version: "v1", Open: of(b)})
		must(t, err)
		synctest.Wait()
		if got := lines.said(); len(got) != 1 || !strings.Contains(got[0], "what is down could not be let go of yet") {
			t.Errorf("logged %q", got)
		}
	})
}
