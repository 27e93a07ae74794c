package setting

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What a program shows as a value is what its file may hold, and comes back the
// same.
func TestADurationReadsBackAsItIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "d"))
		var got time.Duration
		v := Duration(&got, want, 0, 1000*time.Hour)
		shown := v.String()
		got = 0
		if err := v.set(shown, File); err != nil || got != want {
			t.Fatalf("%q reads back as %v, %v; want %v", shown, got, err, want)
		}
	})
}

func TestSecondsOfTheEnvironmentKeepMicroseconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(0, 1e9).Draw(t, "micros")
		want := time.Duration(micros) * time.Microsecond
		var got time.Duration
		v := Duration(&got, 0, 0, time.Hour)
		if err := v.set(strconv.FormatFloat(want.Seconds(), 'f', 6, 64), Environment); err != nil || got != want {
			t.Fatalf("got %v, %v; want %v", got, err, want)
		}
	})
}

func TestNoTextMakesAValuePanicOrLeaveItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(rapid.String(), rapid.StringMatching(`-?[0-9.einfNaI]{1,20}`)).Draw(t, "raw")
		from := rapid.SampledFrom([]Source{File, Environment, Flag}).Draw(t, "from")
		var v values
		for _, st := range declare(&v).All() {
			_ = st.Value.set(raw, from)
		}
		if v.Wait < time.Second || v.Wait > time.Hour || v.Tries < 0 || v.Tries > 9 || !(v.Score >= 0 && v.Score <= 1) {
			t.Fatalf("%q left the range: %+v", raw, v)
		}
	})
}

func TestBoundsAreIncluded(t *testing.T) {
	var d time.Duration
	for raw, ok := range map[string]bool{"1s": true, "2s": true, "999ms": false, "2001ms": false, "-1s": false} {
		if err := Duration(&d, time.Second, time.Second, 2*time.Second).set(raw, Flag); (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for _, raw := range []string{"NaN", "Inf", "-Inf", "1e300", fmt.Sprint(math.MaxFloat64)} {
		if err := Duration(&d, 0, 0, math.MaxInt64).set(raw, Environment); err == nil {
			t.Errorf("%s seconds became %v", raw, d)
		}
	}
}
