package host

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/evidence"
)

// How often ended replays and pictures are looked through, and how often it is looked
// whether there are too many pictures.
const (
	forgetEvery = time.Minute
	sweepEvery  = 10 * time.Minute
	countEvery  = 10 * time.Second
)

// every runs f now and again after each interval until ctx ends, and returns its
// cause. A failure is f's to tell.
func every(ctx context.Context, interval time.Duration, f func(context.Context)) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		f(ctx)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// forget keeps ended replays for as long and as many as the settings say.
func (h *Host) forget(ctx context.Context) {
	ids, err := h.journal.Purge(ctx, time.Now().Add(-h.cfg.Settings.ReplayStateTTL), h.cfg.Settings.MaxReplayStates)
	if err != nil && ctx.Err() == nil {
		h.log.Error("ended replays cannot be forgotten", logkeys.Error, err)
	}
	if len(ids) == 0 {
		return
	}
	for _, machine := range h.fleet.Machines() {
		if err := h.fleet.Loop(machine).Post(ctx, dispatch.Forget{ReplayIDs: ids}); err != nil {
			return
		}
	}
	h.log.Info("ended replays forgotten", logkeys.Count, len(ids))
}

// keepPictures keeps pictures for as long and as many as the settings say, until ctx
// ends, and returns its cause. It looks through them now and then, and sooner when
// there are too many and more than it could not drop the last time.
func (h *Host) keepPictures(ctx context.Context) error {
	limit := int64(h.cfg.Settings.EvidenceMaxTotalBytes)
	var looked time.Time
	var left int64
	return every(ctx, countEvery, func(ctx context.Context) {
		_, bytes := h.pictures.Usage()
		if grown := bytes > max(limit, left+left/20); grown || time.Since(looked) >= sweepEvery {
			h.dropPictures(ctx)
			looked = time.Now()
			_, left = h.pictures.Usage()
			bytes = left
		}
		h.tel.PicturesKept(bytes)
	})
}

// dropPictures drops what is too old or too much. While it is not known what live
// replays need, nothing is dropped.
func (h *Host) dropPictures(ctx context.Context) {
	needed, err := h.neededPictures(ctx)
	if err == nil {
		keep := evidence.Retention{MaxAge: h.cfg.Settings.EvidenceTTL, MaxBytes: int64(h.cfg.Settings.EvidenceMaxTotalBytes)}
		var swept evidence.Swept
		swept, err = h.pictures.Sweep(ctx, keep, func(sha256 string) bool { return needed[sha256] })
		h.tel.PicturesDropped(swept.Deleted)
		if swept.Deleted > 0 {
			h.log.Info("pictures dropped", logkeys.Count, swept.Deleted, "bytes", swept.Bytes, "kept_bytes", swept.KeptBytes)
		}
	}
	if err != nil && ctx.Err() == nil {
		h.log.Error("pictures cannot be dropped", logkeys.Error, err)
	}
}

// neededPictures are the digests that live replays name: anchors, and screenshots of
// what they did so far.
func (h *Host) neededPictures(ctx context.Context) (map[string]bool, error) {
	needed := map[string]bool{}
	for _, machine := range h.fleet.Machines() {
		p, err := h.fleet.Loop(machine).Payloads(ctx)
		if err != nil {
			return nil, fmt.Errorf("machine %s: %w", machine, err)
		}
		for _, raw := range p.Actions {
			a := &reprisev1.Action{}
			if err := proto.Unmarshal(raw, a); err != nil {
				return nil, fmt.Errorf("machine %s: decode an action: %w", machine, err)
			}
			needed[a.GetTarget().GetAnchorImage().GetSha256()] = true
			needed[a.GetDrag().GetTo().GetAnchorImage().GetSha256()] = true
		}
		for _, raw := range p.Reports {
			r := &reprisev1.Report{}
			if err := proto.Unmarshal(raw, r); err != nil {
				return nil, fmt.Errorf("machine %s: decode a report: %w", machine, err)
			}
			for _, ref := range []*reprisev1.EvidenceRef{r.GetScreenshotBefore(), r.GetScreenshotAfter(), r.GetCorrection().GetCrop()} {
				needed[ref.GetSha256()] = true
			}
		}
	}
	return needed, nil
}
