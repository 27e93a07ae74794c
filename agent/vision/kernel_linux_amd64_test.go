package vision

import (
	"os"
	"syscall"
	"testing"
)

// The page behind the picture can't be read: a vector that reaches into it ends
// the test with a fault.
func TestVectorsReadNothingBeyondThePicture(t *testing.T) {
	needVectors(t)
	size := os.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(memory) }()
	if err := syscall.Mprotect(memory[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for w := 1; w <= 3*block; w++ {
		pix := memory[size-3*w : size : size]
		weights := make([]int8, 3*w)
		for i := range weights {
			weights[i], pix[i] = int8(i%7), uint8(i)
		}
		r := newRows(weights, w, w, []int{2, 0, 1})
		if got, want := r.product(pix, 0), r.plainProduct(pix, 0); got != want {
			t.Errorf("rows of %d: %d, want %d", w, got, want)
		}
	}
}
