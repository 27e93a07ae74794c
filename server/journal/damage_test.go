package journal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/server/replay"
)

// old is the content of a closed journal with six ended replays, two live ones
// and room for more; every record fills pages of its own.
func old(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	j := open(t, Options{Dir: dir})
	large := func(id string) replay.Created {
		c := created(id, "m", 1)
		c.Steps[0].Payload = bytes.Repeat([]byte("where to click in "+id+" "), 400)
		return c
	}
	for i := range 8 {
		s := newScript()
		id := fmt.Sprintf("ended%d", i)
		mustAppend(t, j, s.next(t, id, large(id)), s.next(t, id, replay.Ended{State: replay.Cancelled}))
	}
	for _, id := range []string{"live0", "live1"} {
		mustAppend(t, j, newScript().next(t, id, large(id)))
	}
	if err := j.delete(t.Context(), []string{"ended3", "ended4"}); err != nil { // free pages in between
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// pageOf returns where in the content of old a page lies that holds nothing but a
// part of that replay.
func pageOf(t *testing.T, db []byte, id string) int {
	t.Helper()
	const pageSize = 4096
	for at := 0; at < len(db); at += pageSize {
		if bytes.Count(db[at:at+pageSize], []byte("where to click in "+id)) > pageSize/2/len("where to click in ended0 ") {
			return at
		}
	}
	t.Fatalf("no page is of %s alone", id)
	return 0
}

// Whatever page is hit, the journal stays closed or says what is lost; and one
// that opens takes records, gives back the live replays and forgets old ones.
func TestDamageIsToldAtOpeningAndLiveReplaysGoOn(t *testing.T) {
	const pageSize = 4096
	db := old(t)
	for how, spoil := range map[string]func([]byte){
		"a flipped bit": func(page []byte) { page[len(page)/2] ^= 0x10 },
		"zeros":         func(page []byte) { clear(page) },
	} {
		met := map[string]int{}
		for at := 0; at < len(db); at += pageSize {
			bad := bytes.Clone(db)
			spoil(bad[at : at+pageSize])
			if !bytes.Equal(bad, db) { // a free page holds zeros
				met[openDamaged(t, bad)]++
			}
		}
		for _, kind := range []string{"live replays", "shared", "ended replays", "unused"} {
			if met[kind] == 0 && (how != "zeros" || kind != "unused") {
				t.Errorf("%s: no page was one of %s: %v", how, kind, met)
			}
		}
	}
}

// openDamaged opens a journal with that database and returns what the damage
// hits, by the journal's own words.
func openDamaged(t *testing.T, db []byte) string {
	t.Helper()
	dir := image{fileName: db}.restore(t)
	var log bytes.Buffer
	j, err := Open(t.Context(), Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil)), synchronous: "OFF"})
	if err != nil {
		return kindOf(t, dir, err)
	}
	kind := namedIn(t, log.String())
	carriesOn(t, j)
	return kind
}

// kindOf says what a refusal names, after checking that it helps.
func kindOf(t *testing.T, dir string, err error) string {
	t.Helper()
	text := err.Error()
	if !errors.Is(err, ErrDamaged) || !strings.Contains(text, filepath.Join(dir, fileName)) || !strings.Contains(text, "put back a copy") {
		t.Errorf("Open = %v: it does not say which file, or what next", err)
	}
	if strings.Contains(text, "sqlite3") {
		t.Errorf("Open = %v: the engine speaks", err)
	}
	if strings.Contains(text, "live replays cannot be read: live") {
		return "live replays"
	}
	return "shared"
}

func namedIn(t *testing.T, log string) string {
	t.Helper()
	switch {
	case strings.Contains(log, "level=ERROR") && strings.Contains(log, "cannot be read any more: ended"):
		return "ended replays"
	case strings.Contains(log, "level=ERROR") && strings.Contains(log, "not in use"):
		return "unused"
	}
	t.Errorf("the log does not say what is hit:\n%s", log)
	return ""
}

// carriesOn does with an opened journal what a server does.
func carriesOn(t *testing.T, j *Journal) {
	t.Helper()
	var live []string
	err := j.Live(t.Context(), func(r replay.Record) error { live = append(live, r.ReplayID); return nil })
	if err != nil || !slices.Equal(live, []string{"live0", "live1"}) {
		t.Errorf("Live = %v, %v", live, err)
	}
	c := created("new", "m", 1)
	c.Steps[0].Payload = make([]byte, 50_000) // takes all free pages
	mustAppend(t, j, newScript().next(t, "new", c))
	ids, err := j.Purge(t.Context(), start.Add(time.Hour), 0)
	if err != nil || len(ids) == 0 {
		t.Errorf("Purge = %v, %v: what is whole was not deleted", ids, err)
	}
	if again, err := j.Purge(t.Context(), start.Add(time.Hour), 0); err != nil || len(again) != 0 {
		t.Errorf("a second Purge = %v, %v: what is damaged was tried again", again, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A very large database is not read as a whole at a start, and the log says so.
func TestAStartOfALargeJournalIsNotHeldUp(t *testing.T) {
	db := old(t)
	db[pageOf(t, db, "ended0")+2000] ^= 0x10
	dir := image{fileName: db}.restore(t)
	if err := os.Truncate(filepath.Join(dir, fileName), scanMost+4096); err != nil { // a hole takes no room
		t.Fatal(err)
	}
	var log bytes.Buffer
	j := open(t, Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "journal verify") {
		t.Errorf("the log says nothing of it:\n%s", log.String())
	}
	if _, err := j.Records(t.Context(), "ended0"); !errors.Is(err, ErrDamaged) {
		t.Errorf("Records = %v, want %v", err, ErrDamaged)
	}
}

func TestAnEmptyFileIsNoFirstStart(t *testing.T) {
	db := old(t)
	for name, files := range map[string]image{
		"an empty database":           {fileName: {}},
		"an empty database and a log": {fileName: {}, fileName + "-wal": []byte("something")},
		"a log alone":                 {fileName + "-wal": []byte("something")},
		"no database":                 {fileName: []byte("something else, and longer than a header")},
		"a database that was cut off": {fileName: db[:4096*5+100]},
	} {
		dir := files.restore(t)
		_, err := Open(t.Context(), Options{Dir: dir})
		if err == nil {
			t.Errorf("%s: opened", name)
			continue
		}
		kindOf(t, dir, err)
		for file, was := range files {
			if is, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(is, was) {
				t.Errorf("%s: Open changed %s", name, file)
			}
		}
	}
}

// What a first start leaves when it is killed is no journal yet, and no damage.
func TestAFirstStartThatWasCutOffIsBegunAgain(t *testing.T) {
	dir := image{fileName + ".new": []byte("half"), fileName + ".new-wal": {}}.restore(t)
	j := open(t, Options{Dir: dir})
	mustAppend(t, j, create(t, "r", "m"))
	if left, err := filepath.Glob(filepath.Join(dir, "*.new*")); err != nil || len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
