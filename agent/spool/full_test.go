package spool_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/reprise-rpa/reprise/agent/spool"
)

// What a full disk cut off is not on it, and what was durable is answered for.
func TestASpoolOnAFullDiskIsOpenedFromMemoryAndRewrittenLater(t *testing.T) {
	for _, torn := range []int{0, 3} {
		disk := newDisk()
		s := open(t, disk, 0)
		appendAll(t, s, result("a"))
		disk.put("spool", append(disk.content("spool"), make([]byte, torn)...))
		disk.space = 5
		again := open(t, disk, 0)
		if err := again.Broken(); !errors.Is(err, errNoSpace) {
			t.Fatalf("torn by %d: Broken = %v", torn, err)
		}
		if err := again.Append(started("b")); !errors.Is(err, spool.ErrBroken) {
			t.Errorf("torn by %d: Append = %v, want ErrBroken", torn, err)
		}
		if got := states(again.Memory()); got != "a:finished" || again.ID() != s.ID() {
			t.Errorf("torn by %d: opened as %s with %q", torn, again.ID(), got)
		}
		disk.space = -1
		if err := again.Rewrite(again.Memory()); err != nil || again.Broken() != nil {
			t.Fatalf("torn by %d: Rewrite = %v, Broken = %v", torn, err, again.Broken())
		}
		appendAll(t, again, started("b"))
		if got, want := states(open(t, disk.crash(), 0).Memory()), "b:started a:finished"; got != want {
			t.Errorf("torn by %d: after the rewrite: %s, want %s", torn, got, want)
		}
	}
}

func TestASpoolThatMayNotBeWrittenIsAnError(t *testing.T) {
	disk := newDisk()
	appendAll(t, open(t, disk, 0), result("a"))
	if _, err := spool.Open(spool.Config{FS: readOnly{disk}}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Open = %v", err)
	}
	if disk.locked {
		t.Error("the lock stayed")
	}
}

// readOnly is a directory whose files belong to somebody else.
type readOnly struct{ *disk }

func (readOnly) Append(string) (spool.File, error) { return nil, fs.ErrPermission }
