package main

import (
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/agent/vision/screens"
)

func TestSearchesThatDoNotAgreeAreNamed(t *testing.T) {
	at := image.Rect(30, 40, 94, 104)
	there, gone := task{"x", screens.Scene{At: at}}, task{"x", screens.Scene{}}
	hit := measured{score: 1, at: at.Min}
	for _, c := range []struct {
		name         string
		task         task
		ours, theirs measured
		want         string
	}{
		{"both find it", there, hit, hit, ""},
		{"neither finds what is not there", gone, measured{}, measured{score: 0.6, at: at.Max}, ""},
		{"ours misses it", there, measured{}, hit, "ours: 0.000"},
		{"ours is a pixel off", there, measured{score: 1, at: image.Pt(31, 40)}, hit, "ours at (31,40)"},
		{"both find another place", there, measured{score: 1, at: at.Max}, measured{score: 1, at: at.Max}, "the anchor at (30,40)"},
		{"ours finds what is not there", gone, hit, measured{score: 0.6}, "ours: 1.000"},
		{"the scene is wrong", gone, measured{}, hit, "not what the scene says"},
	} {
		got := differ(c.task, c.ours, c.theirs, 0.95)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAGoalThatIsMissedIsPrintedAsNotMet(t *testing.T) {
	var out strings.Builder
	fast := result{name: "text, found", ratios: []float64{0.5, 0.4, 3}, walls: []float64{1}, cores: []float64{1}, ours: []float64{1}, theirs: []float64{1}}
	slow := fast
	slow.name, slow.ratios = "noise, found", []float64{0.9, 1.2, 1.1}
	if err := write(&out, "4.6.0", []result{fast, slow, {name: "photo, found", fault: "OpenCV at (1,2)"}}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(out.String(), "\n") {
		met := strings.Contains(line, " met ") && !strings.Contains(line, "not met")
		if strings.HasPrefix(line, "N8 ") && !strings.HasPrefix(line, "N8 is") && met != strings.Contains(line, "text, found") {
			t.Errorf("met = %v: %s", met, line)
		}
	}
	for _, want := range []string{"N8 is met on 1 of 3", "NOT THE SAME: OpenCV at (1,2)", "0.40 to 3.00"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &out)
		}
	}
}

func TestPPMHoldsThePixels(t *testing.T) {
	img := image.NewRGBA(image.Rect(5, 5, 7, 6))
	img.SetRGBA(5, 5, color.RGBA{1, 2, 3, 255})
	img.SetRGBA(6, 5, color.RGBA{254, 255, 0, 255})
	if got, want := string(ppm(img)), "P6 2 1 255\n\x01\x02\x03\xfe\xff\x00"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
