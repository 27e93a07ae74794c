package report

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTheMedianIsTheMiddleWhateverTheOrder(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1}, 5}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 100, 2}, 3},
	} {
		if got := Median(tt.values); got != tt.want {
			t.Errorf("of %v: %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestAQuantileIsTheLeastThatEnoughDoNotExceed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, 50), func(n int64) time.Duration { return time.Duration(n) }), 1, 40).Draw(t, "durations")
		percent := rapid.IntRange(1, 100).Draw(t, "percent")
		got, least, in := Quantile(ds, float64(percent)/100), 0, false
		below := 0
		for _, d := range ds {
			in = in || d == got
			if d <= got {
				least++
			}
			if d < got {
				below++
			}
		}
		if !in || least*100 < percent*len(ds) || below*100 >= percent*len(ds) {
			t.Fatalf("%d%% of %v: %v", percent, ds, got)
		}
	})
	if Quantile(nil, 0.5) != 0 {
		t.Error("of none")
	}
}

func TestAGoalIsMetByItsMedianAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		goal Goal
		met  bool
	}{
		"at most, kept":          {Goal{Ratios: []float64{9, 1, 0.5}, Limit: 1}, true},
		"at most, broken":        {Goal{Ratios: []float64{0.1, 1.01, 2}, Limit: 1}, false},
		"at least, kept":         {Goal{Ratios: []float64{0.1, 0.7, 0.8}, Limit: 0.7, AtLeast: true}, true},
		"at least, broken":       {Goal{Ratios: []float64{0.1, 0.69, 5}, Limit: 0.7, AtLeast: true}, false},
		"not measured":           {Goal{Limit: 1}, false},
		"not measured, at least": {Goal{AtLeast: true}, false},
	} {
		if tt.goal.Met() != tt.met {
			t.Errorf("%s: met is %v", name, !tt.met)
		}
	}
}

func TestTheTableSaysRatioSpreadLimitAndVerdict(t *testing.T) {
	var out strings.Builder
	err := Write(&out, Section{
		Goals: []Goal{
			{Name: "N1", What: "this / that", Ratios: []float64{1.5, 0.25, 0.75}, Limit: 1},
			{Name: "N2", What: "more / less", Ratios: []float64{0.5}, Limit: 0.7, AtLeast: true},
			{Name: "N3", What: "nothing", Limit: 1, Missing: "no disk"},
		},
		Facts: []Fact{Durations("a trip", []time.Duration{150 * time.Microsecond, 250 * time.Microsecond, 50 * time.Microsecond})},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"N1 this / that 0.75 0.25 to 1.50 ≤ 1.00 met", "N2 more / less 0.50 0.50 to 0.50 ≥ 0.70 not met",
		"N3 nothing - - ≤ 1.00 not measured: no disk", "a trip 150 50 to 250 µs",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}
