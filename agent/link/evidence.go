package link

import (
	"bytes"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/reprise-rpa/reprise/agent/pictures"
	"github.com/reprise-rpa/reprise/agent/work"
	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

const (
	maxPicture   = 32 << 20  // bytes of a PNG
	maxPixels    = 64 << 20  // of a picture
	maxAnchors   = 128 << 20 // bytes of pictures kept, unpacked
	bytesPerDot  = 4
	digestLength = 2 * sha256.Size
)

// errOffline says that there is no connection to ask for a picture.
var errOffline = errors.New("there is no connection to the server")

// Evidence fetches anchors and brings screenshots to the server, by the
// connection that is open. Both are best effort: a picture never holds up the
// stream, nor an action for longer than it waits for its target.
type Evidence struct {
	log *slog.Logger

	waiting *pictures.Store
	changed chan struct{} // holds one token when there may be something to upload
	hurry   chan struct{} // holds one token when it is not to be put off
	pressed atomic.Uint64 // counts pictures that somebody waits for

	mu      sync.Mutex
	client  reprisev1.EvidenceServiceClient // nil: no connection
	most    int64                           // bytes of a picture that the server takes
	anchors map[string]*list.Element        // of recent's *anchor
	recent  *list.List                      // the one used last in front
	size    int                             // bytes of all anchors
}

type anchor struct {
	sha256  string
	picture image.Image
	size    int
}

// NewEvidence returns an evidence store without a connection, whose screenshots
// wait in the store; nil means in memory. log nil discards.
func NewEvidence(waiting *pictures.Store, log *slog.Logger) *Evidence {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if waiting == nil {
		waiting = pictures.Open(pictures.Config{Log: log})
	}
	return &Evidence{
		log: log, waiting: waiting, changed: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		most: work.Settings{}.WithDefaults().MaxPicture, anchors: map[string]*list.Element{}, recent: list.New(),
	}
}

// online says by what to bring pictures, and how many bytes each may have.
func (e *Evidence) online(client reprisev1.EvidenceServiceClient, most int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.client, e.most = client, most
	signal(e.changed)
	signal(e.hurry)
}

func (e *Evidence) offline() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.client = nil
}

func signal(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// Anchor returns the picture with that digest, from memory or from the server.
// What the server sends is believed only if it has the digest.
func (e *Evidence) Anchor(ctx context.Context, sha256 string) (image.Image, error) {
	e.mu.Lock()
	client := e.client
	if known, ok := e.anchors[sha256]; ok {
		e.recent.MoveToFront(known)
		e.mu.Unlock()
		return known.Value.(*anchor).picture, nil
	}
	e.mu.Unlock()
	if client == nil {
		return nil, errOffline
	}
	if len(sha256) != digestLength {
		return nil, fmt.Errorf("%q is no digest of a picture", sha256)
	}
	data, err := download(ctx, client, sha256)
	if err != nil {
		return nil, err
	}
	picture, err := unpack(data, sha256)
	if err != nil {
		return nil, err
	}
	e.remember(&anchor{sha256, picture, picture.Bounds().Dx() * picture.Bounds().Dy() * bytesPerDot})
	return picture, nil
}

func download(ctx context.Context, client reprisev1.EvidenceServiceClient, sha256 string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the call when it is left early
	stream, err := client.Download(ctx, &reprisev1.DownloadRequest{Sha256: sha256})
	if err != nil {
		return nil, err
	}
	var data []byte
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if data = append(data, m.GetData()...); len(data) > maxPicture {
			return nil, fmt.Errorf("the picture has more than %d bytes", maxPicture)
		}
	}
}

func unpack(data []byte, digest string) (image.Image, error) {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return nil, errors.New("the server sent a picture of another digest")
	}
	header, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture is no PNG: %w", err)
	}
	if header.Width*header.Height > maxPixels {
		return nil, fmt.Errorf("the picture has %d×%d pixels, too many", header.Width, header.Height)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture is no PNG: %w", err)
	}
	return picture, nil
}

// remember keeps a picture and forgets those that were not used for longest.
func (e *Evidence) remember(a *anchor) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.anchors[a.sha256]; ok {
		return
	}
	e.anchors[a.sha256] = e.recent.PushFront(a)
	e.size += a.size
	for e.size > maxAnchors && e.recent.Len() > 1 {
		oldest := e.recent.Remove(e.recent.Back()).(*anchor)
		delete(e.anchors, oldest.sha256)
		e.size -= oldest.size
	}
}
