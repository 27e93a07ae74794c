package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/logkeys"
)

const (
	uploadRetry = 2 * time.Second // pause after a failed upload
	maxAsked    = 1000            // pictures that one call asks about
	chunk       = 256 << 10       // bytes of one message
	// fileTime is how long a report waits for the disk to have its pictures, so that they
	// outlive the agent as the report does. Mostly it takes a millisecond; a disk that takes
	// longer loses them if the agent dies.
	fileTime = 100 * time.Millisecond
)

// errOvertaken says that a picture that somebody waits for goes first.
var errOvertaken = errors.New("another picture is more urgent")

// errLetGo says that the server will never take a picture.
var errLetGo = errors.New("the server does not take it")

// Keep queues a screenshot, or says why the server would not take it. It waits for the disk
// to have it, for 100 ms at most.
func (e *Evidence) Keep(sha256 string, png []byte) string { return e.keep(sha256, png, false) }

// KeepFirst queues a picture that somebody waits for, before all others; an upload
// under way is cut for it, and goes on later.
func (e *Evidence) KeepFirst(sha256 string, png []byte) string { return e.keep(sha256, png, true) }

func (e *Evidence) keep(sha256 string, png []byte, first bool) string {
	e.mu.Lock()
	most := e.most
	e.mu.Unlock()
	if int64(len(png)) > most {
		return fmt.Sprintf("too large: %d bytes, at most %d", len(png), most)
	}
	tried := e.waiting.Put(sha256, png, first)
	if first {
		e.pressed.Add(1)
		signal(e.hurry)
	}
	signal(e.changed)
	patience := time.NewTimer(fileTime)
	defer patience.Stop()
	select {
	case <-tried:
	case <-patience.C:
	}
	return ""
}

// upload brings what waits until ctx ends.
func (e *Evidence) upload(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.changed:
		}
		for more := true; more; {
			var err error
			more, err = e.round(ctx)
			if ctx.Err() != nil {
				return // what was cut goes on after the restart
			}
			if err != nil {
				e.log.Debug("screenshots wait to be brought", logkeys.Error, err)
				more = e.rest(ctx)
			}
		}
	}
}

// rest waits before the next try, and says whether there is one.
func (e *Evidence) rest(ctx context.Context) bool {
	timer := time.NewTimer(uploadRetry)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-e.hurry:
	}
	return true
}

// round asks which of the pictures the server lacks, and brings those. It says
// whether there may be more to bring at once. A fault of one picture holds up no
// other; one of the connection, or of the server's disk, ends the round.
func (e *Evidence) round(ctx context.Context) (more bool, err error) {
	e.mu.Lock()
	client := e.client
	select {
	case <-e.hurry: // this round is what it asks for
	default:
	}
	e.mu.Unlock()
	pressed := e.pressed.Load()
	waiting := e.waiting.Waiting(maxAsked)
	if client == nil || len(waiting) == 0 {
		return false, nil
	}
	answer, err := client.FindMissing(ctx, &reprisev1.FindMissingRequest{Sha256: waiting})
	if err != nil {
		return false, err
	}
	missing := map[string]bool{}
	for _, sha256 := range answer.GetSha256() {
		missing[sha256] = true
	}
	var later error
	for _, sha256 := range waiting {
		switch {
		case !missing[sha256]:
			e.waiting.Drop(sha256)
			continue
		case e.pressed.Load() != pressed:
			return true, nil
		}
		err := e.bring(ctx, client, sha256, answer.GetReceivedBytes()[sha256], pressed)
		switch {
		case err == nil:
			e.waiting.Drop(sha256)
		case errors.Is(err, errOvertaken):
			return true, nil
		case errors.Is(err, errLetGo):
			e.log.Warn("a screenshot is lost", logkeys.Digest, sha256, logkeys.Error, err)
			e.waiting.Drop(sha256)
		case remedyFor(err) == askAgain:
			later = err
		default:
			return false, err
		}
	}
	return later == nil, later
}

// bring uploads one picture from the byte on that the server lacks. What the server
// has of it may be another picture's, or torn by a power cut: one that it refuses so
// is brought once more from its beginning. It fails with errLetGo if the server will
// never take the picture.
func (e *Evidence) bring(ctx context.Context, client reprisev1.EvidenceServiceClient, sha256 string, from int64, pressed uint64) error {
	png, ok := e.waiting.Get(sha256)
	if !ok {
		return nil
	}
	if from < 0 || from > int64(len(png)) {
		from = 0 // what the server has is of no use
	}
	overtaken := func() bool { return e.pressed.Load() != pressed }
	err := send(ctx, client, sha256, png, from, overtaken)
	if from > 0 && err != nil && remedyFor(err) == letGo {
		err = send(ctx, client, sha256, png, 0, overtaken)
	}
	if err != nil && remedyFor(err) == letGo {
		return fmt.Errorf("%w: %w", errLetGo, err)
	}
	return err
}

// send uploads a picture from that byte on, unless it is overtaken.
func send(
	ctx context.Context, client reprisev1.EvidenceServiceClient, sha256 string, png []byte, from int64, overtaken func() bool,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the call when it is left early
	stream, err := client.Upload(ctx)
	if err != nil {
		return err
	}
	m := &reprisev1.UploadRequest{Sha256: sha256, Offset: from}
	for rest := png[from:]; ; {
		n := min(chunk, len(rest))
		m.Data, rest = rest[:n], rest[n:]
		if err := stream.Send(m); err != nil {
			if errors.Is(err, io.EOF) {
				break // CloseAndRecv says why
			}
			return err
		}
		if len(rest) == 0 {
			break
		}
		if overtaken() {
			return errOvertaken
		}
		m = &reprisev1.UploadRequest{}
	}
	answer, err := stream.CloseAndRecv()
	if err != nil {
		return err
	}
	if answer.GetSize() != int64(len(png)) {
		return fmt.Errorf("the server stored %d bytes of %d", answer.GetSize(), len(png))
	}
	return nil
}
