package faultpoint

import (
	"encoding/json"
	"net"
	"testing"
)

func TestAProcessThatIsStoppedBeforeItHasSaidWhereItIsHoldsUpNoOther(t *testing.T) {
	l, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(conn).Encode(Arrival{Name: AgentBegins}); err != nil {
		t.Fatal(err)
	}
	a := <-l.Arrivals()
	if a.Name != AgentBegins {
		t.Errorf("%q has come, want %q", a.Name, AgentBegins)
	}
	a.GoOn()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	_, _ = silent.Close(), conn.Close()
	if a, more := <-l.Arrivals(); more {
		t.Errorf("after the end came %q", a.Name)
	}
}
