//go:build faultpoint

package faultpoint

import "testing"

func TestFaultPointsAreHandedToAProcessThatDoesNotInheritThem(t *testing.T) {
	t.Setenv(Address, "127.0.0.1:9")
	t.Setenv(Names, "agent.begins,agent.started")
	handed := Handed()
	t.Setenv(Address, "")
	if got := Handed(); got != "" {
		t.Errorf("without a test %q is handed over", got)
	}
	t.Setenv(Names, "")
	if err := Take(handed); err != nil {
		t.Fatal(err)
	}
	if got := Handed(); got != handed {
		t.Errorf("taken %q, of %q", got, handed)
	}
	if err := Take("nowhere"); err == nil {
		t.Error("what names nobody is taken")
	}
}
