package vision

import (
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"os"
	"testing"
)

// anchorAt is where testdata/anchor.png lies in testdata/desktop.png.
var anchorAt = image.Rect(500, 420, 564, 484)

func load(t testing.TB, name string) *image.RGBA {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	rgba := image.NewRGBA(img.Bounds())
	draw.Draw(rgba, rgba.Rect, img, img.Bounds().Min, draw.Src)
	return rgba
}

// desk is a part of testdata/desktop.png that holds the anchor: whole screens
// take seconds under the race detector.
func desk(t testing.TB) *image.RGBA {
	t.Helper()
	whole := load(t, "desktop.png")
	part := image.NewRGBA(image.Rect(460, 380, 690, 540))
	draw.Draw(part, part.Rect, whole, part.Rect.Min, draw.Src)
	return part
}

// altered applies contrast, brightness and noise, each channel on its own.
func altered(img *image.RGBA, contrast, brightness, noise float64) *image.RGBA {
	random := rand.New(rand.NewPCG(1, 2))
	out := image.NewRGBA(img.Rect)
	for i, v := range img.Pix {
		if i%4 == 3 {
			out.Pix[i] = 255
			continue
		}
		value := (float64(v)-128)*contrast + 128 + brightness + random.NormFloat64()*noise
		out.Pix[i] = uint8(min(max(value, 0), 255))
	}
	return out
}

func TestFindSurvivesNoiseAndBrightnessSteps(t *testing.T) {
	screen, anchor := desk(t), load(t, "anchor.png")
	for _, c := range []struct {
		name                        string
		contrast, brightness, noise float64
	}{
		{"unchanged", 1, 0, 0},
		{"brighter", 1, 40, 0},
		{"darker", 1, -20, 0},
		{"half the contrast", 0.5, 0, 0},
		{"half the contrast, darker", 0.5, -40, 0},
		{"noise", 1, 0, 10},
		{"brighter with noise", 0.8, 30, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Find(altered(screen, c.contrast, c.brightness, c.noise), anchor, Options{MinScore: 0.9})
			if err != nil {
				t.Fatal(err)
			}
			if m.Bounds != anchorAt {
				t.Errorf("found at %v with score %v, want %v", m.Bounds, m.Score, anchorAt)
			}
		})
	}
}

func TestFindGivesAnUnchangedPictureTheFullScore(t *testing.T) {
	m, err := Find(load(t, "desktop.png"), load(t, "anchor.png"), Options{MinScore: 1})
	if err != nil || m.Score < 0.999999 {
		t.Errorf("score %v, %v; want 1", m.Score, err)
	}
	if want := image.Pt(532, 452); m.Center() != want {
		t.Errorf("center %v, want %v", m.Center(), want)
	}
}

func TestFindRefusesTwoEqualMatches(t *testing.T) {
	screen, anchor := desk(t), load(t, "anchor.png")
	second := image.Rect(611, 463, 675, 527)
	draw.Draw(screen, second, anchor, image.Point{}, draw.Src)
	_, err := Find(altered(screen, 1, 0, 4), anchor, Options{MinScore: 0.9})
	var ambiguous *AmbiguousError
	if !errors.Is(err, ErrAmbiguous) || !errors.As(err, &ambiguous) {
		t.Fatalf("err = %v, want %v", err, ErrAmbiguous)
	}
	got := map[image.Rectangle]bool{ambiguous.First.Bounds: true, ambiguous.Second.Bounds: true}
	if !got[anchorAt] || !got[second] {
		t.Errorf("refused for %v, want %v and %v", got, anchorAt, second)
	}
	all, err := FindAll(screen, anchor, Options{MinScore: 0.9})
	if err != nil || len(all) != 2 {
		t.Errorf("FindAll = %v, %v; want both", all, err)
	}
	m, err := Find(screen, anchor, Options{MinScore: 0.9, Region: image.Rect(590, 0, 1280, 800)})
	if err != nil || m.Bounds != second {
		t.Errorf("in a region that holds one of them: %v, %v; want %v", m, err, second)
	}
}

func TestFindChoosesAMatchThatIsClearlyBetter(t *testing.T) {
	screen, anchor := desk(t), load(t, "anchor.png")
	worse := image.Rect(610, 460, 674, 524)
	draw.Draw(screen, worse, altered(anchor, 1, 0, 40), image.Point{}, draw.Src)
	m, err := Find(screen, anchor, Options{MinScore: 0.85})
	if err != nil || m.Bounds != anchorAt {
		t.Errorf("Find = %v, %v; want %v", m, err, anchorAt)
	}
	if _, err = Find(screen, anchor, Options{MinScore: 0.85, Margin: 0.5}); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("with a margin that neither has: %v, want %v", err, ErrAmbiguous)
	}
}

