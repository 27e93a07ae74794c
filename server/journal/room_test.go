package journal

import (
	"fmt"
	"os"
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

// The upgrade copies no record: a disk that has room for the server has room
// for it, and it takes no longer with years of records.
func TestAnUpgradeNeedsNoRoomForTheRecords(t *testing.T) {
	var entries []replay.Entry
	for i := range 8 {
		id := fmt.Sprintf("large%d", i)
		c := created(id, "m", 1)
		c.Steps[0].Payload = make([]byte, 1<<20)
		entries = append(entries, newScript().next(t, id, c))
	}
	dir := versionOne(t, entries...)
	before := bytesIn(t, dir)
	j := open(t, Options{Dir: dir}) // its log is as large as it ever was
	if grown := bytesIn(t, dir) - before; grown > 1<<19 {
		t.Errorf("the upgrade of %d KiB took %d KiB more", before>>10, grown>>10)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if grown := bytesIn(t, dir) - before; grown > 1<<16 {
		t.Errorf("the upgrade of %d KiB leaves %d KiB more", before>>10, grown>>10)
	}
}

// bytesIn is how large the files of a directory are together.
func bytesIn(t *testing.T, dir string) (size int64) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}
