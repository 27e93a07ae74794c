package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/workflow"
)

// running are the flags of run.
type running struct {
	machine, requestID            string
	labels                        []string
	unattended, wait, failOnPause bool
	leaveOpen                     bool
	giveUp                        time.Duration
}

func (a *app) runCommand() *cobra.Command {
	var o running
	cmd := &cobra.Command{
		Use:   "run FILE --machine M",
		Short: "Run a workflow file on a machine and watch it",
		Long: "run uploads the pictures of a workflow file that the server does not have, creates a replay and watches it to its end.\n" +
			"The watch outlives cut connections and restarts of the server, and shows each event once. Interrupting it leaves\n" +
			"the replay running. With --leave-open the replay takes more actions with append, until close.",
		Example: "  reprisectl run examples/workflows/linux_db.yaml --machine desk-1\n" +
			"  reprisectl run nightly.yaml --machine desk-1 --unattended --label batch=7 --output json\n" +
			"  reprisectl run login.yaml --machine desk-1 --leave-open --wait=false",
		Args:              cobra.ExactArgs(1),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), args[0], o) },
		ValidArgsFunction: completeFiles,
	}
	f := cmd.Flags()
	f.StringVarP(&o.machine, "machine", "m", "", "the machine")
	f.StringArrayVarP(&o.labels, "label", "l", nil, "a label, `key=value`; wins over the workflow's; may be repeated")
	f.BoolVar(&o.unattended, "unattended", false, "nobody watches: a pause for a person without required checks is passed")
	f.BoolVar(&o.leaveOpen, "leave-open", false, "the replay takes more actions with append, and does not complete before close")
	f.StringVar(&o.requestID, "request-id", "", "the same id and file give the same replay, however often they are run; by default a new id")
	f.BoolVar(&o.wait, "wait", true, "watch the replay to its end; --wait=false returns when it is created")
	followFlags(cmd, &o.failOnPause, &o.giveUp)
	_ = cmd.MarkFlagRequired("machine") // only an unknown flag is an error
	a.completeMachines(cmd)
	return cmd
}

func (a *app) run(ctx context.Context, path string, o running) error {
	file, err := a.load(path)
	if err != nil {
		return err
	}
	req := &reprisev1.CreateReplayRequest{
		RequestId: or(o.requestID, uuid.NewString()), MachineId: o.machine, Workflow: file.Workflow, LeaveOpen: o.leaveOpen,
	}
	if req.Labels, err = parseLabels(o.labels); err != nil {
		return err
	}
	if o.unattended {
		req.Supervision = reprisev1.Supervision_SUPERVISION_UNATTENDED
	}
	return a.with(func(c *client) error {
		r, err := a.create(ctx, c, file.Pictures, req)
		if err != nil {
			return err
		}
		if err := a.created(r, req.GetRequestId()); err != nil {
			return err
		}
		if !o.wait {
			return stateOf(r)
		}
		return a.followTo(ctx, c, following{id: r.GetReplayId(), after: new(r.GetRevision()), failOnPause: o.failOnPause, giveUp: o.giveUp})
	})
}

// load reads a workflow file; whatever is wrong with it is the caller's.
func (a *app) load(path string) (workflow.File, error) {
	file, err := workflow.Load(path)
	if err != nil {
		return workflow.File{}, usage(err)
	}
	return file, nil
}

func parseLabels(pairs []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usage(fmt.Errorf("--label %q: key=value is needed", pair))
		}
		labels[key] = value
	}
	return labels, nil
}

// create uploads what is missing and creates the replay, or only has it checked.
// All of it may be repeated, so it outlives a server that restarts in the middle.
func (a *app) create(ctx context.Context, c *client, pictures []workflow.Picture, req *reprisev1.CreateReplayRequest) (*reprisev1.Replay, error) {
	if err := a.upload(ctx, c, pictures); err != nil {
		return nil, err
	}
	what := "create the replay"
	if req.GetValidateOnly() {
		what = "check the workflow"
	}
	var r *reprisev1.Replay
	err := a.insist(ctx, c, what, func(ctx context.Context) error {
		resp, err := c.replays.CreateReplay(ctx, req)
		r = resp.GetReplay()
		return err
	})
	if exitOf(err) == exitUnreachable && c.met.made.Load() && !req.GetValidateOnly() {
		_, _ = fmt.Fprintf(a.errs, "whether the replay was created is not known: run it again with --request-id %s, it is not created twice\n",
			quote(req.GetRequestId()))
	}
	return r, err
}

func (a *app) created(r *reprisev1.Replay, requestID string) error {
	if a.output == lines {
		l := replayLine(r)
		l.RequestID = requestID
		return a.emit(l)
	}
	return a.printf("created %s\n", r.GetReplayId())
}

// stateOf is the exit of a command that does not wait: what the replay's state
// says by now.
func stateOf(r *reprisev1.Replay) error {
	if exit := exitOfReplay(r); exit != exitOK {
		return &exitError{code: exit}
	}
	return nil
}

// followTo watches a replay and tells a person who interrupts how to come back.
func (a *app) followTo(ctx context.Context, c *client, f following) error {
	f.show = a.display(f.id)
	err := c.follow(ctx, f)
	if ctx.Err() != nil && a.output == plain {
		_, _ = fmt.Fprintf(a.errs, "\nthe replay goes on: %s watch %s; to end it: %[1]s cancel %[2]s\n", a.steer(), quote(f.id))
	}
	return err
}
