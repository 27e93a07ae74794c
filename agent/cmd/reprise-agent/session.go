package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/helper"
	"github.com/reprise-rpa/reprise/agent/supervise"
	"github.com/reprise-rpa/reprise/internal/faultpoint"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

// errClosed ends the supervision when the agent has ended.
var errClosed = errors.New("the agent ends")

// sessionDesktop is the desktop of the user who is logged on, through helpers.
type sessionDesktop struct {
	*helper.Desktop
	stop       context.CancelCauseFunc
	supervised sync.WaitGroup
}

// openSession begins to keep a helper where the desktop is, until Close: when ctx ends the
// agent still has to let go of keys. It does not wait for a helper.
func openSession(ctx context.Context, s settings, changed <-chan struct{}, log *slog.Logger) (openedDesktop, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("driver session: where this program is: %w", err)
	}
	command := []string{program, helperCommandName}
	if points := faultpoint.Handed(); points != "" { // a helper has its user's environment
		command = append(command, "--"+faultPointsFlag, points)
	}
	machine, err := supervise.NewMachine(command)
	if err != nil {
		return nil, fmt.Errorf("driver session: %w", err)
	}
	d := &sessionDesktop{Desktop: helper.New(helper.Config{Settings: s.inSession(), Log: log})}
	supervisor, err := supervise.New(supervise.Config{Machine: machine, Desk: d.Desktop, User: s.User, Changed: changed, Log: log})
	if err != nil {
		return nil, fmt.Errorf("driver session: %w", err)
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	d.stop = stop
	d.supervised.Go(func() {
		if err := supervisor.Run(ctx); errors.Is(err, supervise.ErrNotEnded) { // else it ended as it should
			log.Error("the helper is left behind", logkeys.Error, err)
		}
	})
	return d, nil
}

// lettingGo is how long a gesture waits for the next helper when its own has died: that
// one lets go of what is still down, and the person who is asked next has a keyboard.
const lettingGo = 4 * time.Second

// Do performs one gesture.
func (d *sessionDesktop) Do(ctx context.Context, in driver.Input) error {
	err := d.Desktop.Do(ctx, in)
	if errors.Is(err, helper.ErrEnded) && !driver.NothingSent(err) {
		wait, done := context.WithTimeout(ctx, lettingGo)
		defer done()
		_ = d.Await(wait) // it has its bound, and err is what counts
	}
	return err
}

// Close ends the helper in order.
func (d *sessionDesktop) Close() error {
	d.stop(errClosed)
	d.supervised.Wait()
	return d.Desktop.Close()
}

// inSession is what of the settings concerns the session of the user.
func (s settings) inSession() helper.Settings {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // it is one of those that can be set
	language := s.Language
	if language == languageOfUser {
		language = ""
	}
	return helper.Settings{
		TypeMode: s.TypeMode, TypePace: s.TypePace, RestoreClipboard: s.RestoreClipboard,
		MinDisplay: image.Pt(s.MinDisplay.Width, s.MinDisplay.Height), LogLevel: level,
		StopKey: s.StopKey, OwnInput: s.OwnInput, Language: language,
	}
}

// helperCommandName is the command that the agent starts in the session of a user.
const helperCommandName = "helper"

// faultPointsFlag hands fault points on, in builds that have them.
const faultPointsFlag = "fault-points"

func helperCommand() *cobra.Command {
	var points string
	cmd := &cobra.Command{
		Use: helperCommandName, Hidden: true, Args: cobra.NoArgs,
		Short: "Hands and eyes in the session of a user; the agent starts it, nobody else does",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if points != "" {
				if err := faultpoint.Take(points); err != nil {
					return err
				}
			}
			conn, secret, err := supervise.Dial(cmd.Context(), cmd.InOrStdin())
			if err != nil {
				return err
			}
			lines := helper.NewLog()
			return helper.Serve(cmd.Context(), conn, helper.ServerConfig{
				Secret: secret, Log: lines,
				Open: func(_ context.Context, s helper.Settings) (driver.Driver, error) {
					return openInSession(s, lines.Logger())
				},
			})
		},
	}
	if faultpoint.Enabled {
		cmd.Flags().StringVar(&points, faultPointsFlag, "", "Where to stop, and whom to tell; for tests.")
	}
	return cmd
}
