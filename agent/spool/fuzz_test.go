package spool_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/spool"
)

// FuzzSpoolRow opens arbitrary bytes as a spool: as they are, or each of their lines
// as the content of a sound row, so that what is in a row is reached as well.
func FuzzSpoolRow(f *testing.F) {
	const header = `{"type":"header","version":1,"spool_id":"s"}`
	// Small, since what is found is minimised by a square of its length.
	for _, row := range []string{
		`{"type":"started","action_id":"a"}`, `{"type":"result","action_id":"a","outcome":{"code":"timeout"}}`,
		`{"type":"entry","action_id":"b","state":"finished"}`, `{"type":"opened","boot_id":"b"}`, `null`, `[]`,
	} {
		f.Add([]byte(header+"\n"+row), true)
	}
	f.Add([]byte(`{"type":"header","version":2}`), true)
	raw := append(spool.FrameForTest([]byte(header)), spool.FrameForTest([]byte(`{"type":"stopped"}`))...)
	f.Add(raw, false)
	f.Add(raw[:len(raw)-3], false)
	f.Add(append(slices.Clone(raw), 0, 0, 0), false)
	f.Fuzz(func(t *testing.T, data []byte, lines bool) {
		rows := [][]byte{data}
		if lines {
			rows = bytes.Split(data, []byte("\n"))
			for i, body := range rows {
				rows[i] = spool.FrameForTest(body)
			}
		}
		content := bytes.Join(rows, nil)
		memory, ok := opens(t, content)
		if !ok || !lines {
			return
		}
		// A last row that was cut off is torn, and no other is missing; damage with a
		// sound row behind it is not.
		last := rows[len(rows)-1]
		torn := content[:len(content)-1]
		if _, ok := opens(t, torn); !ok && len(rows) > 1 && len(last) > 0 {
			t.Fatalf("a torn end was refused; with it the spool held %q", memory)
		}
		if len(rows) > 1 {
			damaged := slices.Clone(content)
			damaged[0] ^= 1
			if _, err := spool.Open(spool.Config{FS: holding(damaged)}); !errors.Is(err, spool.ErrCorrupt) {
				t.Fatalf("a damaged first row: %v", err)
			}
		}
	})
}

func holding(content []byte) *disk {
	d := newDisk()
	d.put("spool", content)
	return d
}

// opens opens a spool of that content, twice, and returns what it holds. One that
// opens keeps what it held and what is written to it, a power cut notwithstanding;
// one that does not is left as it is.
func opens(t *testing.T, content []byte) (held string, ok bool) {
	d := holding(content)
	s, err := spool.Open(spool.Config{FS: d, BootID: "one", Keep: 1 << 20})
	if err != nil {
		if !errors.Is(err, spool.ErrCorrupt) && !strings.Contains(err.Error(), "is not known to this agent") {
			t.Fatalf("Open = %v", err)
		}
		if !bytes.Equal(d.content("spool"), content) {
			t.Fatal("a spool that can't be opened was written to")
		}
		return "", false
	}
	held = states(s.Memory())
	appendAll(t, s, started("fuzz-z"), result("fuzz-z"))
	want, id := states(s.Memory()), s.ID()
	again, err := spool.Open(spool.Config{FS: d.crash(), BootID: "two", Keep: 1 << 20})
	if err != nil {
		t.Fatalf("what was opened and written to can't be opened any more: %v", err)
	}
	if got := states(again.Memory()); got != want || again.ID() != id || !strings.Contains(got, "fuzz-z:finished") {
		t.Fatalf("it held %q, now %q", want, got)
	}
	return held, true
}
