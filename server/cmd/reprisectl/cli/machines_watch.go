package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// fleet is the machines as the responses of a watch have told them so far.
type fleet map[string]*reprisev1.Machine

// take adds a response and returns how those that it tells of were before, nil
// for a new one, and which are gone. The first response of a stream tells all.
func (f fleet) take(resp *reprisev1.WatchMachinesResponse, first bool) (before fleet, gone []string) {
	before = fleet{}
	gone = slices.Clone(resp.GetRemovedMachineIds())
	if first {
		told := map[string]bool{}
		for _, m := range resp.GetMachines() {
			told[m.GetMachineId()] = true
		}
		for _, id := range slices.Sorted(maps.Keys(f)) {
			if !told[id] {
				gone = append(gone, id)
			}
		}
	}
	for _, m := range resp.GetMachines() {
		before[m.GetMachineId()] = f[m.GetMachineId()]
		f[m.GetMachineId()] = m
	}
	for _, id := range gone {
		delete(f, id)
	}
	return before, gone
}

// sorted are the machines by id.
func (f fleet) sorted() []*reprisev1.Machine {
	all := make([]*reprisev1.Machine, 0, len(f))
	for _, id := range slices.Sorted(maps.Keys(f)) {
		all = append(all, f[id])
	}
	return all
}

// fleetDisplay shows the machines while they are watched.
type fleetDisplay interface {
	// update shows a response; all are the machines after it.
	update(resp *reprisev1.WatchMachinesResponse, before, all fleet, gone []string) error
	// lost says that the server is away, once per absence.
	lost(err error) error
}

func (a *app) watchMachines(ctx context.Context, c *client, giveUp time.Duration) error {
	var show fleetDisplay = &fleetLines{a: a}
	if columns, rows, ok := a.env.Terminal(); a.output == lines {
		show = &fleetJSON{a: a}
	} else if ok {
		show = &fleetTable{a: a, columns: columns, rows: rows}
	}
	all := fleet{}
	return c.persist(ctx, watching{
		what: "watch the machines", giveUp: giveUp, lost: show.lost,
		once: func(ctx context.Context) (bool, error) { return c.watchMachinesOnce(ctx, all, show) },
	})
}

func (c *client) watchMachinesOnce(ctx context.Context, all fleet, show fleetDisplay) (heard bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := c.machines.WatchMachines(ctx, &reprisev1.WatchMachinesRequest{})
	if err != nil {
		return false, err
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			err = errStreamEnded
		}
		if err != nil {
			return heard, err
		}
		before, gone := all.take(resp, !heard)
		heard = true
		if err := show.update(resp, before, all, gone); err != nil {
			return heard, &exitError{exitFailure, err} // the output is closed
		}
	}
}

// fleetLines shows the table once and then a line for each machine that changes.
type fleetLines struct {
	a          *app
	told, away bool
}

func (d *fleetLines) update(resp *reprisev1.WatchMachinesResponse, before, all fleet, gone []string) error {
	if !d.told {
		d.told = true
		return d.a.printf("%s", d.a.machineTable(all.sorted()))
	}
	var b strings.Builder
	now := time.Now().In(d.a.env.Location).Format(time.TimeOnly)
	if d.away {
		d.away = false
		b.WriteString("the server is back\n")
	}
	for _, m := range resp.GetMachines() {
		if changes := d.a.changes(before[m.GetMachineId()], m); changes != "" {
			fmt.Fprintf(&b, "%s  %s  %s\n", now, m.GetMachineId(), changes)
		}
	}
	for _, id := range gone {
		fmt.Fprintf(&b, "%s  %s  gone: not registered, and no work\n", now, id)
	}
	return d.a.printf("%s", b.String())
}

// changes says what of a machine is not as it was.
func (a *app) changes(was, is *reprisev1.Machine) string {
	var all []string
	if was == nil || a.agent(was) != a.agent(is) {
		all = append(all, a.agent(is))
	}
	for _, t := range traits {
		if now := t.of(is); now != t.of(was) {
			all = append(all, t.word+" "+or(now, "-"))
		}
	}
	return strings.Join(all, "; ")
}

func (d *fleetLines) lost(err error) error {
	d.away = true
	return d.a.printf("the server is away, trying again (%s)\n", status.Convert(err).Message())
}

// fleetTable keeps a table on a terminal as things are now.
type fleetTable struct {
	a             *app
	columns, rows int
	drawn         int // how many lines stand above the cursor
}

func (d *fleetTable) update(_ *reprisev1.WatchMachinesResponse, _, all fleet, _ []string) error {
	return d.draw(strings.Split(strings.TrimRight(d.a.machineTable(all.sorted()), "\n"), "\n"))
}

// draw writes lines over those that it wrote last. What is wider or higher than
// the terminal is cut: a line that wraps could not be found again.
func (d *fleetTable) draw(text []string) error {
	var b strings.Builder
	if d.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", d.drawn)
	}
	b.WriteString("\r\x1b[J")
	if most := d.rows - 1; most > 1 && len(text) > most {
		text = append(text[:most-1:most-1], fmt.Sprintf("… and %d more", len(text)-most+1))
	}
	for _, l := range text {
		b.WriteString(clip(l, d.columns) + "\n")
	}
	d.drawn = len(text)
	_, err := io.WriteString(d.a.env.Stdout, b.String()) // clip has made the lines printable
	return err
}

func (d *fleetTable) lost(err error) error {
	d.drawn = 0 // the table stays above, as it was
	return d.a.printf("the server is away, trying again (%s)\n", status.Convert(err).Message())
}

// fleetJSON shows each machine that changes as an object.
type fleetJSON struct {
	a    *app
	away bool
}

func (d *fleetJSON) update(resp *reprisev1.WatchMachinesResponse, _, _ fleet, gone []string) error {
	if d.away {
		d.away = false
		if err := d.a.emit(line{Type: "connection", State: "back"}); err != nil {
			return err
		}
	}
	if err := d.a.emitMachines(resp.GetMachines()); err != nil {
		return err
	}
	for _, id := range gone {
		if err := d.a.emit(line{Type: "machine_gone", MachineID: id}); err != nil {
			return err
		}
	}
	return nil
}

func (d *fleetJSON) lost(err error) error {
	d.away = true
	return d.a.emit(line{Type: "connection", State: "lost", Message: status.Convert(err).Message()})
}
