package winapi

import (
	"math"
	"testing"
)

// A memory block of the clipboard may be larger than what was put there, and what another
// program puts there under our name may be anything.
func TestAMarkIsReadBackFromMemoryOfAnySize(t *testing.T) {
	for _, mark := range []uint64{1, 0x0123456789abcdef, math.MaxUint64} {
		content := markBytes(mark)
		if got := markOf(append(content, 0xff, 0xff, 0xff)); got != mark {
			t.Errorf("%x is read back as %x", mark, got)
		}
		for short := range len(content) {
			if got := markOf(content[:short]); got != 0 {
				t.Errorf("%d bytes of %x are %x", short, mark, got)
			}
		}
	}
}
