package spool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/spool"
	"github.com/reprise-rpa/reprise/agent/work"
)

func ref(id string) work.Ref { return work.Ref{ReplayID: "r", ActionID: id, AttemptID: id + "/1"} }

func started(id string) spool.Record {
	return spool.Record{Type: spool.TypeStarted, Ref: ref(id), SessionID: "s"}
}

func result(id string) spool.Record {
	outcome := work.Outcome{Completion: work.Completed, Effect: work.Seen, Message: "of " + id}
	return spool.Record{Type: spool.TypeResult, Ref: ref(id), SessionID: "s", Outcome: &outcome}
}

func about(t spool.Type, id string) spool.Record { return spool.Record{Type: t, Ref: ref(id)} }

func open(t *testing.T, fs spool.FS, keep int) *spool.Spool {
	t.Helper()
	s, err := spool.Open(spool.Config{FS: fs, BootID: "boot", Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func appendAll(t *testing.T, s *spool.Spool, records ...spool.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
}

// states describes a memory as "id:state" in order.
func states(m *spool.Memory) string {
	var all []string
	for _, state := range []spool.State{spool.Started, spool.Finished, spool.Acknowledged, spool.Closed} {
		for _, e := range m.In(state) {
			all = append(all, e.ActionID+":"+string(state))
		}
	}
	return strings.Join(all, " ")
}

func TestWhatWasWrittenIsThereAfterARestart(t *testing.T) {
	dir, err := spool.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first := open(t, dir, 0)
	appendAll(t, first, started("a"), result("a"), started("b"), result("b"), about(spool.TypeAcknowledged, "a"),
		started("c"), started("d"), about(spool.TypeClosed, "d"), started("e"), about(spool.TypeWithdrawn, "e"))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, dir, 0)
	defer func() { _ = second.Close() }()
	if got, want := states(second.Memory()), "c:started b:finished a:acknowledged d:closed"; got != want {
		t.Errorf("recovered %s, want %s", got, want)
	}
	entry, _ := second.Memory().Get("b")
	if diff := cmp.Diff(*result("b").Outcome, entry.Outcome); diff != "" {
		t.Errorf("the result changed:\n%s", diff)
	}
	if first.ID() == "" || first.ID() != second.ID() {
		t.Errorf("the id changed from %q to %q", first.ID(), second.ID())
	}
	if second.LastExit() != "" {
		t.Errorf("an orderly stop was taken for a crash: %s", second.LastExit())
	}
}

func TestAProcessThatDidNotStopInOrderIsNamed(t *testing.T) {
	disk := newDisk()
	open(t, disk, 0)
	if got := open(t, disk.crash(), 0).LastExit(); !strings.Contains(got, "boot did not stop") {
		t.Errorf("last exit %q", got)
	}
}

func TestASpoolInUseCanBeInspected(t *testing.T) {
	path := t.TempDir()
	dir, err := spool.Dir(path)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, 0)
	defer func() { _ = s.Close() }()
	appendAll(t, s, started("a"))
	memory, err := spool.Inspect(path)
	if err != nil || states(memory) != "a:started" {
		t.Errorf("Inspect = %v, %v", memory, err)
	}
	if _, err := spool.Inspect(t.TempDir()); err == nil {
		t.Error("an empty directory was inspected")
	}
}

func TestTwoAgentsCannotShareASpool(t *testing.T) {
	dir, err := spool.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first := open(t, dir, 0)
	if _, err := spool.Open(spool.Config{FS: dir}); !errors.Is(err, spool.ErrLocked) {
		t.Fatalf("the second agent got %v, want ErrLocked", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, 0).Close(); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
}

func TestCutAtEveryByteNoDurableRecordIsLost(t *testing.T) {
	disk := newDisk()
	s := open(t, disk, 0)
	type mark struct {
		end    int
		states string
	}
	marks := []mark{{disk.size("spool"), states(s.Memory())}}
	for _, r := range []spool.Record{started("a"), result("a"), about(spool.TypeAcknowledged, "a"), started("b"), result("b"), started("c")} {
		appendAll(t, s, r)
		marks = append(marks, mark{disk.size("spool"), states(s.Memory())})
	}
	whole := disk.content("spool")
	for cut := marks[0].end; cut <= len(whole); cut++ {
		want := ""
		for _, m := range marks {
			if m.end <= cut {
				want = m.states
			}
		}
		torn := newDisk()
		torn.put("spool", whole[:cut])
		recovered := open(t, torn, 0)
		if got := states(recovered.Memory()); got != want {
			t.Fatalf("cut at %d: %q, want %q", cut, got, want)
		}
		appendAll(t, recovered, started("z")) // what is written next is not behind garbage
		if got := states(open(t, torn.crash(), 0).Memory()); !strings.Contains(got, "z:started") {
			t.Fatalf("cut at %d: what was written after it is lost: %s", cut, got)
		}
	}
}

func TestATornEndOfZeroesIsCutOff(t *testing.T) {
	disk := newDisk()
	appendAll(t, open(t, disk, 0), started("a"))
	torn := newDisk()
	torn.put("spool", append(disk.content("spool"), make([]byte, 4096)...))
	if got := states(open(t, torn, 0).Memory()); got != "a:started" {
		t.Errorf("recovered %q", got)
	}
}

func TestDamageBeforeTheLastRecordIsRefusedAtEveryByte(t *testing.T) {
	disk := newDisk()
	s := open(t, disk, 0)
	appendAll(t, s, started("a"), result("a"))
	damagedBefore := disk.size("spool")
	appendAll(t, s, started("b"))
	whole := disk.content("spool")
	for at := range damagedBefore {
		bad := newDisk()
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= 0x10
		bad.put("spool", flipped)
		if _, err := spool.Open(spool.Config{FS: bad}); !errors.Is(err, spool.ErrCorrupt) || !strings.Contains(err.Error(), "offset") {
			t.Fatalf("byte %d flipped: %v, want ErrCorrupt with an offset", at, err)
		}
	}
}

func TestAPowerCutKeepsEveryRecordThatAppendReturnedFor(t *testing.T) {
	disk := newDisk()
	s := open(t, disk, 2) // compacts after 16 records
	for i := range 60 {
		id := fmt.Sprintf("a%02d", i)
		appendAll(t, s, started(id))
		if got := states(open(t, disk.crash(), 2).Memory()); !strings.Contains(got, id+":started") {
			t.Fatalf("%s started is lost; kept %s", id, got)
		}
		appendAll(t, s, result(id))
		if got := states(open(t, disk.crash(), 2).Memory()); !strings.Contains(got, id+":finished") {
			t.Fatalf("%s finished is lost; kept %s", id, got)
		}
		appendAll(t, s, about(spool.TypeAcknowledged, id))
	}
}

func TestCompactionKeepsTheFileSmallAndNeverEvictsWhatIsOpen(t *testing.T) {
	disk := newDisk()
	s := open(t, disk, 4)
	appendAll(t, s, started("unfinished"), started("unacknowledged"), result("unacknowledged"))
	largest := 0
	for i := range 500 {
		id := fmt.Sprintf("a%03d", i)
		appendAll(t, s, started(id), result(id), about(spool.TypeAcknowledged, id))
		largest = max(largest, disk.size("spool"))
	}
	if largest > 16<<10 {
		t.Errorf("the file grew to %d bytes", largest)
	}
	got := states(open(t, disk.crash(), 4).Memory())
	for _, want := range []string{"unfinished:started", "unacknowledged:finished", "a499:"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is gone; kept %s", want, got)
		}
	}
}

func TestAfterOneFailedWriteNothingIsWrittenUntilItIsRewritten(t *testing.T) {
	disk := newDisk()
	s := open(t, disk, 0)
	appendAll(t, s, started("a"))
	disk.space = 5 // the next record is written in part
	if err := s.Append(result("a")); !errors.Is(err, errNoSpace) || !errors.Is(err, spool.ErrBroken) {
		t.Fatalf("on a full disk: %v", err)
	}
	disk.space = 1 << 20
	if err := s.Append(started("b")); !errors.Is(err, spool.ErrBroken) {
		t.Fatalf("after a failure: %v, want ErrBroken", err)
	}
	memory := s.Memory()
	memory.Apply(result("a")) // known to the agent, not to the disk
	if err := s.Rewrite(memory); err != nil {
		t.Fatal(err)
	}
	appendAll(t, s, started("b"))
	if got, want := states(open(t, disk.crash(), 0).Memory()), "b:started a:finished"; got != want {
		t.Errorf("after the rewrite: %s, want %s", got, want)
	}
}

func TestAFailureAtAnyStepOfARewriteLosesNothing(t *testing.T) {
	for step := 1; ; step++ {
		disk := newDisk()
		s := open(t, disk, 0)
		appendAll(t, s, started("a"), result("a"))
		disk.failAt = disk.steps + step
		err := s.Rewrite(s.Memory())
		if got := states(open(t, disk.crash(), 0).Memory()); got != "a:finished" {
			t.Fatalf("failure at step %d: kept %q", step, got)
		}
		if err == nil {
			if step < 5 {
				t.Errorf("only %d steps could fail", step)
			}
			return
		}
		if err := s.Rewrite(s.Memory()); err != nil {
			t.Fatalf("failure at step %d: a second rewrite: %v", step, err)
		}
		appendAll(t, s, started("b"))
	}
}

func TestASpoolThatCannotBeMadeIsAnError(t *testing.T) {
	disk := newDisk()
	disk.space = 0
	if _, err := spool.Open(spool.Config{FS: disk}); !errors.Is(err, errNoSpace) {
		t.Errorf("Open = %v", err)
	}
	if disk.locked {
		t.Error("the lock stayed")
	}
}

func TestAnUnknownVersionIsRefused(t *testing.T) {
	newer := newDisk()
	newer.put("spool", spool.EncodeForTest(t, spool.Record{Type: spool.TypeHeader, Version: 2, SpoolID: "x"}))
	if _, err := spool.Open(spool.Config{FS: newer}); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("Open = %v", err)
	}
}

func TestAStartThatIsWrittenAfterTheResultChangesNothing(t *testing.T) {
	disk := newDisk()
	appendAll(t, open(t, disk, 0), result("a"), started("a"))
	if got := states(open(t, disk.crash(), 0).Memory()); got != "a:finished" {
		t.Errorf("recovered %s", got)
	}
}

func TestAClosedSpoolRefuses(t *testing.T) {
	s := open(t, newDisk(), 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(started("a")); !errors.Is(err, spool.ErrClosed) {
		t.Errorf("Append = %v", err)
	}
	if err := s.Rewrite(spool.NewMemory()); !errors.Is(err, spool.ErrClosed) {
		t.Errorf("Rewrite = %v", err)
	}
}
