package profile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const traces = `File: bench
Type: cpu
Duration: 1s, Total samples = 60ms
-----------+-------------------------------------------------------
      30ms   runtime.mallocgc
             a.org/x/journal.(*Journal).Append
             a.org/x/journal.encode
             a.org/x/dispatch.(*Loop).run
-----------+-------------------------------------------------------
      10ms   a.org/x/journal.(*Journal).Append (inline)
             a.org/x/dispatch.each[go.shape.struct { a.org/y/gen.T }]
-----------+-------------------------------------------------------
    0.02s   gopkg.in/yaml.v3.f
             runtime.goexit
-----------+-------------------------------------------------------
`

func TestAPackageCountsOncePerStack(t *testing.T) {
	total, shares, err := ByPackage(traces)
	if err != nil {
		t.Fatal(err)
	}
	want := []Share{
		{Package: "runtime", Own: 30 * time.Millisecond, Total: 50 * time.Millisecond},
		{Package: "a.org/x/dispatch", Total: 40 * time.Millisecond},
		{Package: "a.org/x/journal", Own: 10 * time.Millisecond, Total: 40 * time.Millisecond},
		{Package: "gopkg.in/yaml", Own: 20 * time.Millisecond, Total: 20 * time.Millisecond},
	}
	if diff := cmp.Diff(want, shares); diff != "" || total != 60*time.Millisecond {
		t.Errorf("of %v (-want +got):\n%s", total, diff)
	}
}

func TestStacksOfSomethingElseThanTimeAreRefused(t *testing.T) {
	if _, _, err := ByPackage("-----------+---\n  512kB runtime.malg\n"); err == nil {
		t.Error("bytes were taken for time")
	}
}
