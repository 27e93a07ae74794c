package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/evidence"
)

// store puts a picture of one shade into a folder of evidence that nobody has open,
// last wanted at a time, and returns its digest and path.
func store(t *testing.T, dir string, shade uint8, wanted time.Time) (digest, path string) {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 2, 2))
	img.SetGray(0, 0, color.Gray{Y: shade})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	digest = hex.EncodeToString(sum[:])
	path = filepath.Join(dir, "evidence", digest[:2], digest+".png")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, wanted, wanted); err != nil {
		t.Fatal(err)
	}
	return digest, path
}

// Old pictures go; what a live replay is still to look for stays, and goes when the
// replay has ended.
func TestOldPicturesGoButNotThoseThatLiveReplaysNeed(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config(dir, &lines{})
		c.Settings.EvidenceTTL = time.Hour
		c.Settings.ReplayStateTTL = 0
		_, unused := store(t, dir, 1, time.Now())
		anchor, needed := store(t, dir, 2, time.Now())
		h, client, ctx := serve(t, c)
		if _, err := h.Tokens().AddAgent("desk-1"); err != nil {
			t.Fatal(err)
		}
		res, err := client.CreateReplay(ctx, &reprisev1.CreateReplayRequest{MachineId: "desk-1", Workflow: &reprisev1.Workflow{
			Name: "w", Actions: []*reprisev1.Action{{
				Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Target: &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{Sha256: anchor}},
			}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		wantFiles(t, map[string]bool{unused: false, needed: true})
		if _, err := client.CancelReplay(ctx, &reprisev1.CancelReplayRequest{ReplayId: res.GetReplay().GetReplayId()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(sweepEvery + time.Second)
		wantFiles(t, map[string]bool{unused: false, needed: false})
	})
}

func wantFiles(t *testing.T, want map[string]bool) {
	t.Helper()
	for path, there := range want {
		if _, err := os.Stat(path); (err == nil) != there {
			t.Errorf("%s is there: %v, want %v", filepath.Base(path), err == nil, there)
		}
	}
}

// A replay may be created while its anchor is being looked at: what it needs stays,
// however little room there is.
func TestAnAnchorOfAReplayThatIsBeingCreatedStays(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		anchor, needed := store(t, dir, 2, time.Now().Add(-time.Hour))
		_, other := store(t, dir, 3, time.Now().Add(-time.Hour))
		h, client, ctx := serve(t, config(dir, &lines{}))
		if _, err := h.Tokens().AddAgent("desk-1"); err != nil {
			t.Fatal(err)
		}
		// dropPictures, with a replay created between its two halves.
		before, err := h.neededPictures(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CreateReplay(ctx, &reprisev1.CreateReplayRequest{MachineId: "desk-1", Workflow: &reprisev1.Workflow{
			Name: "w", Actions: []*reprisev1.Action{{
				Kind: &reprisev1.Action_Click{Click: &reprisev1.Click{}}, Target: &reprisev1.Target{AnchorImage: &reprisev1.AnchorImage{Sha256: anchor}},
			}},
		}}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.pictures.Sweep(ctx, evidence.Retention{MaxBytes: 1}, func(d string) bool { return before[d] }); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, map[string]bool{needed: true, other: false})
	})
}

// Between two looks many pictures can come: too many are noticed within seconds.
func TestTooManyPicturesAreNoticedSoon(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config(dir, &lines{})
		c.Settings.EvidenceMaxTotalBytes = 100
		h, _, _ := serve(t, c)
		time.Sleep(time.Second)
		var stored []string
		for shade := range uint8(4) {
			d, p := store(t, t.TempDir(), shade, time.Now())
			content, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			u, err := h.pictures.Begin(t.Context(), d, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := u.Write(content); err != nil {
				t.Fatal(err)
			}
			if _, err := u.Commit(); err != nil {
				t.Fatal(err)
			}
			place := filepath.Join(dir, "evidence", d[:2], d+".png")
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(place, old, old); err != nil {
				t.Fatal(err)
			}
			stored = append(stored, place)
		}
		time.Sleep(countEvery + time.Second)
		gone := 0
		for _, place := range stored {
			if _, err := os.Stat(place); err != nil {
				gone++
			}
		}
		if gone < 3 {
			t.Errorf("%d of %d pictures of about 70 bytes are gone, with room for 100", gone, len(stored))
		}
	})
}
