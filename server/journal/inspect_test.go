package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

// filled is a data directory with three replays, its journal still open.
func filled(t *testing.T) (string, *Journal) {
	t.Helper()
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	for _, id := range []string{"r1", "r2", "r3"} {
		mustAppend(t, j, life(t, id, "m")...)
	}
	return dir, j
}

func TestASoundJournalVerifies(t *testing.T) {
	dir, j := filled(t)
	for _, state := range []string{"held by a server", "closed", "left by a killed server"} {
		switch state {
		case "closed":
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		case "left by a killed server":
			files, _ := crash(t, 2)
			dir = files.restore(t)
		}
		var out bytes.Buffer
		if err := Verify(t.Context(), dir, &out); err != nil || !strings.Contains(out.String(), " 0 faults") {
			t.Errorf("%s: Verify = %v\n%s", state, err, out.String())
		}
	}
}

func TestVerifyNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ sql, want string }{
		"a missing record":         {`DELETE FROM records WHERE replay = 2 AND seq = 2`, "replay r2: record 3 follows 1"},
		"a missing last record":    {`DELETE FROM records WHERE replay = 2 AND seq = 3`, "replay r2: the head at record 3 is not what its records give at 2"},
		"a changed head":           {`UPDATE heads SET settled = 1 WHERE replay_id = 'r2'`, "replay r2: the head"},
		"a missing head":           {`DELETE FROM heads WHERE replay_id = 'r2'`, "replay number 2: records without a head"},
		"a missing id":             {`DELETE FROM meta`, "the journal has no id"},
		"positions that go back":   {`UPDATE records SET position = 105 WHERE replay = 2 AND seq = 2`, "replay r2: record 3 has the position 6, and the one before it 105"},
		"bytes that are no record": {`UPDATE records SET data = x'ff' WHERE replay = 2 AND seq = 2`, "replay r2: record 2: decode"},
		"a record of another":      {`UPDATE records SET data = (SELECT data FROM records WHERE replay = 1 AND seq = 2) WHERE replay = 2 AND seq = 2`, "replay r2: record 2: its row names another place"},
		"a record that cannot follow": {`UPDATE records SET data = (SELECT data FROM records WHERE replay = 2 AND seq = 3) WHERE replay = 2 AND seq = 2;
			UPDATE records SET seq = seq + 10 WHERE replay = 2`, "replay r2: record 11 follows 0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, j := filled(t)
			if err := j.write(func(w *writer) error { return w.conn.Exec(c.sql) }); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := Verify(t.Context(), dir, &out); !errors.Is(err, ErrDamaged) || !strings.Contains(out.String(), "fault: "+c.want) {
				t.Errorf("Verify = %v, want the fault %q\n%s", err, c.want, out.String())
			}
		})
	}
}

func TestVerifyTellsRecordsThatDoNotFold(t *testing.T) {
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	e := create(t, "r", "m")
	mustAppend(t, j, e)
	e.Record.Seq, e.Head.Revision = 2, 2
	e.Record.Events = []replay.Event{replay.Adopted{ActionID: "nobody's"}}
	mustAppend(t, j, e)
	var out bytes.Buffer
	if err := Verify(t.Context(), dir, &out); !errors.Is(err, ErrDamaged) || !strings.Contains(out.String(), "record 2 does not fold") {
		t.Errorf("Verify = %v\n%s", err, out.String())
	}
}

// Each page of the database has a checksum, so a flipped byte is told wherever
// it lies, and never read as something else.
func TestAFlippedByteInTheDatabaseIsTold(t *testing.T) {
	dir, j := filled(t)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(sound); at += 1531 {
		bad := bytes.Clone(sound)
		bad[at] ^= 0x10
		damaged := image{fileName: bad}.restore(t)
		if err := Verify(t.Context(), damaged, io.Discard); err == nil {
			t.Errorf("byte %d of %d flipped: Verify sees nothing", at, len(sound))
		}
	}
	j = open(t, Options{Dir: dir})
	at := bytes.LastIndex(sound, []byte("where to click"))
	sound[at] ^= 0x10 // while the server runs
	if err := os.WriteFile(filepath.Join(dir, fileName), sound, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Records(t.Context(), "r1"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Join(dir, fileName)) {
		t.Errorf("Records = %v, want %v and the file", err, ErrDamaged)
	}
}

// One damaged page is one line, and one for each replay that it hits; beside a
// running server too.
func TestVerifyTellsADamagedPageShortlyAndWhatItHits(t *testing.T) {
	db := old(t)
	db[pageOf(t, db, "ended0")+2000] ^= 0x10
	dir := image{fileName: db}.restore(t)
	for _, state := range []string{"no server", "beside a server"} {
		if state == "beside a server" {
			open(t, Options{Dir: dir})
		}
		var out bytes.Buffer
		err := Verify(t.Context(), dir, &out)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(out.String(), "fault: journal.db: 1 of its ") ||
			!strings.Contains(out.String(), "fault: replay ended0: its records cannot be read behind 0: a page's checksum is wrong") ||
			!strings.Contains(out.String(), "8 replays, ") || strings.Contains(out.String(), "sqlite3") || strings.Count(out.String(), "\n") > 5 {
			t.Errorf("%s: Verify = %v\n%s", state, err, out.String())
		}
	}
}

func TestAnEmptyFileIsToldInWords(t *testing.T) {
	dir := image{fileName: {}}.restore(t)
	var out bytes.Buffer
	if err := Verify(t.Context(), dir, &out); !errors.Is(err, ErrDamaged) || !strings.Contains(out.String(), "the file is empty") {
		t.Errorf("Verify = %v\n%s", err, out.String())
	}
	if err := Dump(t.Context(), dir, io.Discard); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "the file is empty") {
		t.Errorf("Dump = %v", err)
	}
}

