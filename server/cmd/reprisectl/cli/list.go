package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// maxPage is the schema's limit of one page.
const maxPage = 1000

func (a *app) listCommand() *cobra.Command {
	var o listing
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List replays, the newest first",
		Long:  "list shows the replays that the server keeps, the newest first; all that the flags ask for must hold.",
		Example: "  reprisectl list --state running,paused\n  reprisectl list --machine desk-1 --label batch=7\n" +
			"  reprisectl list --since 2h --limit 500\n  reprisectl list --since 2026-03-01 --until 2026-03-02T06:00:00Z",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req, err := o.request(time.Now(), a.env.Location)
			if err != nil {
				return usage(err)
			}
			return a.with(func(c *client) error { return a.list(cmd.Context(), c, req, o.limit) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.machine, "machine", "m", "", "only replays of this machine")
	f.StringSliceVarP(&o.states, "state", "s", nil, "only replays in this state: "+strings.Join(stateNames(), ", ")+"; may be repeated")
	f.StringArrayVarP(&o.labels, "label", "l", nil, "only replays with this label, `key=value`; may be repeated")
	f.StringVar(&o.since, "since", "", "only replays created at this `time` or later: 2h or 7d ago, a date, or RFC 3339")
	f.StringVar(&o.until, "until", "", "only replays created before this `time`")
	f.IntVarP(&o.limit, "limit", "n", 50, "how many at most")
	completeFixed(cmd, "state", stateNames()...)
	a.completeMachines(cmd)
	return cmd
}

// listing are the flags of list.
type listing struct {
	machine, since, until string
	states, labels        []string
	limit                 int
}

func (o listing) request(now time.Time, where *time.Location) (*reprisev1.ListReplaysRequest, error) {
	req := &reprisev1.ListReplaysRequest{MachineId: o.machine}
	for _, s := range o.states {
		state, err := parseState(s)
		if err != nil {
			return nil, err
		}
		req.States = append(req.States, state)
	}
	var err error
	if req.Labels, err = parseLabels(o.labels); err != nil {
		return nil, err
	}
	if req.CreatedFrom, err = moment("--since", o.since, now, where); err != nil {
		return nil, err
	}
	if req.CreatedBefore, err = moment("--until", o.until, now, where); err != nil {
		return nil, err
	}
	if from, before := req.GetCreatedFrom(), req.GetCreatedBefore(); from != nil && before != nil && !from.AsTime().Before(before.AsTime()) {
		return nil, fmt.Errorf("--since %s is not before --until %s", o.since, o.until)
	}
	if o.limit < 1 {
		return nil, fmt.Errorf("--limit %d: at least 1 is needed", o.limit)
	}
	return req, nil
}

// moment reads a time as people give it: how long ago, a day, or RFC 3339. Empty
// is nil.
func moment(flag, s string, now time.Time, where *time.Location) (*timestamppb.Timestamp, error) {
	if s == "" {
		return nil, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return timestamppb.New(now.AddDate(0, 0, -int(n))), nil
		}
	}
	if ago, err := time.ParseDuration(s); err == nil && ago >= 0 {
		return timestamppb.New(now.Add(-ago)), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, where); err == nil {
			return timestamppb.New(t), nil
		}
	}
	return nil, fmt.Errorf("%s %q: how long ago (90m, 2h, 7d), a day (2026-03-01) or RFC 3339 (2026-03-01T12:00:00Z) is needed", flag, s)
}

func stateNames() []string {
	var names []string
	for n := reprisev1.ReplayState_REPLAY_STATE_QUEUED; n <= reprisev1.ReplayState_REPLAY_STATE_CANCELLED; n++ {
		names = append(names, word(n, "REPLAY_STATE_"))
	}
	return names
}

func parseState(name string) (reprisev1.ReplayState, error) {
	upper := strings.ToUpper(name)
	n, ok := reprisev1.ReplayState_value["REPLAY_STATE_"+strings.TrimPrefix(upper, "REPLAY_STATE_")]
	if !ok || n == 0 {
		return 0, fmt.Errorf("--state %q: one of %s is needed", name, strings.Join(stateNames(), ", "))
	}
	return reprisev1.ReplayState(n), nil
}

// list shows page after page, up to the limit.
func (a *app) list(ctx context.Context, c *client, req *reprisev1.ListReplaysRequest, limit int) error {
	t := newTable(a.out, "REPLAY", "MACHINE", "STATE", "SETTLED", "WORKFLOW", "CREATED")
	for limit > 0 {
		req.PageSize = int32(min(limit, maxPage))
		var page *reprisev1.ListReplaysResponse
		err := a.call(ctx, "list replays", func(ctx context.Context) (err error) {
			page, err = c.replays.ListReplays(ctx, req)
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range page.GetReplays() {
			if a.output == lines {
				if err := a.emit(replayLine(r)); err != nil {
					return err
				}
				continue
			}
			t.row(r.GetReplayId(), r.GetMachineId(), stateWord(r), fmt.Sprintf("%d/%d", r.GetSettledCount(), r.GetActionCount()),
				clip(firstLine(r.GetWorkflowName()), 40), a.when(r.GetCreatedAt()))
		}
		limit -= len(page.GetReplays())
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
	}
	if a.output == lines {
		return nil
	}
	return t.flush()
}

// when is a time for people, or a dash.
func (a *app) when(t *timestamppb.Timestamp) string {
	if t == nil {
		return "-"
	}
	return t.AsTime().In(a.env.Location).Format(time.DateTime)
}

// stamp is a time for people, to the millisecond.
func (a *app) stamp(t *timestamppb.Timestamp) string {
	if t == nil {
		return "-"
	}
	return t.AsTime().In(a.env.Location).Format("2006-01-02 15:04:05.000")
}
