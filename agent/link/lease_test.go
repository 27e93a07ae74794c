package link

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/agent/work"
)

var dawn = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)

func dispatchOf(actionID string) work.Dispatch {
	return work.Dispatch{Ref: work.Ref{ReplayID: "r", ActionID: actionID}}
}

func TestADispatchCountsWhileTheServerHasAnsweredAMomentAgo(t *testing.T) {
	l := NewLease(dawn, 10*time.Second)
	if counts, _ := l.Dispatched(dawn.Add(leaseTime), dispatchOf("r-1")); !counts {
		t.Error("asked although the hello was answered")
	}
	if counts, ping := l.Dispatched(dawn.Add(leaseTime+1), dispatchOf("r-1")); counts || ping == 0 {
		t.Error("not asked although nothing vouches for the stream")
	}
	l.acked(&said{"r-1", dawn.Add(5 * time.Second)}, "r-0") // to a report of before
	if counts, _ := l.Dispatched(dawn.Add(5*time.Second), dispatchOf("r-2")); counts {
		t.Error("an answer to another report counted")
	}
	l.acked(&said{"r-1", dawn.Add(5 * time.Second)}, "r-1")
	if counts, _ := l.Dispatched(dawn.Add(6*time.Second), dispatchOf("r-2")); !counts {
		t.Error("asked although a report was answered")
	}
	l.Answered(dawn) // late news
	if counts, _ := l.Dispatched(dawn.Add(6*time.Second), dispatchOf("r-3")); !counts {
		t.Error("late news took the newer ones away")
	}
}

func TestAShortPingTimeoutShortensTheLease(t *testing.T) {
	l := NewLease(dawn, 300*time.Millisecond)
	within, _ := l.Dispatched(dawn.Add(150*time.Millisecond), dispatchOf("r-1"))
	beyond, _ := l.Dispatched(dawn.Add(151*time.Millisecond), dispatchOf("r-1"))
	if !within || beyond {
		t.Error("the lease is not half of the ping timeout")
	}
}

func TestTheNewestDispatchThatWaitsIsFreedByTheAnswerToThePing(t *testing.T) {
	l := NewLease(dawn, 10*time.Second)
	_, ping := l.Dispatched(dawn.Add(time.Minute), dispatchOf("r-1"))
	if counts, again := l.Dispatched(dawn.Add(time.Minute), dispatchOf("r-2")); counts || again != 0 {
		t.Errorf("a second dispatch counts %v, and asks with %d", counts, again)
	}
	for _, n := range []uint64{0, 1, ping - 1} {
		if v := l.Pong(dawn.Add(time.Minute), n); v != (Vouched{}) {
			t.Errorf("pong %d led to %+v", n, v)
		}
	}
	if d := l.Pong(dawn.Add(time.Minute), ping).Dispatch; d == nil || d.ActionID != "r-2" {
		t.Errorf("freed %v, want the newer dispatch", d)
	}
	if d := l.Pong(dawn.Add(time.Minute), ping).Dispatch; d != nil {
		t.Errorf("%s was freed twice", d.ActionID)
	}
	if counts, _ := l.Dispatched(dawn.Add(time.Minute+leaseTime), dispatchOf("r-3")); !counts {
		t.Error("the answer vouches for nothing")
	}
}

// On a slow way the server asks again before it is answered. That must not put off
// the answer.
func TestADispatchCountsInTheEndHoweverSlowTheWay(t *testing.T) {
	for _, trip := range []time.Duration{1500 * time.Millisecond, 2600 * time.Millisecond, 4 * time.Second, 8 * time.Second} {
		l := NewLease(dawn, 10*time.Second)
		answers := map[time.Time]uint64{} // when which ping is answered
		ask := func(now time.Time, ping uint64) {
			if ping != 0 {
				answers[now.Add(trip)] = ping
			}
		}
		counted := false
		for at := time.Minute; at < 2*time.Minute && !counted; at += 100 * time.Millisecond {
			now := dawn.Add(at)
			if at%(5*time.Second) == 0 {
				var ping uint64
				counted, ping = l.Dispatched(now, dispatchOf("r-1"))
				ask(now, ping)
			}
			if ping := answers[now]; ping != 0 {
				v := l.Pong(now, ping)
				ask(now, v.Ping)
				counted = counted || v.Dispatch != nil
			}
		}
		if !counted {
			t.Errorf("with a round trip of %v nothing ever counts", trip)
		}
	}
}

