package interceptors

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/interceptors/auth"
)

func hello(machine string) *reprisev1.ConnectRequest {
	return &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: &reprisev1.Hello{
		MachineId: machine, AgentInstanceId: "spool", BootId: "boot", ProtocolVersion: 1,
	}}}
}

func TestACallWithoutAValidTokenIsRefused(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		for name, header := range map[string]string{
			"unknown": "Bearer nobody", "another scheme": "Basic " + operator, "no scheme": operator, "no token": "Bearer ", "empty": "",
		} {
			ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", header)
			_, err := b.machines().ListMachines(ctx, &reprisev1.ListMachinesRequest{})
			wantCode(t, name, err, codes.Unauthenticated)
		}
		_, err := b.machines().ListMachines(t.Context(), &reprisev1.ListMachinesRequest{})
		wantCode(t, "no header", err, codes.Unauthenticated)
		_, err = b.connect(t.Context(), t).Recv()
		wantCode(t, "a stream", err, codes.Unauthenticated)
		_, err = b.machines().ListMachines(with(t, operator), &reprisev1.ListMachinesRequest{})
		wantCode(t, "the operator", err, codes.OK)
	})
}

func TestHealthNeedsNoTokenAndReflectionAnOperators(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		_, err := healthpb.NewHealthClient(b.conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
		wantCode(t, "health", err, codes.OK)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		watch, err := healthpb.NewHealthClient(b.conn).Watch(ctx, &healthpb.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = watch.Recv()
		wantCode(t, "health's stream", err, codes.OK)
		for token, want := range map[string]codes.Code{"": codes.Unauthenticated, agent: codes.PermissionDenied, operator: codes.OK} {
			stream, err := reflectionpb.NewServerReflectionClient(b.conn).ServerReflectionInfo(with(t, token))
			if err != nil {
				t.Fatal(err)
			}
			// A refusal may arrive before the question has left.
			_ = stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
			_, err = stream.Recv()
			wantCode(t, "reflection with "+token, err, want)
			_ = stream.CloseSend()
		}
	})
}

func TestAnAgentCallsItsOwnServicesAlone(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		_, err := b.machines().ListMachines(with(t, agent), &reprisev1.ListMachinesRequest{})
		wantCode(t, "an agent on MachineService", err, codes.PermissionDenied)
		_, err = reprisev1.NewReplayServiceClient(b.conn).CancelReplay(with(t, agent), &reprisev1.CancelReplayRequest{ReplayId: "r"})
		wantCode(t, "an agent on ReplayService", err, codes.PermissionDenied)
		_, err = reprisev1.NewEvidenceServiceClient(b.conn).FindMissing(with(t, agent), &reprisev1.FindMissingRequest{})
		wantCode(t, "an agent on EvidenceService", err, codes.OK)
		_, err = b.connect(with(t, operator), t).Recv()
		wantCode(t, "an operator on AgentService", err, codes.PermissionDenied)
	})
}

func TestAnAgentOpensItsOwnMachineAlone(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		for machine, want := range map[string]codes.Code{"desk-1": codes.OK, "desk-2": codes.PermissionDenied} {
			ctx, cancel := context.WithCancel(with(t, agent))
			stream := b.connect(ctx, t)
			if err := stream.Send(hello(machine)); err != nil {
				t.Fatal(err)
			}
			_, err := stream.Recv()
			wantCode(t, machine, err, want)
			cancel()
		}
	})
}

func TestTheHandlerLearnsWhoCalls(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		b.list = func(ctx context.Context) error {
			id, ok := auth.From(ctx)
			return status.Errorf(codes.NotFound, "%v %v %v", ok, id.Role, id.Name)
		}
		_, err := b.machines().ListMachines(with(t, operator), &reprisev1.ListMachinesRequest{})
		if got := status.Convert(err).Message(); got != "true operator operator" {
			t.Error(got)
		}
		b.services.connect = func(stream grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) error {
			id, ok := auth.From(stream.Context())
			return status.Errorf(codes.NotFound, "%v %v %v", ok, id.Role, id.Machine)
		}
		_, err = b.connect(with(t, agent), t).Recv()
		if got := status.Convert(err).Message(); got != "true agent desk-1" {
			t.Error(got)
		}
	})
}

func TestARevokedTokenEndsItsStreamsWithinFiveSeconds(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		// A handler as a session is: it waits for more than the stream.
		b.services.connect = func(stream grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) error {
			<-stream.Context().Done()
			return context.Cause(stream.Context())
		}
		stream := b.connect(with(t, agent), t)
		ended := make(chan error, 1)
		go func() { _, err := stream.Recv(); ended <- err }()
		time.Sleep(time.Minute)
		b.verifier.change(func(v *verifier) { v.broken = errors.New("disk") })
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(ended) != 0 {
			t.Fatalf("a stream with a valid token ended: %v", <-ended)
		}
		b.verifier.change(func(v *verifier) { v.broken = nil; delete(v.known, agent) })
		revoked := time.Now()
		wantCode(t, "a revoked token", <-ended, codes.Unauthenticated)
		if took := time.Since(revoked); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestATokenThatMeansSomebodyElseEndsItsStreams(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		stream := b.connect(with(t, agent), t)
		if err := stream.Send(hello("desk-1")); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		b.verifier.change(func(v *verifier) {
			v.known[agent] = auth.Identity{Role: auth.RoleAgent, Machine: "desk-2", Name: "desk-2"}
		})
		time.Sleep(auth.RecheckInterval)
		synctest.Wait()
		// The handler sits in Recv: it ends with the next message.
		_ = stream.Send(hello("desk-1"))
		_, err := stream.Recv()
		wantCode(t, "another identity", err, codes.Unauthenticated)
	})
}

func TestTokensThatCannotBeCheckedAreNotRefusedForGood(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		b.verifier.change(func(v *verifier) { v.broken = errors.New("disk on fire") })
		_, err := b.machines().ListMachines(with(t, operator), &reprisev1.ListMachinesRequest{})
		wantCode(t, "broken", err, codes.Unavailable)
		if status.Convert(err).Message() != "tokens cannot be checked now" {
			t.Errorf("the peer is told %v", err)
		}
	})
}
