package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func (a *app) eventsCommand() *cobra.Command {
	w := &eventWatch{a: a}
	var follow, fresh bool
	var giveUp time.Duration
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Print the events of all replays, and follow them",
		Long: "events prints what happened, one event a line: time, machine, replay, type, action, detail and who asked for it, in the\n" +
			"order in which it became durable. It begins with the oldest event that is kept, or after --after, and ends with the\n" +
			"newest; with --follow it goes on for ever, also over restarts of the server: nothing is missed, nothing comes twice.\n" +
			"The last line on stderr is the id to go on from; with --output json each event has its own in event.eventId.",
		Example: "  reprisectl events --machine desk-1\n  reprisectl events --follow --after ID\n" +
			"  reprisectl events --follow --new --replay r-1\n  reprisectl events --follow --output json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fresh && !follow {
				return usage(errors.New("--new needs --follow: without it nothing new is waited for"))
			}
			w.follow, w.req.FromBeginning, w.req.UntilPresent = follow, !fresh && w.req.GetAfterEventId() == "", !follow
			return a.with(func(c *client) error { return w.run(cmd.Context(), c, giveUp) })
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "go on with what happens from now on")
	f.StringVar(&w.req.AfterEventId, "after", "", "begin after the event with this `id`")
	f.BoolVar(&fresh, "new", false, "begin with the live replays as they are now and then show what happens; with --follow")
	f.StringVarP(&w.req.MachineId, "machine", "m", "", "only events of this machine")
	f.StringVarP(&w.req.ReplayId, "replay", "r", "", "only events of this replay")
	giveUpFlag(cmd, &giveUp)
	cmd.MarkFlagsMutuallyExclusive("after", "new")
	a.completeMachines(cmd)
	_ = cmd.RegisterFlagCompletionFunc("replay", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return a.completeReplays()(cmd, nil, typed) // its arguments are of no matter
	})
	return cmd
}

// eventWatch prints events and remembers how far it came.
type eventWatch struct {
	a      *app
	follow bool
	away   bool
	told   string                       // the position that was written last as an object of its own
	req    reprisev1.WatchEventsRequest // goes on from what was printed
}

func (w *eventWatch) run(ctx context.Context, c *client, giveUp time.Duration) error {
	err := c.persist(ctx, watching{
		what: "watch events", giveUp: giveUp, lost: w.lost,
		once: func(ctx context.Context) (bool, error) { return w.once(ctx, c) },
	})
	switch status.Code(err) {
	case codes.OutOfRange, codes.InvalidArgument: // the id is what is wrong
	default:
		w.position(w.req.GetAfterEventId())
	}
	return err
}

// once prints one stream, and returns nil when it came to the present and that is
// the end.
func (w *eventWatch) once(ctx context.Context, c *client) (heard bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := c.replays.WatchEvents(ctx, &w.req)
	if err != nil {
		return false, err
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			if !w.follow {
				return heard, nil
			}
			err = errStreamEnded
		}
		if err != nil {
			return heard, err
		}
		heard = true
		if err := w.show(resp); err != nil {
			return heard, &exitError{exitFailure, err} // the output is closed
		}
		if id := resp.GetResumeEventId(); id != "" {
			w.req.AfterEventId, w.req.FromBeginning = id, false
		}
	}
}

func (w *eventWatch) show(resp *reprisev1.WatchEventsResponse) error {
	if w.a.output == lines {
		return w.emit(resp)
	}
	var b strings.Builder
	if w.away {
		w.away = false
		_, _ = fmt.Fprintln(w.a.errs, "the server is back")
	}
	for _, r := range resp.GetSnapshot() {
		fmt.Fprintf(&b, "%s  %s  %s  is %s: %d of %d actions settled\n",
			w.a.stamp(r.GetUpdatedAt()), r.GetMachineId(), r.GetReplayId(), stateWord(r), r.GetSettledCount(), r.GetActionCount())
	}
	for _, e := range resp.GetEvents() {
		b.WriteString(w.a.eventLine(e))
	}
	return w.a.printf("%s", b.String())
}

// eventLine is an event for people, in one line.
func (a *app) eventLine(e *reprisev1.ReplayEvent) string {
	words := []string{a.stamp(e.GetAt()), e.GetMachineId(), e.GetReplayId(), e.GetType()}
	for _, optional := range []string{e.GetActionId(), firstLine(e.GetDetail())} {
		if optional != "" {
			words = append(words, optional)
		}
	}
	if by := firstLine(e.GetBy()); by != "" {
		words = append(words, "by "+by)
	}
	return strings.Join(words, "  ") + "\n"
}

func (w *eventWatch) emit(resp *reprisev1.WatchEventsResponse) error {
	if w.away {
		w.away = false
		if err := w.a.emit(line{Type: "connection", State: "back"}); err != nil {
			return err
		}
	}
	for _, r := range resp.GetSnapshot() {
		if err := w.a.emit(replayLine(r)); err != nil {
			return err
		}
	}
	for _, e := range resp.GetEvents() {
		if err := w.a.emit(line{Type: "event", Event: object(e)}); err != nil {
			return err
		}
	}
	if id := resp.GetResumeEventId(); len(resp.GetEvents()) == 0 && id != "" {
		w.told = id
		return w.a.emit(line{Type: "position", ResumeEventID: id})
	}
	return nil
}

// lost says on stderr that the server is away, once per absence: stdout is for
// events.
func (w *eventWatch) lost(err error) error {
	w.away = true
	if w.a.output == lines {
		return w.a.emit(line{Type: "connection", State: "lost", Message: status.Convert(err).Message()})
	}
	_, _ = fmt.Fprintf(w.a.errs, "the server is away, trying again (%s)\n", status.Convert(err).Message())
	return nil
}

// position says how to go on from here, unless that was the last that was said.
func (w *eventWatch) position(id string) {
	if id == "" || id == w.told {
		return
	}
	if w.a.output == lines {
		_ = w.a.emit(line{Type: "position", ResumeEventID: id}) // a closed output was told already
		return
	}
	_, _ = fmt.Fprintf(w.a.errs, "to go on from here: %s events --after %s\n", w.a.steer(), quote(id))
}
