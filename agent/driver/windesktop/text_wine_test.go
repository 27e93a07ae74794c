//go:build windows && wine

package windesktop

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reprise-rpa/reprise/agent/driver"
	"github.com/reprise-rpa/reprise/agent/winapi"
	"github.com/reprise-rpa/reprise/agent/winapi/winapitest"
)

// spinner names the variable that tells a process of the test to keep a processor busy
// until it is killed.
const spinner = "REPRISE_TEST_SPINS"

// spin ends by itself after a while, should nobody be left to kill it.
func spin() {
	for end := time.Now().Add(30 * time.Minute); time.Now().Before(end); {
		runtime.Gosched()
	}
}

// busy keeps every processor busy until the test ends.
func busy(t *testing.T) {
	t.Helper()
	var processes []*exec.Cmd
	for range runtime.NumCPU() {
		process := again(t, spinner+"=1")
		process.Env = append(process.Env, "GOMAXPROCS=1")
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		processes = append(processes, process)
	}
	t.Cleanup(func() {
		for _, p := range processes {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
}

// pieces are what mixed texts are made of: doubled letters, signs, accents, other
// scripts, characters of two units, some of several of those, tabs and line ends.
var pieces = []string{
	"aa", "bb", "ll", "Hello", "x", "Z", "0", "17", " ", "  ", "\t", "\n", "!", "\"", "#", "{[]}", "~^`", "\\|", "<&>", "'",
	"é", "è", "à", "ç", "œ", "ÀÉ", "ß", "ñ", "€", "→", "§", "°", "Ω", "жи", "שלום", "漢字", "かな", "e\u0301",
	"😀", "🚀🚀", "👨‍👩‍👧", "🇫🇷", "𝔘",
}

// mixed is the text of the fault's report and characters mixed after it.
func mixed(seed uint64, characters int) string {
	random := rand.New(rand.NewPCG(seed, 5000))
	var text strings.Builder
	text.WriteString("aabbll 😀 👨‍👩‍👧 é\n")
	for left := characters; left > 0; {
		piece := []rune(pieces[random.IntN(len(pieces))])
		piece = piece[:min(len(piece), left)]
		text.WriteString(string(piece))
		left -= len(piece)
	}
	return text.String()
}

// thorough names the variable that has the two tests after it type 5,000 characters
// in each of 20 runs, which takes many minutes.
const thorough = "REPRISE_TEST_THOROUGH"

// load is how many runs of how many characters a test types.
func load(runs, characters int) (int, int) {
	if os.Getenv(thorough) != "" {
		return 20, 5000
	}
	return runs, characters
}

// An edit control of Wine's takes its time over each character.
func TestB08_MixedCharactersArriveInAnEditControlWhileAllProcessorsAreBusy(t *testing.T) {
	d := openReal(t, Config{TypePace: time.Nanosecond}) // as fast as Windows takes them
	edit := winapitest.OpenEdit(t, "is typed into", image.Rect(40, 60, 440, 360))
	busy(t)
	runs, characters := load(20, 60)
	for run := range runs {
		text := mixed(uint64(run), characters)
		edit.Clear()
		perform(t, d, driver.Type{Text: text})
		awaitAll(t, fmt.Sprintf("run %d", run), edit, text)
	}
}

func TestB08_FiveThousandMixedCharactersArriveWhileAllProcessorsAreBusy(t *testing.T) {
	d := openReal(t, Config{TypePace: time.Nanosecond})
	busy(t)
	runs, characters := load(1, 5000)
	for run := range runs {
		w := winapitest.Open(t, fmt.Sprint("is typed into ", run), image.Rect(40, 60, 440, 360))
		text := mixed(uint64(run), characters)
		began := time.Now()
		perform(t, d, driver.Type{Text: text})
		awaitAll(t, fmt.Sprintf("run %d", run), w, text)
		t.Logf("run %d: %v", run, time.Since(began).Round(time.Millisecond))
	}
}

// awaitAll waits until a window holds a text, as long as there comes more of it, and
// otherwise says where another one begins to be one.
func awaitAll(t *testing.T, what string, w interface{ Text() string }, want string) {
	t.Helper()
	const patience = time.Minute
	again, bound := time.NewTicker(20*time.Millisecond), time.NewTimer(patience)
	defer again.Stop()
	defer bound.Stop()
	for before := -1; ; {
		got := w.Text()
		if got == want {
			return
		}
		if len(got) != before {
			before = len(got)
			bound.Reset(patience)
		}
		select {
		case <-again.C:
		case <-bound.C:
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Fatalf("%s: %d bytes arrived of %d, the first other one is %d: %q, want %q", what, len(got), len(want), at,
				got[at:min(len(got), at+20)], want[at:min(len(want), at+20)])
		}
	}
}

func TestB07_TextIsTypedAsItIsThoughCapsLockIsOn(t *testing.T) {
	for mode, text := range map[TypeMode]string{Unicode: "Hello aZ é€ 😀\n", ScanCodes: "Hello aZ 19!?\n\tb"} {
		d := openReal(t, Config{TypeMode: mode})
		edit := winapitest.OpenEdit(t, "is typed into", image.Rect(40, 60, 440, 360))
		capsLock(t, true)
		if err := d.Do(t.Context(), driver.Type{Text: text}); err != nil {
			t.Fatal(err)
		}
		awaitAll(t, fmt.Sprint("mode ", mode), edit, text)
		winapitest.Await(t, "caps lock is on again", func() bool { return d.system.Toggled(vkCapital) })
		capsLock(t, false)
	}
}

// capsLock switches caps lock, and off again with the test.
func capsLock(t *testing.T, on bool) {
	t.Helper()
	system := winapi.System{}
	press := newBoard(system).press(vkCapital)
	if system.Toggled(vkCapital) == on {
		return
	}
	if _, err := system.SendInput(press); err != nil {
		t.Fatal(err)
	}
	winapitest.Await(t, "caps lock has changed", func() bool { return system.Toggled(vkCapital) == on })
	if on {
		t.Cleanup(func() { capsLock(t, false) })
	}
}

func idOf(w winapi.HWND) string { return windowID(w, uint32(os.Getpid())) }

func TestB05_TypedTextArrivesOnlyInTheWindowThatWasBroughtToTheFront(t *testing.T) {
	d := openReal(t, Config{})
	first := winapitest.OpenEdit(t, "first", leftmost(t, d).Inset(60))
	second := winapitest.OpenEdit(t, "second", image.Rect(300, 200, 700, 500))
	want := map[*winapitest.Edit]string{}
	for _, w := range []*winapitest.Edit{first, second, second, first} {
		text := fmt.Sprintf("%d é😀 ", len(want[first])+len(want[second]))
		if err := d.Do(t.Context(), driver.Focus{WindowID: idOf(w.HWND())}); err != nil {
			t.Fatal(err)
		}
		if err := d.Do(t.Context(), driver.Type{Text: text}); err != nil {
			t.Fatal(err)
		}
		want[w] += text
		awaitAll(t, "the one in front", w, want[w])
	}
	awaitAll(t, "the first", first, want[first])
	awaitAll(t, "the second", second, want[second])
}

func TestB05_TypingStopsWhenAnotherWindowComesToTheFront(t *testing.T) {
	d := openReal(t, Config{})
	other := winapitest.Open(t, "comes to the front", image.Rect(460, 60, 860, 360))
	w := winapitest.Open(t, "is typed into", image.Rect(40, 60, 440, 360))
	go func() {
		for len(w.Text()) < 10 {
			select {
			case <-w.Changed():
			case <-time.After(10 * time.Millisecond): // one came between the two looks
			}
		}
		if err := d.system.BringToFront(other.HWND()); err != nil {
			t.Error(err)
		}
	}()
	text := strings.Repeat("0123456789", 300)
	err := d.Do(t.Context(), driver.Type{Text: text})
	var partly *driver.InputError
	if !errors.Is(err, driver.ErrNotInFront) || !errors.As(err, &partly) || !strings.Contains(err.Error(), "comes to the front") {
		t.Fatalf("%v; want that the other window came to the front", err)
	}
	sent := text[:partly.Sent/2] // down and up
	for quiet := false; !quiet; {
		select {
		case <-w.Changed():
		case <-time.After(500 * time.Millisecond):
			quiet = true
		}
	}
	// Between the look and the call there is room for one character. Wine drops what a
	// window has not taken yet when it loses the keyboard.
	if got := w.Text(); len(got) < 10 || !strings.HasPrefix(sent, got) || len(other.Text()) > 1 {
		t.Errorf("%d characters sent; %q arrived, and %q in the other window", len(sent), got, other.Text())
	}
}
