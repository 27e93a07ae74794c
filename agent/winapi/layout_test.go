package winapi

import (
	"encoding/hex"
	"image"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// bytesOf is what SendInput would read.
func bytesOf(packed []input) string {
	var b strings.Builder
	for i := range packed {
		p := (*[unsafe.Sizeof(input{})]byte)(unsafe.Pointer(&packed[i]))
		b.WriteString(hex.EncodeToString(p[:]) + "\n")
	}
	return b.String()
}

func TestB17_EventsArePackedAsWindowsReadsThem(t *testing.T) {
	packed, err := pack([]Event{
		MouseEvent{X: 0x01020304, Y: -2, Data: -WheelDelta, Flags: MouseMove | MouseAbsolute | MouseVirtualDesk | MouseWheel},
		KeyEvent{Key: 0x41, Scan: 0x1e, Flags: KeyUp},
		KeyEvent{Scan: 0xd83d, Flags: KeyUnicode},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Kind, padding, then MOUSEINPUT: dx dy data flags time, padding, extra; or
	// KEYBDINPUT: vk scan flags time, padding, extra, and what the union is longer.
	want := map[string]string{
		"64": `
00000000 00000000 04030201 feffffff 88ffffff 01c80000 00000000 00000000 5352505200000000
01000000 00000000 4100 1e00 02000000 00000000 00000000 5352505200000000 0000000000000000
01000000 00000000 0000 3dd8 04000000 00000000 00000000 5352505200000000 0000000000000000
`,
		"32": `
00000000 04030201 feffffff 88ffffff 01c80000 00000000 53525052
01000000 4100 1e00 02000000 00000000 53525052 0000000000000000
01000000 0000 3dd8 04000000 00000000 53525052 0000000000000000
`,
	}[map[bool]string{true: "64", false: "32"}[unsafe.Sizeof(uintptr(0)) == 8]]
	want = strings.TrimPrefix(strings.ReplaceAll(want, " ", ""), "\n")
	if diff := cmp.Diff(want, bytesOf(packed)); diff != "" {
		t.Errorf("on %s (-want +got):\n%s", runtime.GOARCH, diff)
	}
}

type strange struct{}

func (strange) event() {}

func TestAnEventOfAnotherKindIsAnError(t *testing.T) {
	for _, e := range []Event{nil, strange{}, &MouseEvent{}} {
		if packed, err := pack([]Event{e}); err == nil {
			t.Errorf("%T packed as %+v", e, packed)
		}
	}
	if packed, err := pack(nil); err != nil || len(packed) != 0 {
		t.Errorf("no events: %v, %v", packed, err)
	}
}

func TestB15_APointGoesByValueWithItsSign(t *testing.T) {
	got := point{-1280, 799}.byValue()
	want := []uintptr{uintptr(0xfffffb00), 799}
	if unsafe.Sizeof(uintptr(0)) == 8 {
		high := uint64(799) << 32
		want = []uintptr{uintptr(high | 0xfffffb00)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestB15_AMonitorIsReadWithItsSignsAndItsName(t *testing.T) {
	info := emptyMonitor()
	if info.size != 104 {
		t.Errorf("it says that it has %d bytes", info.size)
	}
	info.monitor, info.work = rect{-1280, -30, 0, 770}, rect{-1280, -30, 0, 740}
	copy(info.device[:], []uint16{'\\', '\\', '.', '\\', 'D', '1'})
	want := Monitor{Bounds: image.Rect(-1280, -30, 0, 770), DPI: 144, Name: `\\.\D1`}
	if diff := cmp.Diff(want, info.asMonitor(144)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info.flags = primary; !info.asMonitor(96).Primary {
		t.Error("the primary monitor does not say so")
	}
}

func TestB01_ALockIsReadFromTheLevelThatIsKnownAlone(t *testing.T) {
	if got := (&sessionInfo{level: 1, flags: sessionLocked}).lock(); got != sessionLocked {
		t.Errorf("level 1, locked: %d", got)
	}
	if got := (&sessionInfo{level: 2, flags: sessionLocked}).lock(); got != sessionUnknown {
		t.Errorf("a level of another layout: %d", got)
	}
}