// A machine that sleeps may stop one of its two clocks.
func TestTheClockOnTheWallHasASayInWhatIsFresh(t *testing.T) {
	l := NewLease(time.Now(), 10*time.Second)
	asleep := time.Now().Round(0).Add(time.Hour) // no monotonic reading: an hour by the wall
	if counts, _ := l.Dispatched(asleep, dispatchOf("r-1")); counts {
		t.Error("a dispatch counts an hour later")
	}
	l = NewLease(time.Now(), 10*time.Second)
	if counts, _ := l.Dispatched(time.Now().Round(0).Add(-time.Hour), dispatchOf("r-1")); counts {
		t.Error("a dispatch counts an hour before the hello")
	}
}

// A process that is frozen between the ping and its answer wakes with both the
// dispatch and an answer that is as old.
func TestAnAnswerThatIsLateItselfVouchesForNothing(t *testing.T) {
	l := NewLease(dawn, 10*time.Second)
	_, first := l.Dispatched(dawn.Add(time.Minute), dispatchOf("r-1"))
	late := dawn.Add(2 * time.Minute)
	v := l.Pong(late, first)
	if v.Dispatch != nil || v.Ping == 0 || v.Ping == first {
		t.Fatalf("a late answer led to %+v", v)
	}
	if d := l.Pong(late.Add(2*time.Second), v.Ping).Dispatch; d == nil {
		t.Error("on a slow way nothing ever counts")
	}
	_, again := l.Dispatched(late.Add(time.Hour), dispatchOf("r-2"))
	if d := l.Pong(late.Add(2*time.Hour), again).Dispatch; d != nil {
		t.Error("a way that was slow once is never doubted again")
	}
}

func TestACancelDropsTheDispatchThatWaits(t *testing.T) {
	for _, c := range []struct {
		replay, action string
		drops          bool
	}{{"r", "", true}, {"r", "r-1", true}, {"r", "r-2", false}, {"other", "", false}} {
		l := NewLease(dawn, 10*time.Second)
		_, ping := l.Dispatched(dawn.Add(time.Minute), dispatchOf("r-1"))
		l.Cancelled(c.replay, c.action)
		d := l.Pong(dawn.Add(time.Minute), ping).Dispatch
		if dropped := d == nil; dropped != c.drops {
			t.Errorf("cancel of %q, %q: dropped %v, want %v", c.replay, c.action, dropped, c.drops)
		}
	}
}

func TestAnActionBeginsWhileTheServerHasAnsweredAMomentAgoAndElseAsksFirst(t *testing.T) {
	l := NewLease(dawn, 10*time.Second)
	if vouched, ping := l.Begins(dawn.Add(leaseTime)); !vouched || ping != 0 {
		t.Error("asked although the hello was answered")
	}
	vouched, ping := l.Begins(dawn.Add(time.Minute))
	if vouched || ping == 0 {
		t.Fatal("not asked although nothing vouches for the action")
	}
	if v := l.Pong(dawn.Add(time.Minute+leaseTime), ping); !v.Begins || v.Ping != 0 || v.Dispatch != nil {
		t.Errorf("the answer led to %+v", v)
	}
	if v := l.Pong(dawn.Add(time.Minute+leaseTime), ping); v != (Vouched{}) {
		t.Errorf("the same answer led to %+v", v)
	}
}

// Each has the patience of its own: what joins a ping has not seen the late answers that
// came before.
func TestADispatchAndABeginningShareAPingAndNotTheirPatience(t *testing.T) {
	now := dawn.Add(time.Minute)
	l := NewLease(dawn, 10*time.Second)
	_, ping := l.Dispatched(now, dispatchOf("r-1"))
	if vouched, again := l.Begins(now); vouched || again != 0 {
		t.Errorf("the beginning is vouched for: %v, and asks with %d", vouched, again)
	}
	if v := l.Pong(now, ping); v.Dispatch == nil || !v.Begins || v.Ping != 0 {
		t.Errorf("one answer led to %+v", v)
	}

	l = NewLease(dawn, 10*time.Second)
	_, first := l.Dispatched(now, dispatchOf("r-1"))
	second := l.Pong(now.Add(2*time.Second), first).Ping
	if _, again := l.Begins(now.Add(3 * time.Second)); again != 0 {
		t.Errorf("asked with %d beside an unanswered ping", again)
	}
	v := l.Pong(now.Add(4*time.Second), second)
	if v.Dispatch == nil || v.Begins || v.Ping == 0 {
		t.Fatalf("the second late answer led to %+v; it is the first of the beginning", v)
	}
	if v := l.Pong(now.Add(6*time.Second), v.Ping); !v.Begins || v.Dispatch != nil || v.Ping != 0 {
		t.Errorf("the third late answer led to %+v", v)
	}
}