func TestVerifyTellsADamagedLog(t *testing.T) {
	files, ends := crash(t, 3)
	files[fileName+"-wal"][ends[0]+50] ^= 1
	var out bytes.Buffer
	if err := Verify(t.Context(), files.restore(t), &out); !errors.Is(err, ErrDamaged) || !strings.Contains(out.String(), "truncate -s") {
		t.Errorf("Verify = %v\n%s", err, out.String())
	}
}

func TestInspectingADirectoryWithoutAJournalFailsAndMakesNone(t *testing.T) {
	dir := t.TempDir()
	if err := Verify(t.Context(), dir, io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Verify = %v", err)
	}
	if err := Dump(t.Context(), dir, io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Dump = %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the directory holds %v, %v", left, err)
	}
}

func TestDumpShowsEventsAndNoTypedText(t *testing.T) {
	const secret = "S3cr3t-needle"
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	s := newScript()
	c := created("r", "m", 1)
	c.Steps[0].Kind, c.Steps[0].Payload = "type", []byte(secret)
	c.Steps = append(c.Steps, replay.Step{Kind: "click", Payload: []byte("x")}, replay.Step{Kind: "click", Payload: []byte("y")})
	mustAppend(t, j, s.next(t, "r", c, replay.Started{}))
	action := s.r.Actions[0].ID
	mustAppend(t, j, s.next(t, "r", replay.Dispatched{ActionID: action, AttemptID: "t1", SessionID: "s1"}))
	mustAppend(t, j, s.next(t, "r",
		replay.Reported{ActionID: action, AttemptID: "t1", Outcome: replay.OutcomeNeedsHelp,
			Report: replay.Report{Code: "verify_failed", Message: "the field holds " + secret, Payload: []byte(secret)}},
		replay.PausedBy{Reason: "verify_failed", Message: "it holds " + secret, Decide: action, Gate: -1}))
	var out bytes.Buffer
	if err := Dump(t.Context(), dir, &out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), secret) {
		t.Errorf("the typed text is in the dump:\n%s", out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{
		`seq=1 machine=m created workflow=w request="request of r" unattended=false open=false labels=1 masks=0 popups=0 steps=3 kinds=type:1,click:2 actions_bytes=15`,
		`seq=1 machine=m started`,
		fmt.Sprintf(`seq=2 machine=m dispatched action=%s attempt=t1 session=s1 reason=first_delivery`, action),
		fmt.Sprintf(`seq=3 machine=m reported action=%s attempt=t1 outcome=needs_help success=false code=verify_failed`, action),
		fmt.Sprintf(`seq=3 machine=m paused_by reason=verify_failed decide=%s gate=-1 message_bytes=22`, action),
	} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], "2026-03-01T08:00:0") || !strings.Contains(lines[i], want) {
			t.Errorf("line %d is not one of %q:\n%s", i+1, want, out.String())
		}
	}
}

func TestDumpGoesOnBehindARecordThatItCannotRead(t *testing.T) {
	dir, j := filled(t)
	if err := j.write(func(w *writer) error {
		return w.conn.Exec(`UPDATE records SET data = x'ff' WHERE replay = 2 AND seq = 2`)
	}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := Dump(t.Context(), dir, &out)
	if !errors.Is(err, ErrDamaged) || !strings.Contains(out.String(), "replay=r2 seq=2 machine=m unreadable size=1") ||
		!strings.Contains(out.String(), "replay=r3 seq=3") {
		t.Errorf("Dump = %v\n%s", err, out.String())
	}
}
