package cli

import (
	"context"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

type (
	watchStream   = grpc.ServerStreamingServer[reprisev1.WatchReplayResponse]
	machineStream = grpc.ServerStreamingServer[reprisev1.WatchMachinesResponse]
	eventStream   = grpc.ServerStreamingServer[reprisev1.WatchEventsResponse]
)

// fake is a server that answers as the test says and notes what it was asked. A
// field that is nil answers Unimplemented.
type fake struct {
	reprisev1.UnimplementedReplayServiceServer
	reprisev1.UnimplementedMachineServiceServer
	reprisev1.UnimplementedEvidenceServiceServer

	create func(*reprisev1.CreateReplayRequest) (*reprisev1.Replay, error)
	get    func(id string) (*reprisev1.Replay, error)
	list   func(*reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error)
	pause  func(*reprisev1.PauseReplayRequest) (*reprisev1.Replay, error)
	resume func(*reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error)
	cancel func(*reprisev1.CancelReplayRequest) (*reprisev1.Replay, error)
	// watch answers the nth watch, from 0.
	watch    func(n int, st watchStream) error
	machines []*reprisev1.Machine
	// watchMachines and events answer the nth such watch, from 0.
	watchMachines func(n int, st machineStream) error
	events        func(n int, req *reprisev1.WatchEventsRequest, st eventStream) error
	capture       func(machine string) (*reprisev1.EvidenceRef, error)
	explain       func(id string) (*reprisev1.ExplainReplayResponse, error)
	appends       func(*reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error)
	closes        func(id string) (*reprisev1.Replay, error)

	mu       sync.Mutex
	pictures map[string][]byte
	uploads  int
	watches  int // of all kinds
	watched  []*reprisev1.WatchReplayRequest
	fetched  []string // the digests that were downloaded
	cuts     int      // how many downloads are cut in the middle
	token    string
}

func unless(known bool) error {
	if !known {
		return status.Error(codes.Unimplemented, "the test expects no such call")
	}
	return nil
}

func (f *fake) CreateReplay(ctx context.Context, req *reprisev1.CreateReplayRequest) (*reprisev1.CreateReplayResponse, error) {
	f.note(ctx)
	if err := unless(f.create != nil); err != nil {
		return nil, err
	}
	r, err := f.create(req)
	return &reprisev1.CreateReplayResponse{Replay: r}, err
}

func (f *fake) GetReplay(ctx context.Context, req *reprisev1.GetReplayRequest) (*reprisev1.GetReplayResponse, error) {
	f.note(ctx)
	if err := unless(f.get != nil); err != nil {
		return nil, err
	}
	r, err := f.get(req.GetReplayId())
	if r = proto.CloneOf(r); req.GetWithoutActions() && r != nil {
		r.Actions = nil
	}
	return &reprisev1.GetReplayResponse{Replay: r}, err
}

// actionsOnAPage is how many the fake gives at once; few, so that there are pages.
const actionsOnAPage = 2

func (f *fake) ListActions(_ context.Context, req *reprisev1.ListActionsRequest) (*reprisev1.ListActionsResponse, error) {
	if err := unless(f.get != nil); err != nil {
		return nil, err
	}
	r, err := f.get(req.GetReplayId())
	if err != nil {
		return nil, err
	}
	from := len(req.GetPageToken()) // its length is where the page begins
	to := min(from+actionsOnAPage, len(r.GetActions()))
	resp := &reprisev1.ListActionsResponse{Actions: r.GetActions()[from:to]}
	if to < len(r.GetActions()) {
		resp.NextPageToken = strings.Repeat("x", to)
	}
	return resp, nil
}

func (f *fake) ListReplays(ctx context.Context, req *reprisev1.ListReplaysRequest) (*reprisev1.ListReplaysResponse, error) {
	f.note(ctx)
	if err := unless(f.list != nil); err != nil {
		return nil, err
	}
	return f.list(req)
}

func (f *fake) PauseReplay(_ context.Context, req *reprisev1.PauseReplayRequest) (*reprisev1.PauseReplayResponse, error) {
	if err := unless(f.pause != nil); err != nil {
		return nil, err
	}
	r, err := f.pause(req)
	return &reprisev1.PauseReplayResponse{Replay: r}, err
}

func (f *fake) ResumeReplay(_ context.Context, req *reprisev1.ResumeReplayRequest) (*reprisev1.ResumeReplayResponse, error) {
	if err := unless(f.resume != nil); err != nil {
		return nil, err
	}
	return f.resume(req)
}

func (f *fake) CancelReplay(_ context.Context, req *reprisev1.CancelReplayRequest) (*reprisev1.CancelReplayResponse, error) {
	if err := unless(f.cancel != nil); err != nil {
		return nil, err
	}
	r, err := f.cancel(req)
	return &reprisev1.CancelReplayResponse{Replay: r}, err
}

func (f *fake) WatchReplay(req *reprisev1.WatchReplayRequest, st watchStream) error {
	if err := unless(f.watch != nil); err != nil {
		return err
	}
	n := f.nextWatch()
	f.mu.Lock()
	f.watched = append(f.watched, req)
	f.mu.Unlock()
	return f.watch(n, st)
}

func (f *fake) nextWatch() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches++
	return f.watches - 1
}