// On a slow way no answer is fresh. One that was believed lasts as long as one that is.
func TestABelievedAnswerVouchesForWhatBeginsAMomentLaterAndForNoDispatch(t *testing.T) {
	now := dawn.Add(time.Minute)
	l := NewLease(dawn, 10*time.Second)
	_, first := l.Dispatched(now, dispatchOf("r-1"))
	second := l.Pong(now.Add(2*time.Second), first).Ping
	now = now.Add(4 * time.Second)
	if v := l.Pong(now, second); v.Dispatch == nil {
		t.Fatalf("the second late answer led to %+v", v)
	}
	if vouched, _ := l.Begins(now.Add(leaseTime)); !vouched {
		t.Error("the action that was just believed is doubted again")
	}
	if counts, _ := l.Dispatched(now, dispatchOf("r-2")); counts {
		t.Error("another dispatch counts, although nothing fresh vouches for it")
	}
	l.Cancelled("r", "")
	if vouched, _ := l.Begins(now.Add(leaseTime + 1)); vouched {
		t.Error("a process that stood still begins with what was believed before")
	}
}

// On a slow way the process may stand still as well. What comes much later than the answer
// before is no proof that it did not.
func TestALateAnswerThatTookMuchLongerThanTheOneBeforeVouchesForNothing(t *testing.T) {
	now := dawn.Add(time.Minute)
	l := NewLease(dawn, 10*time.Second)
	_, first := l.Begins(now)
	now = now.Add(2 * time.Second)
	second := l.Pong(now, first).Ping
	now = now.Add(25 * time.Second)
	v := l.Pong(now, second)
	if v.Begins || v.Ping == 0 {
		t.Fatalf("an answer that took 25 s after one that took 2 led to %+v", v)
	}
	if v := l.Pong(now.Add(3*time.Second), v.Ping); !v.Begins {
		t.Error("on a slow way nothing ever begins")
	}
}

func TestAnActionThatIsStoppedWaitsForNothing(t *testing.T) {
	l := NewLease(dawn, 10*time.Second)
	_, ping := l.Begins(dawn.Add(time.Minute))
	l.Stopped()
	if v := l.Pong(dawn.Add(time.Hour), ping); v != (Vouched{}) {
		t.Errorf("a late answer led to %+v", v)
	}
	if _, again := l.Begins(dawn.Add(time.Hour)); again == 0 {
		t.Error("the next action asks nobody")
	}
}

// Whatever comes in which order: what waits is let go by an answer that is fresh, or as
// slow as the one before, and until then there is always an unanswered ping, and one only.
func TestWhatWaitsIsLetGoByAnAnswerThatIsFreshOrAsSlowAsTheOneBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := dawn
		l := NewLease(dawn, 10*time.Second)
		known := dawn // said last of what was answered
		var unanswered uint64
		var asked time.Time
		const none = time.Duration(-1)
		dispatches, begins := none, none // how long the last late answer took since each waits; none: it does not
		sent := func(ping uint64) {
			if ping == 0 {
				return
			}
			if unanswered != 0 {
				t.Fatalf("ping %d beside an unanswered one", ping)
			}
			unanswered, asked = ping, now
		}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "for")))
			},
			"a dispatch comes": func(t *rapid.T) {
				counts, ping := l.Dispatched(now, dispatchOf("r-1"))
				if counts != (now.Sub(known) <= leaseTime) {
					t.Fatalf("counts: %v, %v after the server was there", counts, now.Sub(known))
				}
				sent(ping)
				if counts {
					dispatches = none
				} else {
					dispatches = max(dispatches, 0)
				}
			},
			"an action begins": func(t *rapid.T) {
				vouched, ping := l.Begins(now)
				sent(ping)
				if begins = none; !vouched {
					begins = 0
				}
			},
			"a ping is answered": func(t *rapid.T) {
				if unanswered == 0 {
					t.Skip("none is unanswered")
				}
				v := l.Pong(now, unanswered)
				unanswered = 0
				took := now.Sub(asked)
				check := func(what string, late *time.Duration, let bool) {
					believed := *late > 0 && took <= *late+leaseTime
					if want := *late != none && (took <= leaseTime || believed); let != want {
						t.Fatalf("%s after an answer that took %v, and one that took %v; let go: %v", what, *late, took, let)
					}
					switch {
					case let:
						*late = none
					case *late != none:
						*late = took
					}
				}
				check("a dispatch", &dispatches, v.Dispatch != nil)
				check("a beginning", &begins, v.Begins)
				known = asked
				sent(v.Ping)
			},
			"": func(t *rapid.T) {
				if unanswered == 0 && (dispatches >= 0 || begins >= 0) {
					t.Fatal("something waits, and nothing is asked")
				}
			},
		})
	})
}
