package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// picture returns a small PNG of one colour, and its digest.
func picture(t *testing.T, c color.Color) (data []byte, digest string) {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		img.Set(i%8, i/8, c)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	return out.Bytes(), hex.EncodeToString(sum[:])
}

// folder writes files below a new folder and returns it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// looking is a workflow that waits for one anchor after the other.
func looking(anchors ...string) string {
	var b strings.Builder
	b.WriteString("name: w\nactions:\n")
	for _, a := range anchors {
		b.WriteString("  - waitForTarget: {}\n    target:\n      anchorImage: {" + a + "}\n")
	}
	return b.String()
}

func TestEachPictureIsTakenOnceByItsDigest(t *testing.T) {
	red, redSum := picture(t, color.NRGBA{R: 255, A: 255})
	blue, blueSum := picture(t, color.NRGBA{B: 255, A: 255})
	_, elsewhere := picture(t, color.Black)
	dir := folder(t, map[string]string{
		"w.yaml":            looking("path: red.png", "path: anchors/blue.png", "path: anchors/copy.png", "path: red.png, sha256: "+redSum, "sha256: "+elsewhere),
		"red.png":           string(red),
		"anchors/blue.png":  string(blue),
		"anchors/copy.png":  string(red),
		"anchors/other.png": "never read",
	})
	f, err := Load(filepath.Join(dir, "w.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Picture{{"red.png", redSum, red}, {"anchors/blue.png", blueSum, blue}}
	if diff := cmp.Diff(want, f.Pictures); diff != "" {
		t.Error(diff)
	}
	var digests []string
	for _, a := range f.Workflow.GetActions() {
		anchor := a.GetTarget().GetAnchorImage()
		if anchor.GetPath() != "" {
			t.Errorf("the path %q would travel", anchor.GetPath())
		}
		digests = append(digests, anchor.GetSha256())
	}
	if diff := cmp.Diff([]string{redSum, blueSum, redSum, redSum, elsewhere}, digests); diff != "" {
		t.Error(diff)
	}
}

func TestADragHasTwoPictures(t *testing.T) {
	red, _ := picture(t, color.NRGBA{R: 255, A: 255})
	blue, _ := picture(t, color.NRGBA{B: 255, A: 255})
	dir := folder(t, map[string]string{
		"w.yaml":  valid("target: {anchorImage: {path: a.png}}\n    drag: {to: {anchorImage: {path: b.png}}}"),
		"a.png":   string(red),
		"b.png":   string(blue),
		"c/d.txt": "",
	})
	f, err := Load(filepath.Join(dir, "w.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Pictures) != 2 {
		t.Errorf("%d pictures, want 2", len(f.Pictures))
	}
}

func TestABadPictureIsAFaultAtItsPath(t *testing.T) {
	red, sum := picture(t, color.NRGBA{R: 255, A: 255})
	outside := folder(t, map[string]string{"secret.png": string(red)})
	dir := folder(t, map[string]string{
		"red.png": string(red), "torn.png": string(red[:len(red)-20]), "text.png": "hello", "sub/x.png": string(red),
	})
	if err := os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(dir, "link.png")); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, anchor, want string }{
		{"not there", "path: gone.png", "gone.png: no such file or directory"},
		{"a folder", "path: sub", "sub: is a directory"},
		{"absolute", "path: " + filepath.Join(dir, "red.png"), "red.png: a picture lies in the workflow file's folder or below it"},
		{"above", "path: ../red.png", "../red.png: a picture lies in the workflow file's folder or below it"},
		{"above, by a detour", "path: sub/../../red.png", "sub/../../red.png: a picture lies in the workflow file's folder or below it"},
		{"a link that leads out", "path: link.png", "link.png: path escapes from parent"},
		{"a backslash", `path: sub\x.png`, `sub\x.png: folders are separated by a slash`},
		{"no PNG", "path: text.png", "text.png: not a PNG: "},
		{"half a PNG", "path: torn.png", "torn.png: not a whole PNG: "},
		{"another digest", "path: red.png, sha256: " + strings.Repeat("a", 64), "red.png has another digest: " + sum},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(dir, "w.yaml")
			if err := os.WriteFile(file, []byte(looking(tt.anchor)), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Load(file)
			faults := (Faults)(nil)
			if !errors.As(err, &faults) || len(faults) != 1 {
				t.Fatalf("Load = %v, want one fault", err)
			}
			if !strings.Contains(faults[0].Message, tt.want) || faults[0].Line != 5 {
				t.Errorf("%v, want line 5: %s", err, tt.want)
			}
		})
	}
}

func TestPictureFaultsComeWithTheOthers(t *testing.T) {
	dir := folder(t, map[string]string{"w.yaml": looking("path: gone.png") + "  - name: a\n"})
	_, err := Load(filepath.Join(dir, "w.yaml"))
	if faults := (Faults)(nil); !errors.As(err, &faults) || len(faults) != 2 {
		t.Errorf("Load = %v, want two faults", err)
	}
}

func TestAFileThatCannotBeReadIsNoFaultOfItsContent(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(filepath.Join(dir, "gone.yaml"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load = %v, want %v", err, fs.ErrNotExist)
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, bytes.Repeat([]byte("# \n"), MaxSize/3+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big); err == nil || !strings.Contains(err.Error(), "more than 8388608 bytes") {
		t.Errorf("Load = %v, want a complaint about the size", err)
	}
}
