package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-rpa/reprise/server/replay"
)

// crash gives the files of a journal as a killed server leaves them: n appends
// of two entries each are in the log, and ends[i] is the log's length after the
// i-th.
func crash(t *testing.T, n int) (files image, ends []int) {
	t.Helper()
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	for i := range n {
		mustAppend(t, j, create(t, fmt.Sprintf("a%d", i), "m"), create(t, fmt.Sprintf("b%d", i), "m"))
		files = readFiles(t, dir)
		ends = append(ends, len(files[fileName+"-wal"]))
	}
	return files, ends
}

func readFiles(t *testing.T, dir string) image {
	t.Helper()
	out := image{}
	for _, name := range []string{fileName, fileName + "-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	return out
}

// with gives the same files with another log.
func (im image) with(log []byte) image {
	return image{fileName: im[fileName], fileName + "-wal": log}
}

// entriesIn counts the entries that SQLite finds in the files, without our own
// look at the log, and complains when an append is there by half.
func entriesIn(t *testing.T, files image) int {
	t.Helper()
	var lines bytes.Buffer
	if err := Dump(t.Context(), files.restore(t), &lines); err != nil {
		t.Fatal(err)
	}
	n := bytes.Count(lines.Bytes(), []byte("\n"))
	if n%2 != 0 {
		t.Errorf("half an append is there")
	}
	return n
}

// Cut the log everywhere round the ends of frames and at odd places between:
// what was acknowledged before the cut is there, and an append as a whole.
func TestATornLogKeepsWhatWasAcknowledgedBefore(t *testing.T) {
	files, ends := crash(t, 3)
	log := files[fileName+"-wal"]
	const frame = frameHeaderSize + 4096
	cuts := []int{0, 1, walHeaderSize - 1, walHeaderSize}
	for end := ends[0]; end <= ends[2]; end += frame {
		for _, near := range []int{-1, 0, 1, 8, frameHeaderSize, frame / 2} {
			cuts = append(cuts, end+near)
		}
	}
	for _, cut := range cuts {
		if cut > len(log) {
			continue
		}
		want := 0
		for _, end := range ends {
			if end <= cut {
				want += 2
			}
		}
		if got := entriesIn(t, files.with(log[:cut])); got != want {
			t.Errorf("cut at %d of %d: %d entries, want %d", cut, len(log), got, want)
		}
		if at, bad := findDamage(log[:cut], 4096); bad {
			t.Errorf("cut at %d of %d is taken for damage at %d", cut, len(log), at)
		}
	}
}

func TestATornLogIsGoneOnFrom(t *testing.T) {
	files, ends := crash(t, 2)
	dir := files.with(files[fileName+"-wal"][:ends[1]-1]).restore(t)
	for i := range 2 {
		j := open(t, Options{Dir: dir})
		if heads, _, err := j.Heads(t.Context(), replay.Filter{}); err != nil || len(heads) != 2+i {
			t.Errorf("open %d: %d replays, %v", i, len(heads), err)
		}
		mustAppend(t, j, create(t, fmt.Sprintf("later %d", i), "m"))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A flipped byte anywhere before the last commit is told, and nothing is opened;
// the way out that the error names keeps what comes before it.
func TestAFlippedByteInTheLogIsTold(t *testing.T) {
	files, ends := crash(t, 4)
	log := files[fileName+"-wal"]
	places := []int{ends[2] - 4096, ends[2] - 1} // in the page of the last commit but one's last frame
	for at := range walHeaderSize {
		places = append(places, at)
	}
	for at := walHeaderSize; at < ends[2]-4096-frameHeaderSize; at += 499 {
		places = append(places, at)
	}
	for _, at := range places {
		bad := bytes.Clone(log)
		bad[at] ^= 1
		start, found := findDamage(bad, 4096)
		if !found || start > int64(at) || int64(at)-start > frameHeaderSize+4096 {
			t.Errorf("byte %d flipped: damage at %d, %v", at, start, found)
		}
	}
	if at, bad := findDamage(log, 4096); bad {
		t.Errorf("a whole log is taken for damaged at %d", at)
	}

	bad := bytes.Clone(log)
	bad[ends[1]+100] ^= 0x10
	dir := files.with(bad).restore(t)
	_, err := Open(t.Context(), Options{Dir: dir})
	if !errors.Is(err, ErrDamaged) {
		t.Fatalf("Open = %v, want %v", err, ErrDamaged)
	}
	if got := readFiles(t, dir); !bytes.Equal(got[fileName+"-wal"], bad) {
		t.Error("Open changed the log that it refused")
	}
	at, _ := findDamage(bad, 4096)
	if err := os.Truncate(filepath.Join(dir, fileName+"-wal"), at); err != nil {
		t.Fatal(err)
	}
	j := open(t, Options{Dir: dir})
	n := 0
	if err := j.Live(t.Context(), func(replay.Record) error { n++; return nil }); err != nil || n != 4 {
		t.Errorf("%d entries are there after the repair, %v; want 4", n, err)
	}
}

// The log is used again from its start after a checkpoint; what is left of its
// former content is no damage.
func TestALogThatStartsAgainIsNotDamaged(t *testing.T) {
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	for i := range 4 {
		mustAppend(t, j, create(t, fmt.Sprintf("before %d", i), "m"))
	}
	long := len(readFiles(t, dir)[fileName+"-wal"])
	if err := j.write(func(*writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.writer.conn.WALCheckpoint("main", 2); err != nil { // restart: the file keeps its length
		t.Fatal(err)
	}
	mustAppend(t, j, create(t, "after", "m"))
	files := readFiles(t, dir)
	log := files[fileName+"-wal"]
	if len(log) != long {
		t.Fatalf("the log has %d bytes, had %d: it did not start again", len(log), long)
	}
	for cut := range 40 {
		if at, bad := findDamage(log[:len(log)-cut*500], 4096); bad {
			t.Errorf("%d bytes off: damage at %d", cut*500, at)
		}
	}
	torn := bytes.Clone(log)
	clear(torn[walHeaderSize+2000 : walHeaderSize+5000]) // the new commit came through in part
	if at, bad := findDamage(torn, 4096); bad {
		t.Errorf("a torn commit over the former content is taken for damage at %d", at)
	}
	if n := survivors(t, files); n != 5 {
		t.Errorf("%d entries, want 5", n)
	}
}