func TestNotFoundCarriesTheBestScore(t *testing.T) {
	screen, anchor := desk(t), load(t, "anchor.png")
	noisy := altered(screen, 1, 0, 32)
	_, err := Find(noisy, anchor, Options{MinScore: 0.99})
	var missing *NotFoundError
	if !errors.Is(err, ErrNotFound) || !errors.As(err, &missing) {
		t.Fatalf("err = %v, want %v", err, ErrNotFound)
	}
	if missing.Best.Bounds != anchorAt || missing.Best.Score >= 0.99 || missing.Best.Score < 0.94 {
		t.Errorf("best = %+v, want one at %v", missing.Best, anchorAt)
	}
	found, err := Find(noisy, anchor, Options{MinScore: missing.Best.Score})
	if err != nil || found != missing.Best {
		t.Errorf("asked for that score: %v, %v; want %v", found, err, missing.Best)
	}
	draw.Draw(screen, anchorAt, image.Black, image.Point{}, draw.Src)
	_, err = FindAll(screen, anchor, Options{MinScore: 0.9})
	if !errors.As(err, &missing) || missing.Best != (Match{}) {
		t.Errorf("painted over: %v, want %v", err, ErrNotFound)
	}
}

func TestFindRefusesWhatCannotBeSearched(t *testing.T) {
	screen, anchor := desk(t), load(t, "anchor.png")
	good := Options{MinScore: 0.9}
	for _, c := range []struct {
		name   string
		anchor image.Image
		o      Options
		want   error
	}{
		{"a uniform anchor", image.NewRGBA(image.Rect(0, 0, 20, 20)), good, ErrUniform},
		{"an empty anchor", image.NewRGBA(image.Rectangle{}), good, ErrInvalid},
		{"an anchor wider than the screen", altered(image.NewRGBA(image.Rect(0, 0, 231, 3)), 1, 0, 9), good, ErrTooLarge},
		{"an anchor higher than the region", anchor, Options{MinScore: 0.9, Region: image.Rect(0, 0, 600, 443)}, ErrTooLarge},
		{"a region off the screen", anchor, Options{MinScore: 0.9, Region: image.Rect(-100, -100, 0, 0)}, ErrTooLarge},
		{"no least score", anchor, Options{}, ErrInvalid},
		{"a least score over 1", anchor, Options{MinScore: 1.1}, ErrInvalid},
		{"a negative margin", anchor, Options{MinScore: 0.9, Margin: -1}, ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Find(screen, c.anchor, c.o); !errors.Is(err, c.want) {
				t.Errorf("err = %v, want %v", err, c.want)
			}
		})
	}
}

func TestFindKeepsToTheScreensOwnCoordinates(t *testing.T) {
	screen, anchor := desk(t), load(t, "anchor.png")
	left := image.Pt(-1280, -200)
	screen.Rect = screen.Rect.Add(left)
	anchor.Rect = anchor.Rect.Add(image.Pt(7, 9))
	m, err := Find(screen, anchor, Options{MinScore: 0.95})
	if err != nil || m.Bounds != anchorAt.Add(left) {
		t.Errorf("Find = %v, %v; want %v", m, err, anchorAt.Add(left))
	}
}

func TestFindReadsEveryKindOfPicture(t *testing.T) {
	screen, anchor := desk(t), load(t, "anchor.png")
	gray := image.NewGray(screen.Rect)
	draw.Draw(gray, gray.Rect, screen, screen.Rect.Min, draw.Src)
	part := screen.SubImage(image.Rect(480, 400, 600, 520))
	for name, img := range map[string]image.Image{"grey": gray, "a part of a picture": part} {
		m, err := Find(img, anchor, Options{MinScore: 0.95})
		if err != nil || m.Bounds != anchorAt {
			t.Errorf("%s: %v, %v; want %v", name, m, err, anchorAt)
		}
	}
}

func TestFlatGroundWithNoiseIsNoMatch(t *testing.T) {
	screen := altered(image.NewRGBA(image.Rect(0, 0, 300, 200)), 1, 0, 1)
	anchor := image.NewRGBA(image.Rect(0, 0, 3, 3))
	anchor.Set(1, 1, color.White)
	if m, err := Find(screen, anchor, Options{MinScore: 0.8}); !errors.Is(err, ErrNotFound) {
		t.Errorf("Find = %v, %v; want %v", m, err, ErrNotFound)
	}
}
