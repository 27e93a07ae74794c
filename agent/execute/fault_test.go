package execute_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/work"
)

func TestADriversFaultIsNamedWithHowMuchWasSent(t *testing.T) {
	for _, c := range []struct {
		err  error
		sent int
		want string
	}{
		{driver.ErrUnavailable, 0, "desktop_unavailable not_started not_checked"},
		{driver.ErrUnavailable, 3, "outcome_unknown unknown not_checked"},
		{driver.ErrStopped, 0, "person not_started not_checked"},
		{driver.ErrStopped, 2, "person unknown not_checked"},
		{driver.ErrPerson, 1, "person unknown not_checked"},
		{driver.ErrBlocked, 0, "input_blocked not_started not_checked"},
		{driver.ErrBlocked, 1, "input_blocked unknown not_checked"},
		{driver.ErrOffScreen, 0, "target_off_screen not_started not_checked"},
		{driver.ErrNotInFront, 0, "wrong_window not_started not_checked"},
		{driver.ErrUnsupported, 0, "unsupported not_started not_checked"},
		{errors.New("broken pipe"), 0, "internal not_started not_checked"},
		{errors.New("broken pipe"), 2, "internal unknown not_checked"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen()
			s.onInput = func(*screen, int) error { return &driver.InputError{Sent: c.sent, Err: c.err} }
			outcome := perform(t, s, work.Action{Do: work.Click{}, Target: point(0, 0)})
			if got := verdict(outcome); got != c.want {
				t.Errorf("%v after %d events: %s, want %s", c.err, c.sent, got, c.want)
			}
		})
	}
}

func TestAnErrorThatIsNoInputErrorCountsAsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.onInput = func(*screen, int) error { return errors.New("the driver broke its promise") }
		if outcome := perform(t, s, work.Action{Do: work.Click{}, Target: point(0, 0)}); outcome.Completion != work.Unknown {
			t.Errorf("completion %s", outcome.Completion)
		}
	})
}

func TestAFaultInALaterGestureCountsTheEarlierOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		s.onInput = func(_ *screen, n int) error {
			if n == 1 {
				return &driver.InputError{Err: driver.ErrBlocked}
			}
			return nil
		}
		outcome := perform(t, s, work.Action{Do: work.Type{Text: "x"}, Target: point(0, 0)})
		if got := verdict(outcome); got != "input_blocked unknown not_checked" {
			t.Errorf("outcome %s", got)
		}
	})
}

func TestTypedTextIsInNoMessage(t *testing.T) {
	const needle = "S3cr3t-needle-42"
	for _, do := range []work.Gesture{work.Type{Text: needle}, work.Paste{Text: needle}} {
		for _, fault := range []error{driver.ErrUnsupported, errors.New("no key")} {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen()
				s.onInput = func(*screen, int) error {
					return &driver.InputError{Err: fmt.Errorf("character of %q: %w", needle, fault)}
				}
				outcome := perform(t, s, work.Action{Do: do, Target: point(0, 0)})
				if said := fmt.Sprintf("%+v", outcome); strings.Contains(said, needle) || outcome.Success() {
					t.Errorf("the outcome tells what was typed: %s", said)
				}
			})
		}
	}
}

// What the driver vouches for says more than that it is not possible.
func TestB07_WhyATextCanNotBeTypedIsTold(t *testing.T) {
	const needle = "S3cr3t-needle-42"
	for _, c := range []struct {
		cause error
		want  string
	}{
		{driver.Tellable(fmt.Errorf("the character at byte 3 has no key: %w", driver.ErrUnsupported)), "the character at byte 3 has no key: not possible on this desktop"},
		{fmt.Errorf("type: %w", driver.Tellable(fmt.Errorf("an input method takes it: %w", driver.ErrBlocked))), "an input method takes it: the system refused the input"},
		{fmt.Errorf("type %q: %w", needle, driver.Tellable(driver.ErrBlocked)), "the system refused the input"},
		{fmt.Errorf("type: the character at byte 3: %w", driver.ErrUnsupported), "not possible on this desktop"},
		{driver.Tellable(fmt.Errorf("no key for %q: %w", needle, driver.ErrUnsupported)), "not possible on this desktop"},
	} {
		for _, do := range []work.Gesture{work.Type{Text: needle}, work.Type{Text: needle, Mode: work.Clipboard}, work.Paste{Text: needle}} {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen()
				s.onInput = func(*screen, int) error { return &driver.InputError{Err: c.cause} }
				if o := perform(t, s, work.Action{Do: do}); o.Message != c.want {
					t.Errorf("%s: %q, want %q", verdict(o), o.Message, c.want)
				}
			})
		}
	}
}
