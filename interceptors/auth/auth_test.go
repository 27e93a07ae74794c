package auth

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

func TestPermissions(t *testing.T) {
	const reflection = "grpc.reflection.v1.ServerReflection"
	services := []string{
		reprisev1.AgentService_ServiceDesc.ServiceName, reprisev1.EvidenceService_ServiceDesc.ServiceName,
		reprisev1.ReplayService_ServiceDesc.ServiceName, reprisev1.MachineService_ServiceDesc.ServiceName, reflection, "",
	}
	tests := []struct {
		role Role
		want []bool // per service
	}{
		{RoleOperator, []bool{false, true, true, true, true, true}},
		{RoleAgent, []bool{true, true, false, false, false, false}},
		{Role(0), make([]bool, 6)},
		{Role(99), make([]bool, 6)},
	}
	for _, tt := range tests {
		for i, service := range services {
			if got := (Identity{Role: tt.role, Machine: "desk-1"}).mayCall(service); got != tt.want[i] {
				t.Errorf("%s on %q: %v, want %v", tt.role, service, got, tt.want[i])
			}
		}
	}
}

func TestAnAgentMayDriveItsOwnMachineAlone(t *testing.T) {
	agent := Identity{Role: RoleAgent, Machine: "desk-1"}
	if !agent.MayDrive("desk-1") {
		t.Error("not its own")
	}
	for name, may := range map[string]bool{
		"another machine":  agent.MayDrive("desk-2"),
		"no machine":       Identity{Role: RoleAgent}.MayDrive(""),
		"an operator":      Identity{Role: RoleOperator, Machine: "desk-1"}.MayDrive("desk-1"),
		"a letter's case":  agent.MayDrive("Desk-1"),
		"a longer machine": agent.MayDrive("desk-11"),
	} {
		if may {
			t.Error(name)
		}
	}
}

func TestRolesReadBackAsTheyAreWritten(t *testing.T) {
	for _, want := range []Role{RoleOperator, RoleAgent} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Role
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s reads back as %v, %v", text, got, err)
		}
	}
	if _, err := json.Marshal(Role(0)); err == nil {
		t.Error("no role was written")
	}
	var r Role
	if err := json.Unmarshal([]byte(`"emperor"`), &r); err == nil {
		t.Error("an unknown role was read")
	}
}

func TestOnlyAnOpeningMessageClaimsAMachine(t *testing.T) {
	opening := &reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Hello{Hello: &reprisev1.Hello{MachineId: "desk-1"}}}
	if machine, ok := claimed(opening); !ok || machine != "desk-1" {
		t.Errorf("%q, %v", machine, ok)
	}
	for _, m := range []any{&reprisev1.ConnectRequest{Message: &reprisev1.ConnectRequest_Ping{}}, &reprisev1.UploadRequest{}, "text", nil} {
		if machine, ok := claimed(m); ok {
			t.Errorf("%T claims %q", m, machine)
		}
	}
}

func TestACallersIdentityIsInTheContext(t *testing.T) {
	if _, ok := From(t.Context()); ok {
		t.Error("an identity from nowhere")
	}
	if _, ok := Recorded(t.Context()); ok {
		t.Error("a record from nowhere")
	}
	if _, ok := Recorded(WithRecord(t.Context())); ok {
		t.Error("nobody was recorded")
	}
	want := Identity{Role: RoleAgent, Machine: "desk-1", Name: "desk-1"}
	if got, ok := From(With(t.Context(), want)); !ok || got != want {
		t.Errorf("%v, %v", got, ok)
	}
}

func TestRunEndsWithItsCause(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	want := errors.New("stopped")
	stop(want)
	if err := New(nil, nil).Run(ctx); !errors.Is(err, want) {
		t.Errorf("Run = %v", err)
	}
}
