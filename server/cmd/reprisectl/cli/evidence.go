package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/cmd/reprisectl/album"
)

// collecting is one run of `get --evidence`.
type collecting struct {
	a       *app
	c       *client
	folder  album.Folder
	have    map[string]string // the file in the folder that holds a digest
	gone    map[string]string // why a digest is not there
	fetched int
}

// collect puts a replay and the pictures that its reports name into a folder. What
// is there already is not fetched again.
func (a *app) collect(ctx context.Context, c *client, id, dir string) error {
	r, err := a.get(ctx, c, id)
	if err != nil {
		return err
	}
	folder, err := album.Open(dir, r.GetReplayId())
	if errors.Is(err, album.ErrTaken) {
		return usage(fmt.Errorf("--evidence: %w", err))
	}
	if err != nil {
		return fmt.Errorf("--evidence: %w", err)
	}
	if err := folder.Put(album.ReplayFile, func(w io.Writer) error { return writeReplay(w, r) }); err != nil {
		return err
	}
	pictures := album.Plan(r.GetActions())
	run := &collecting{a: a, c: c, folder: folder, have: map[string]string{}, gone: map[string]string{}}
	for i := range pictures {
		if err := run.picture(ctx, &pictures[i]); err != nil {
			return err
		}
	}
	if err := folder.PutIndex(album.Index{ReplayID: r.GetReplayId(), Pictures: pictures}); err != nil {
		return err
	}
	return a.collected(r, dir, pictures, run.fetched)
}

// writeReplay writes a replay as JSON that people can read too.
func writeReplay(w io.Writer, r *reprisev1.Replay) error {
	var out bytes.Buffer
	if err := json.Indent(&out, object(shown(r)), "", "  "); err != nil {
		return fmt.Errorf("json: %w", err)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// picture sees to it that a picture is in the folder, or notes why it is not.
func (run *collecting) picture(ctx context.Context, p *album.Picture) error {
	if p.Missing = run.gone[p.SHA256]; p.Missing != "" {
		return nil
	}
	same := run.have[p.SHA256]
	switch {
	case run.folder.Has(p.File, p.SHA256):
	case same != "":
		if err := run.folder.Same(p.File, same); err != nil {
			return err
		}
	default:
		err := run.fetch(ctx, p)
		if status.Code(err) == codes.NotFound {
			p.Missing = "never uploaded, or no longer kept"
			if p.Note != "" {
				p.Missing += " (" + firstLine(p.Note) + ")"
			}
			run.gone[p.SHA256] = p.Missing
			return nil
		}
		if err != nil {
			return err
		}
		run.fetched++
	}
	run.have[p.SHA256] = p.File
	return nil
}

func (run *collecting) fetch(ctx context.Context, p *album.Picture) error {
	return run.a.insist(ctx, run.c, "download "+p.SHA256, func(ctx context.Context) error {
		return run.folder.Put(p.File, func(w io.Writer) error { return run.c.download(ctx, p.SHA256, w) })
	})
}

// collected says what is in the folder and what is not. A picture that is not
// there is this command's failure.
func (a *app) collected(r *reprisev1.Replay, dir string, all []album.Picture, fetched int) error {
	var missing []album.Picture
	for _, p := range all {
		if p.Missing != "" {
			missing = append(missing, p)
		}
	}
	var err error
	if there := len(all) - len(missing); a.output == lines {
		err = a.emit(line{Type: "evidence", ReplayID: r.GetReplayId(), Folder: dir, There: &there, Fetched: &fetched, Missing: missing})
	} else {
		err = a.printf("%s", collectedText(r, dir, len(all), fetched, missing))
	}
	if err == nil && len(missing) > 0 {
		return &exitError{code: exitNotFound}
	}
	return err
}

func collectedText(r *reprisev1.Replay, dir string, all, fetched int, missing []album.Picture) string {
	var b strings.Builder
	fmt.Fprintf(&b, "replay %s: %d of %d pictures in %s, %d of them fetched now\n", r.GetReplayId(), all-len(missing), all, dir, fetched)
	for _, p := range missing[:min(maxNamed, len(missing))] {
		fmt.Fprintf(&b, "missing  %s of %s: %s\n", p.File, p.ActionID, p.Missing)
	}
	if more := len(missing) - maxNamed; more > 0 {
		fmt.Fprintf(&b, "missing  and %d more, which %s names\n", more, album.IndexFile)
	}
	if !ended(r) {
		fmt.Fprintf(&b, "the replay is %s: the same command adds what comes later\n", stateWord(r))
	}
	return b.String()
}