func (f *fake) WatchMachines(_ *reprisev1.WatchMachinesRequest, st machineStream) error {
	if err := unless(f.watchMachines != nil); err != nil {
		return err
	}
	return f.watchMachines(f.nextWatch(), st)
}

func (f *fake) WatchEvents(req *reprisev1.WatchEventsRequest, st eventStream) error {
	if err := unless(f.events != nil); err != nil {
		return err
	}
	return f.events(f.nextWatch(), req, st)
}

func (f *fake) CaptureScreen(_ context.Context, req *reprisev1.CaptureScreenRequest) (*reprisev1.CaptureScreenResponse, error) {
	if err := unless(f.capture != nil); err != nil {
		return nil, err
	}
	ref, err := f.capture(req.GetMachineId())
	return &reprisev1.CaptureScreenResponse{Picture: ref}, err
}

func (f *fake) ExplainReplay(_ context.Context, req *reprisev1.ExplainReplayRequest) (*reprisev1.ExplainReplayResponse, error) {
	if err := unless(f.explain != nil); err != nil {
		return nil, err
	}
	return f.explain(req.GetReplayId())
}

func (f *fake) AppendActions(_ context.Context, req *reprisev1.AppendActionsRequest) (*reprisev1.AppendActionsResponse, error) {
	if err := unless(f.appends != nil); err != nil {
		return nil, err
	}
	return f.appends(req)
}

func (f *fake) CloseReplay(_ context.Context, req *reprisev1.CloseReplayRequest) (*reprisev1.CloseReplayResponse, error) {
	if err := unless(f.closes != nil); err != nil {
		return nil, err
	}
	r, err := f.closes(req.GetReplayId())
	return &reprisev1.CloseReplayResponse{Replay: r}, err
}

// Download sends a picture in small chunks.
func (f *fake) Download(req *reprisev1.DownloadRequest, st grpc.ServerStreamingServer[reprisev1.DownloadResponse]) error {
	f.mu.Lock()
	data, there := f.pictures[req.GetSha256()]
	f.fetched = append(f.fetched, req.GetSha256())
	cut := f.cuts > 0
	f.cuts--
	f.mu.Unlock()
	if !there {
		return status.Error(codes.NotFound, "no such picture")
	}
	if cut {
		_ = st.Send(&reprisev1.DownloadResponse{Data: data[:1]})
		return status.Error(codes.Unavailable, "the server is stopping")
	}
	for some := range slices.Chunk(data, 1000) {
		if err := st.Send(&reprisev1.DownloadResponse{Data: some}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) ListMachines(context.Context, *reprisev1.ListMachinesRequest) (*reprisev1.ListMachinesResponse, error) {
	return &reprisev1.ListMachinesResponse{Machines: f.machines}, nil
}

func (f *fake) FindMissing(_ context.Context, req *reprisev1.FindMissingRequest) (*reprisev1.FindMissingResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missing := slices.DeleteFunc(req.GetSha256(), func(d string) bool { return f.pictures[d] != nil })
	return &reprisev1.FindMissingResponse{Sha256: missing}, nil
}

func (f *fake) Upload(st grpc.ClientStreamingServer[reprisev1.UploadRequest, reprisev1.UploadResponse]) error {
	first, err := st.Recv()
	data := first.GetData()
	for err == nil {
		var next *reprisev1.UploadRequest
		if next, err = st.Recv(); err == nil {
			data = append(data, next.GetData()...)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pictures[first.GetSha256()] = data
	f.uploads++
	return st.SendAndClose(&reprisev1.UploadResponse{Size: int64(len(data))})
}

func (f *fake) note(ctx context.Context) {
	md, _ := metadata.FromIncomingContext(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token = strings.Join(md.Get("authorization"), ",")
}
