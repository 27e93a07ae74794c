package journal

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ncruces/go-sqlite3"

	"github.com/reprise-rpa/reprise/server/replay"
)

// versionOne makes a data directory as a server left it that knew the tables'
// first version only, closed, with the entries in their order.
func versionOne(t *testing.T, entries ...replay.Entry) (dir string) {
	t.Helper()
	dir = t.TempDir()
	d := database{path: filepath.Join(dir, fileName)}
	if err := d.setUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", d.writable())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p, err := migrator(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range entries {
		r, err := newRow(e)
		if err != nil {
			t.Fatal(err)
		}
		h := r.head
		exec(`INSERT INTO heads (replay_id, machine_id, workflow, request_id, request_hash, labels, unattended, state, pausing, pause_reason,
			actions, settled, end_reason, created_at, updated_at, ended_at, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (replay_id) DO UPDATE SET state = excluded.state, settled = excluded.settled, end_reason = excluded.end_reason,
			updated_at = excluded.updated_at, ended_at = excluded.ended_at, revision = excluded.revision`,
			h.ReplayID, h.MachineID, h.Workflow, h.RequestID, h.RequestHash, r.labels, h.Unattended, int(h.State), h.Pausing, h.PauseReason,
			h.Actions, h.Settled, h.EndReason, nanos(h.CreatedAt), nanos(h.UpdatedAt), endOf(h), h.Revision)
		exec(`INSERT INTO records (replay, seq, at, data) SELECT ord, ?, ?, ? FROM heads WHERE replay_id = ?`,
			r.record.Seq, nanos(r.record.At), r.data, r.record.ReplayID)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// interleaved is the lives of two replays, record by record.
func interleaved(t *testing.T) (out []replay.Entry) {
	t.Helper()
	a, b := life(t, "a", "m1"), life(t, "b", "m2")
	for i := range a {
		out = append(out, b[i], a[i])
	}
	return append(out, create(t, "live", "m1"))
}

// holds checks that a journal has exactly the entries, in their order.
func holds(t *testing.T, j *Journal, entries []replay.Entry) {
	t.Helper()
	got, through, err := j.Events(t.Context(), 0, replay.EventFilter{}, 0)
	if err != nil || through != int64(len(entries)) {
		t.Errorf("Events end at %d, %v; want %d", through, err, len(entries))
	}
	var want []replay.Positioned
	for i, e := range entries {
		want = append(want, replay.Positioned{Position: int64(i + 1), MachineID: e.Head.MachineID, Record: e.Record})
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("records differ (-want +got):\n%s", diff)
	}
}

func TestRecordsOfTheFirstVersionKeepTheirOrderAsPositions(t *testing.T) {
	entries := interleaved(t)
	dir := versionOne(t, entries...)
	for _, when := range []string{"upgraded", "opened again"} {
		j := open(t, Options{Dir: dir})
		holds(t, j, entries)
		if len(j.ID()) != 32 {
			t.Errorf("%s: the journal's id is %q", when, j.ID())
		}
		for _, e := range []replay.Entry{entries[5], entries[6]} {
			if head, err := j.Head(t.Context(), e.Head.ReplayID); err != nil || !cmp.Equal(e.Head, head) {
				t.Errorf("%s: the head of %s is %+v, %v", when, e.Head.ReplayID, head, err)
			}
		}
		next := create(t, "new, "+when, "m1")
		mustAppend(t, j, next)
		entries = append(entries, next)
		holds(t, j, entries)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if err := Verify(t.Context(), dir, io.Discard); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
}

// The position is a declared key: SQLite numbers other rows anew when it
// compacts the file, and a reader would go on at another record.
func TestPositionsSurviveThatTheFileIsCompacted(t *testing.T) {
	dir := versionOne(t, interleaved(t)...)
	j := open(t, Options{Dir: dir})
	mustAppend(t, j, life(t, "new", "m1")...)
	if err := j.delete(t.Context(), []string{"b"}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite3.Open(j.db.writable())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Exec("VACUUM"), c.Close()); err != nil {
		t.Fatal(err)
	}
	j = open(t, Options{Dir: dir})
	expectEvents(t, j, 5, replay.EventFilter{}, 10, 10, "6 a/3", "7 live/1", "8 new/1", "9 new/2", "10 new/3")
	if err := Verify(t.Context(), dir, io.Discard); err != nil {
		t.Error(err)
	}
}

// A power cut at any moment of the upgrade leaves the old tables or the new ones,
// and the next start has all that was there.
func TestAnUpgradeThatWasCutOffIsBegunAgain(t *testing.T) {
	entries := interleaved(t)
	dir := versionOne(t, entries...)
	d := newDisk(t)
	r := rand.New(rand.NewPCG(3, 4))
	var left []image
	atSync := func(synced bool) {
		if synced {
			left = append(left, d.cut())
			return
		}
		left = append(left, d.cutTorn(r))
	}
	d.atSync.Store(&atSync)
	open(t, Options{Dir: dir, VFS: d.name})
	d.atSync.Store(nil)
	if len(left) < 4 {
		t.Fatalf("the upgrade took %d syncs", len(left)/2)
	}
	for i, im := range left {
		j := open(t, Options{Dir: im.restore(t)})
		if t.Failed() {
			t.Fatalf("cut %d of %d", i, len(left))
		}
		holds(t, j, entries)
	}
}

func TestAnUpgradeCanBeTakenBack(t *testing.T) {
	entries := interleaved(t)
	dir := versionOne(t, entries...)
	j := open(t, Options{Dir: dir})
	next := create(t, "new", "m1")
	mustAppend(t, j, next)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", j.db.writable())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p, err := migrator(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DownTo(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Verify(t.Context(), dir, &out); err != nil || !strings.Contains(out.String(), "4 replays, 8 records, 0 faults") {
		t.Errorf("Verify = %v\n%s", err, out.String())
	}
	holds(t, open(t, Options{Dir: dir}), append(entries, next))
}

// A tool of this version may look at a directory before a server of this version
// has opened it.
func TestTheFirstVersionIsInspectedAsItIs(t *testing.T) {
	dir := versionOne(t, interleaved(t)...)
	var out bytes.Buffer
	if err := Verify(t.Context(), dir, &out); err != nil || !strings.Contains(out.String(), "3 replays, 7 records, 0 faults") {
		t.Errorf("Verify = %v\n%s", err, out.String())
	}
	out.Reset()
	if err := Dump(t.Context(), dir, &out); err != nil || !strings.Contains(out.String(), "position=2 replay=a seq=1") {
		t.Errorf("Dump = %v\n%s", err, out.String())
	}
}

// Records that cannot be read stay as they are: they keep nobody from the upgrade,
// and are told after it as before.
func TestAnUpgradeLeavesDamageAsItIs(t *testing.T) {
	var entries []replay.Entry
	for i := range 3 {
		s, id := newScript(), fmt.Sprintf("ended%d", i)
		c := created(id, "m", 1)
		c.Steps[0].Payload = bytes.Repeat([]byte("where to click in "+id+" "), 400)
		entries = append(entries, s.next(t, id, c), s.next(t, id, replay.Ended{State: replay.Cancelled}))
	}
	dir := versionOne(t, entries...)
	path := filepath.Join(dir, fileName)
	db, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db[pageOf(t, db, "ended1")+2000] ^= 0x10
	if err := os.WriteFile(path, db, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"before the upgrade", "after it"} {
		var out bytes.Buffer
		if err := Verify(t.Context(), dir, &out); !errors.Is(err, ErrDamaged) || !strings.Contains(out.String(), "fault: replay ended1: its records") ||
			!strings.Contains(out.String(), "3 replays, 4 records, 2 faults") {
			t.Errorf("%s: Verify = %v\n%s", when, err, out.String())
		}
		var log bytes.Buffer
		j := open(t, Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
		for i, want := range []error{nil, ErrDamaged, nil} {
			if _, err := j.Records(t.Context(), fmt.Sprintf("ended%d", i)); !errors.Is(err, want) {
				t.Errorf("%s: the records of ended%d: %v, want %v", when, i, err, want)
			}
		}
		if !strings.Contains(log.String(), "cannot be read any more: ended1") {
			t.Errorf("%s: the log does not name what is lost:\n%s", when, log.String())
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
