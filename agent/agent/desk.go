package agent

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/execute"
	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/agent/mask"
	"github.com/reprise-rpa/reprise/agent/runner"
	"github.com/reprise-rpa/reprise/agent/work"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// desktopInterval is how often the desktop's state is looked at.
const desktopInterval = time.Second

// desk is what the server is told of the desktop. An agent that cannot keep its
// journal makes it as unusable as a lock does.
type desk struct {
	executor *execute.Executor
	driver   driver.Driver
	runner   *runner.Runner
	masks    []work.Mask // of the machine
	restless []work.Mask
}

func (d desk) Desktop(ctx context.Context) desktop.State {
	if why := d.runner.Impaired(); why != nil {
		return desktop.State{Kind: desktop.AgentImpaired, Detail: "the agent cannot keep its journal: " + why.Error()}
	}
	return d.executor.Desktop(ctx)
}

func (d desk) Monitors(ctx context.Context) ([]driver.Monitor, error) { return d.driver.Monitors(ctx) }

// watchDesktop looks at the desktop's state, again and again, until ctx ends. It
// tells the server, and the log when the kind of state changes.
func watchDesktop(ctx context.Context, eyes desk, connection *link.Link, log *slog.Logger) {
	placed := false
	ticker := time.NewTicker(desktopInterval)
	defer ticker.Stop()
	last := desktop.Active
	for {
		state := eyes.Desktop(ctx)
		if ctx.Err() != nil {
			return
		}
		connection.TellDesktop(state)
		placed = placed || state.Usable() && eyes.checkPlaces(ctx, log)
		if state.Kind != last {
			last = state.Kind
			logDesktop(log, state)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// checkPlaces warns of rectangles on monitors that are not there. It is asked once the
// desktop is there, and says whether the monitors are known.
func (d desk) checkPlaces(ctx context.Context, log *slog.Logger) bool {
	monitors, err := d.Monitors(ctx)
	if err != nil || len(monitors) == 0 {
		return false
	}
	warn := func(rectangles []work.Mask, what string) {
		for _, m := range rectangles {
			there := slices.ContainsFunc(monitors, func(one driver.Monitor) bool { return one.Index == m.Monitor })
			if !there {
				log.Warn(what, logkeys.Detail, mask.Format([]work.Mask{m}), logkeys.Count, len(monitors))
			}
		}
	}
	warn(d.masks, "a mask is on a monitor that is not there: pictures are black until it is")
	warn(d.restless, "a restless rectangle is on a monitor that is not there, and counts for nothing")
	return true
}

func logDesktop(log *slog.Logger, state desktop.State) {
	if state.Usable() {
		log.Info("the desktop takes input again")
		return
	}
	log.Warn("the desktop takes no input; nothing is executed", logkeys.State, state.Kind, logkeys.Detail, state.Detail)
}
