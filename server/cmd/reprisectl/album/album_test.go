package album

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// ref names a picture by a digit of its digest.
func ref(digit string) *reprisev1.EvidenceRef {
	return &reprisev1.EvidenceRef{Sha256: strings.Repeat(digit, 64)}
}

// decision is one to run a step, with a picture before it and one after it.
func decision(id string, step int32, name string) *reprisev1.ActionStatus {
	return &reprisev1.ActionStatus{
		ActionId: id, Step: step, Name: name, Kind: "click", Report: &reprisev1.Report{ScreenshotBefore: ref("a"), ScreenshotAfter: ref("b")},
	}
}

func TestNamesSortByStepAndTellRetriesApart(t *testing.T) {
	corrected := decision("r/d_retry1_resume", 3, "")
	corrected.Report = &reprisev1.Report{ScreenshotAfter: ref("c"), Correction: &reprisev1.Correction{Crop: ref("d")}}
	bare := decision("r/e", 4, "none")
	bare.Report = nil
	tests := []struct {
		name    string
		actions []*reprisev1.ActionStatus
		want    []string
	}{
		{"before and after", []*reprisev1.ActionStatus{decision("r/c", 2, "save")}, []string{"003_save_before.png", "003_save_after.png"}},
		{"a step without a name has its kind", []*reprisev1.ActionStatus{decision("r/c", 0, "")}, []string{"001_click_before.png", "001_click_after.png"}},
		{"later decisions have their id's suffix", []*reprisev1.ActionStatus{decision("r/d", 3, "save"), decision("r/d_retry1", 3, "save"), corrected},
			[]string{"004_save_before.png", "004_save_after.png", "004_save_retry1_before.png", "004_save_retry1_after.png",
				"004_click_retry1_resume_after.png", "004_click_retry1_resume_correction.png"}},
		{"an action without a report has none", []*reprisev1.ActionStatus{bare}, nil},
		{"an id that is not the first one's stands whole", []*reprisev1.ActionStatus{decision("a", 0, "x"), decision("b/c", 0, "x")},
			[]string{"001_x_before.png", "001_x_after.png", "001_x_b_c_before.png", "001_x_b_c_after.png"}},
		{"names go into no other folder", []*reprisev1.ActionStatus{decision("a", 0, "../../etc/passwd\x00")},
			[]string{"001_______etc_passwd__before.png", "001_______etc_passwd__after.png"}},
		{"letters stay, and long names are cut", []*reprisev1.ActionStatus{decision("a", 0, "prüfen"+strings.Repeat("x", 99))},
			[]string{"001_prüfen" + strings.Repeat("x", 34) + "_before.png", "001_prüfen" + strings.Repeat("x", 34) + "_after.png"}},
		{"numbers of a long replay are as wide as its last", []*reprisev1.ActionStatus{decision("a", 0, "x"), decision("b", 99999, "y")},
			[]string{"000001_x_before.png", "000001_x_after.png", "100000_y_before.png", "100000_y_after.png"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range Plan(tt.actions) {
				got = append(got, p.File)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheIndexSaysAllThatAReportSaysOfAPicture(t *testing.T) {
	a := decision("r/c", 2, "save")
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a.Report = &reprisev1.Report{ScreenshotAfter: &reprisev1.EvidenceRef{
		Sha256: ref("e").GetSha256(), TakenAt: timestamppb.New(at), Method: "screen", Settled: true, Note: "odd", Masks: 2,
	}}
	want := []Picture{{
		File: "003_save_after.png", Step: 3, ActionID: "r/c", When: After, SHA256: ref("e").GetSha256(), TakenAt: &at, Method: "screen", Settled: true, Note: "odd", Masks: 2,
	}}
	if diff := cmp.Diff(want, Plan([]*reprisev1.ActionStatus{a})); diff != "" {
		t.Error(diff)
	}
}

// Whatever steps and ids are called: no name is used twice, none leaves the
// folder, and they sort by step.
func TestAnyNamesMakeDistinctSafeAndSortedFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aAbÄß/\\.:*_\x00 \n…")), 0, 60, -1)
		id := rapid.StringOfN(rapid.SampledFrom([]rune("aA/:_")), 0, 2, -1) // short, so that ids clean to the same
		var actions []*reprisev1.ActionStatus
		step := int32(0)
		for i := range rapid.IntRange(0, 12).Draw(t, "decisions") {
			step += rapid.SampledFrom([]int32{0, 0, 1, 1500}).Draw(t, "on")
			actions = append(actions, decision(id.Draw(t, "id")+fmt.Sprint(i%3), step, text.Draw(t, "name")))
		}
		pictures := Plan(actions)
		used := map[string]bool{}
		for _, p := range pictures {
			if strings.ContainsAny(p.File, "/\\:*\x00\n ") || strings.HasPrefix(p.File, ".") || len(p.File) > 255 {
				t.Fatalf("%q is no name for a file", p.File)
			}
			if used[strings.ToLower(p.File)] {
				t.Fatalf("%q is used twice", p.File)
			}
			used[strings.ToLower(p.File)] = true
		}
		if len(pictures) != 2*len(actions) {
			t.Fatalf("%d pictures of %d actions", len(pictures), len(actions))
		}
		byName := slices.SortedStableFunc(slices.Values(pictures), func(a, b Picture) int { return strings.Compare(a.File, b.File) })
		if !slices.IsSortedFunc(byName, func(a, b Picture) int { return int(a.Step - b.Step) }) {
			t.Fatalf("names do not sort by step: %v", byName)
		}
	})
}
