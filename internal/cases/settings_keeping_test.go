package cases

import (
	"fmt"
	"time"

	"google.golang.org/grpc/status"

	"github.com/reprise-rpa/reprise/agent/agent"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

var keepingEffects = []effect{
	{
		setting: "replay-state-ttl", other: "10m",
		play: func(s *scenario) any {
			w := s.world()
			id := w.create(1)
			w.completed(id)
			time.Sleep(15 * time.Minute)
			_, err := w.replays.GetReplay(w.ctx, &reprisev1.GetReplayRequest{ReplayId: id})
			return status.Code(err)
		},
		byDef: "OK", changed: "NotFound",
	},
	{
		setting: "max-replay-states", other: "1",
		play: func(s *scenario) any {
			w := s.world()
			for range 3 {
				w.completed(w.create(1))
			}
			time.Sleep(2 * time.Minute)
			res, err := w.replays.ListReplays(w.ctx, &reprisev1.ListReplaysRequest{})
			w.must(err)
			return fmt.Sprintf("%d replays", len(res.GetReplays()))
		},
		byDef: "3 replays", changed: "1 replays",
	},
	{
		setting: "evidence-ttl", other: "1m",
		play: func(s *scenario) any {
			w := s.world()
			shots := w.screenshots(1)
			time.Sleep(15 * time.Minute)
			return fmt.Sprintf("%d of %d are missing", w.missing(shots), len(shots))
		},
		byDef: "0 of 2 are missing", changed: "2 of 2 are missing",
	},
	{
		// Each picture is larger than that.
		setting: "evidence-max-total-bytes", other: "1048576",
		play: func(s *scenario) any {
			w := s.world()
			w.desktop.noise = true
			shots := w.screenshots(1)
			time.Sleep(15 * time.Minute)
			return fmt.Sprintf("%d of %d are missing", w.missing(shots), len(shots))
		},
		byDef: "0 of 2 are missing", changed: "2 of 2 are missing",
	},
	{
		setting: "evidence-max-bytes", other: "5000",
		play: func(s *scenario) any {
			w := s.world()
			w.desktop.noise = true // no shrinking makes a picture of it so small
			w.completed(w.create(1))
			time.Sleep(10 * time.Second)
			ref := w.relay.reports()[0].GetScreenshotAfter()
			return fmt.Sprintf("%d missing, with a note: %v", w.missing([]string{ref.GetSha256()}), ref.GetNote() != "")
		},
		byDef: "0 missing, with a note: false", changed: "1 missing, with a note: true",
	},
	{
		setting: "max-waiting-pictures-bytes", agent: func(c *agent.Config) { c.MaxWaiting = 1 << 20 },
		play: func(s *scenario) any {
			w := s.world()
			w.desktop.noise = true
			w.relay.cutUploads(1_000_000)
			w.completed(w.create(3))
			w.relay.cutUploads(0)
			time.Sleep(10 * time.Minute)
			var shots []string
			for _, r := range w.relay.reports() {
				shots = append(shots, r.GetScreenshotBefore().GetSha256(), r.GetScreenshotAfter().GetSha256())
			}
			return fmt.Sprintf("some are lost: %v", w.missing(shots) > 0)
		},
		byDef: "some are lost: false", changed: "some are lost: true",
	},
}

// screenshots runs n clicks and returns the digests of their pictures, once the
// server has them all.
func (w *world) screenshots(n int) []string {
	w.t.Helper()
	w.completed(w.create(n))
	var shots []string
	for _, r := range w.relay.reports() {
		for _, ref := range []*reprisev1.EvidenceRef{r.GetScreenshotBefore(), r.GetScreenshotAfter()} {
			w.picture(ref)
			shots = append(shots, ref.GetSha256())
		}
	}
	return shots
}

// missing says how many of the pictures the server does not have.
func (w *world) missing(shots []string) int {
	w.t.Helper()
	n := 0
	for _, digest := range shots {
		res, err := w.evidence.FindMissing(w.ctx, &reprisev1.FindMissingRequest{Sha256: []string{digest}})
		w.must(err)
		n += len(res.GetSha256())
	}
	return n
}
