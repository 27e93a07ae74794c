// Package servertest runs a whole server in memory, with agents that do what a
// script says, so that a team can test its own service against what happens in the
// field: a pause, an unknown outcome, a dead machine, a failure that is retried, a
// server that restarts. The server is the real one, journal and all, on a folder
// of its own; only the desktops are made up. Nothing listens on a port unless
// [Options].Listen says so.
//
//	func TestTheNurseIsAskedWhenTheCardIsMissing(t *testing.T) {
//		srv := servertest.Start(t, servertest.Options{})
//		desk := srv.Agent("desk-1", nil) // a registered machine; every action succeeds
//		desk.On("read the card", servertest.NeedHuman("the card is not in the reader"), servertest.Succeed())
//
//		svc := intake.New(srv.Conn()) // the service under test, as an operator
//		…
//		if diff := cmp.Diff([]string{"read the card", "open the record"}, desk.Executed()); diff != "" {
//			t.Error(diff)
//		}
//	}
//
// # Scripts
//
// An agent asks its [Script] about every action that it would execute; the answer
// is a [Reaction]:
//
//   - [Succeed], [NoEffect]: it worked, or nothing changed on the screen;
//   - [Fail], [NotFound], [SystemDialog], [NeedHuman]: a report of failure. Which of
//     them the server retries and which pause the replay is the server's to decide;
//   - [Silent]: the agent has the action and never reports it;
//   - [DesktopLocked]: the desktop takes no input until [Agent.Unlock];
//   - [UnknownOutcome]: the agent's process dies in the middle of the action, and a
//     new one comes back without knowing how it ended;
//   - [Die]: the process dies before it begins, until [Agent.Return];
//   - [DieBeforeReport]: it dies after it is done; the new one tells the result.
//
// [Reaction.After] makes an action take its time, [Reaction.Screenshots] attaches
// pictures, [Reaction.Edit] changes anything about the report. [Agent.On] gives the
// reactions of one step, by the step's own name: the first execution gets the first
// reaction, the next one the second, all others the last.
//
// What happens to an agent as a whole are its methods: [Agent.Die],
// [Agent.Disconnect], [Agent.Return], [Agent.Lock], [Agent.Unlock], [Agent.Ask],
// [Agent.Reinstall], [Agent.SetScreen].
//
// # What can be trusted
//
// An agent keeps the contract that the real one keeps. It executes an action id
// once, however often it is delivered, and answers from memory after that; its
// memory outlives its process; a result is kept until the server has acknowledged
// it; an action that began and has no result is never begun again unless its kind
// is safe to run twice. So [Agent.Executed] is what a desktop would have seen, and
// a test may count it. What it leaves out: it sees no screen, so masks are not
// applied to the pictures that a test gives it, and it forgets nothing until it is
// told to.
//
// # Time
//
// A test that waits for a deadline has two ways. It may shorten the setting:
//
//	servertest.Options{Settings: func(s *settings.Settings) { s.OfflineGrace = 200 * time.Millisecond }}
//
// Or it runs in a bubble of testing/synctest, where the 90 s of the real grace take
// no time. Then server, service and all connections must start and end inside the
// bubble; [Start] sees to its own. [Server.Await] waits for a replay's state without
// polling, in a bubble and out of it.
//
// # Restarts
//
// [Server.Stop] takes the server away in order, [Server.Crash] as a kill would, and
// [Server.Restart] brings it back on the same folder: calls fail with UNAVAILABLE
// meanwhile, streams break, agents come back by themselves, and what was acknowledged
// is still there. [Server.Conn] is the same connection all along.
package servertest
