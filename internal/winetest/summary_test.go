package winetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A run of four packages, as go test -json tells it.
const told = `{"ImportPath":"m/broken","Action":"build-output","Output":"broken.go:1: syntax error\n"}
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestOne"}
{"Action":"output","Package":"m/a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"run","Package":"m/a","Test":"TestOne/first/of_two"}
{"Action":"run","Package":"m/a","Test":"TestOne/second"}
{"Action":"output","Package":"m/a","Test":"TestOne/second","Output":"=== RUN   TestOne/second\n"}
{"Action":"output","Package":"m/a","Test":"TestOne/second","Output":"    a_test.go:7: this desktop cannot: no lock\n"}
{"Action":"output","Package":"m/a","Test":"TestOne/second","Output":"--- SKIP: TestOne/second (0.00s)\n"}
{"Action":"pass","Package":"m/a","Test":"TestOne/first/of_two"}
{"Action":"skip","Package":"m/a","Test":"TestOne/second"}
{"Action":"pass","Package":"m/a","Test":"TestOne"}
{"Action":"pass","Package":"m/a","Elapsed":1.24}
`

const toldOfFailures = `{"Action":"start","Package":"m/b"}
{"Action":"run","Package":"m/b","Test":"TestParent"}
{"Action":"run","Package":"m/b","Test":"TestParent/child"}
{"Action":"output","Package":"m/b","Test":"TestParent/child","Output":"    b_test.go:3: wrong\n"}
{"Action":"fail","Package":"m/b","Test":"TestParent/child"}
{"Action":"fail","Package":"m/b","Test":"TestParent"}
{"Action":"run","Package":"m/b","Test":"TestItself"}
{"Action":"run","Package":"m/b","Test":"TestItself/child"}
{"Action":"pass","Package":"m/b","Test":"TestItself/child"}
{"Action":"fail","Package":"m/b","Test":"TestItself"}
{"Action":"run","Package":"m/b","Test":"TestNeverEnds"}
{"Action":"output","Package":"m/b","Output":"panic: timed out\n"}
{"Action":"fail","Package":"m/b","Elapsed":2}
`

func TestALineForEachPackageAndTheReasonOfEachSkip(t *testing.T) {
	var out strings.Builder
	got, err := Summarize(strings.NewReader(told), &out)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Summary{Total: Counts{Passed: 1, Skipped: 1}}); got != want {
		t.Errorf("summary %+v, want %+v", got, want)
	}
	want := `broken.go:1: syntax error
ok   m/a: 2 run, 1 passed, 0 failed, 1 skipped, 1.2s
    skipped TestOne/second: this desktop cannot: no lock
total: 2 tests run, 1 passed, 0 failed, 1 skipped
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATestThatFailsOrNeverEndsCountsOnce(t *testing.T) {
	var out strings.Builder
	got, err := Summarize(strings.NewReader(told+toldOfFailures), &out)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Summary{Total: Counts{Passed: 2, Failed: 3, Skipped: 1}, Failed: true}); got != want {
		t.Errorf("summary %+v, want %+v", got, want)
	}
	for _, line := range []string{"failed TestParent/child\n            b_test.go:3: wrong", "failed TestItself\n", "failed TestNeverEnds\n", "panic: timed out"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q is not in:\n%s", line, out.String())
		}
	}
}

func TestARunThatWasCutOffIsAFailure(t *testing.T) {
	for name, run := range map[string]string{
		"a package that does not end": `{"Action":"start","Package":"m/c"}`,
		"a package that fails to build": `{"Action":"start","Package":"m/c"}
{"Action":"fail","Package":"m/c","FailedBuild":"m/c"}`,
	} {
		if got, err := Summarize(strings.NewReader(run), &strings.Builder{}); err != nil || !got.Failed {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := Summarize(strings.NewReader(`{"Action":`), &strings.Builder{}); err == nil {
		t.Error("half an event: no error")
	}
}
