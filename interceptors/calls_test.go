package interceptors

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// faults are the fields that err names.
func faults(err error) (fields []string) {
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}
	return fields
}

func TestARequestOutsideTheSchemasLimitsNeverReachesAHandler(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		_, err := reprisev1.NewEvidenceServiceClient(b.conn).FindMissing(with(t, operator), &reprisev1.FindMissingRequest{Sha256: []string{"xyz"}})
		wantCode(t, "a bad digest", err, codes.InvalidArgument)
		if got := faults(err); len(got) != 1 || got[0] != "sha256[0]" {
			t.Errorf("fields %q", got)
		}
		_, err = reprisev1.NewEvidenceServiceClient(b.conn).FindMissing(t.Context(), &reprisev1.FindMissingRequest{Sha256: []string{"xyz"}})
		wantCode(t, "a stranger learns nothing of the limits", err, codes.Unauthenticated)
	})
}

func TestAnInvalidReportEndsTheStreamAndNamesItsField(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		stream := b.connect(with(t, agent), t)
		if err := stream.Send(hello("desk-1")); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		report := &reprisev1.Report{ActionId: "", ReplayId: "r"}
		if err := stream.Send(&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Report{Report: report}}); err != nil {
			t.Fatal(err)
		}
		_, err := stream.Recv()
		wantCode(t, "no action id", err, codes.InvalidArgument)
		if got := faults(err); len(got) != 1 || got[0] != "report.action_id" {
			t.Errorf("fields %q", got)
		}
	})
}

func TestAPanicIsToldToTheLogAlone(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		b.list = func(context.Context) error { panic("the patient's name") }
		_, err := b.machines().ListMachines(with(t, operator), &reprisev1.ListMachinesRequest{})
		wantCode(t, "a call", err, codes.Internal)
		if got := status.Convert(err).Message(); got != "internal error" {
			t.Errorf("the peer is told %q", got)
		}
		b.services.connect = func(grpc.BidiStreamingServer[reprisev1.ConnectRequest, reprisev1.ConnectResponse]) error {
			nothing := map[string]int(nil)
			nothing["x"] = 1 //nolint:staticcheck // SA5000: the fault is the point
			return nil
		}
		_, err = b.connect(with(t, agent), t).Recv()
		wantCode(t, "a stream", err, codes.Internal)
		synctest.Wait()
		log := b.log.take()
		for _, want := range []string{"chain_test.go", "ListMachines", "error=string", "assignment to entry in nil map", "code=Internal"} {
			if !strings.Contains(log, want) {
				t.Errorf("no %q in the log:\n%s", want, log)
			}
		}
		if strings.Contains(log, "patient") {
			t.Error("the log holds what the panic held")
		}
		b.list = nil
		_, err = b.machines().ListMachines(with(t, operator), &reprisev1.ListMachinesRequest{})
		wantCode(t, "the next call", err, codes.OK)
	})
}

func TestOneLinePerFinishedCallAndNeverAMessage(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		_, err := reprisev1.NewReplayServiceClient(b.conn).CancelReplay(with(t, operator), &reprisev1.CancelReplayRequest{ReplayId: "r-secret"})
		wantCode(t, "the call", err, codes.OK)
		synctest.Wait()
		log := b.log.take()
		if strings.Count(log, "\n") != 1 {
			t.Errorf("not one line:\n%s", log)
		}
		for _, want := range []string{"level=INFO", "method=/reprise.v1.ReplayService/CancelReplay", "code=OK", "elapsed=", "peer=", "caller=operator", "role=operator"} {
			if !strings.Contains(log, want) {
				t.Errorf("no %q in %s", want, log)
			}
		}
		if strings.Contains(log, "r-secret") || strings.Contains(log, operator+" ") || strings.Contains(log, "Bearer") {
			t.Errorf("the log holds a message or a token: %s", log)
		}

		_, _ = healthpb.NewHealthClient(b.conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
		synctest.Wait()
		if log := b.log.take(); log != "" {
			t.Errorf("a probe was logged: %s", log)
		}

		_, err = b.machines().ListMachines(with(t, "wrong-token"), &reprisev1.ListMachinesRequest{})
		wantCode(t, "a wrong token", err, codes.Unauthenticated)
		synctest.Wait()
		if log := b.log.take(); !strings.Contains(log, "level=WARN") || strings.Contains(log, "wrong-token") || strings.Contains(log, "caller=") {
			t.Errorf("a refused call: %s", log)
		}

		ctx, cancel := context.WithCancel(with(t, agent))
		stream := b.connect(ctx, t)
		for range 3 {
			if err := stream.Send(hello("desk-1")); err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Recv(); err != nil {
				t.Fatal(err)
			}
		}
		if log := b.log.take(); log != "" {
			t.Errorf("a message was logged: %s", log)
		}
		cancel()
		synctest.Wait()
		if log := b.log.take(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "caller=desk-1") || !strings.Contains(log, "level=INFO") {
			t.Errorf("a stream's end: %s", log)
		}
	})
}

func TestEveryCallCounts(t *testing.T) {
	within(t, func(t *testing.T, b *bench) {
		b.metrics.Initialize(b.server)
		count := func(method, code string) (handled float64) {
			families, err := b.registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() != "grpc_server_handled_total" {
					continue
				}
				for _, m := range f.GetMetric() {
					labels := map[string]string{}
					for _, l := range m.GetLabel() {
						labels[l.GetName()] = l.GetValue()
					}
					if labels["grpc_method"] == method && labels["grpc_code"] == code {
						return m.GetCounter().GetValue()
					}
				}
			}
			return -1
		}
		if got := count("CancelReplay", "OK"); got != 0 {
			t.Errorf("before its first call a method shows %v, want 0", got)
		}
		_, _ = b.machines().ListMachines(with(t, operator), &reprisev1.ListMachinesRequest{})
		_, _ = b.machines().ListMachines(with(t, "wrong"), &reprisev1.ListMachinesRequest{})
		b.list = func(context.Context) error { panic(errors.New("oops")) }
		_, _ = b.machines().ListMachines(with(t, operator), &reprisev1.ListMachinesRequest{})
		synctest.Wait()
		for _, code := range []string{"OK", "Unauthenticated", "Internal"} {
			if got := count("ListMachines", code); got != 1 {
				t.Errorf("%s counted %v times", code, got)
			}
		}
	})
}
