package vision

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// withEachKernel runs a test with vectors, where the processor has them, and
// without.
func withEachKernel(t *testing.T, run func(t *testing.T)) {
	had := vectors
	t.Cleanup(func() { vectors = had })
	if had {
		t.Run("vectors", run)
	} else {
		t.Log("without vectors alone: this processor has no AVX2 and FMA")
	}
	vectors = false
	t.Run("plain", run)
}

func needVectors(t *testing.T) {
	t.Helper()
	if !vectors {
		t.Skip("this processor has no AVX2 and FMA")
	}
}

func TestVectorsMultiplyRowsAsPlainCodeDoes(t *testing.T) {
	needVectors(t)
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 13))
		w, h := rapid.IntRange(1, 200).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
		stride, lines := w+rapid.IntRange(0, 40).Draw(t, "more w"), h+rapid.IntRange(0, 3).Draw(t, "more h")
		extreme := rapid.Bool().Draw(t, "extreme")
		weights, pix := make([]int8, w*h), make([]uint8, stride*lines, stride*lines+rapid.SampledFrom([]int{0, block}).Draw(t, "spare"))
		for i := range weights {
			if weights[i] = int8(random.IntN(2*mostWeight+1) - mostWeight); extreme {
				weights[i] = mostWeight
			}
		}
		for i := range pix {
			if pix[i] = uint8(random.Uint32()); extreme {
				pix[i] = 255
			}
		}
		var which []int
		for y := range h {
			if random.IntN(3) > 0 {
				which = append(which, y)
			}
		}
		if which == nil {
			which = []int{0}
		}
		random.Shuffle(len(which), func(i, j int) { which[i], which[j] = which[j], which[i] })
		r := newRows(weights, w, stride, which)
		for y := range lines - h + 1 {
			for x := range stride - w + 1 {
				at := y*stride + x
				if got, want := r.product(pix, at), r.plainProduct(pix, at); got != want {
					t.Fatalf("at (%d,%d) of %d rows: %d, want %d", x, y, len(which), got, want)
				}
			}
		}
	})
}

// The largest sum that one call makes is just within 32 bits.
func TestVectorsDoNotOverflowOnTheLargestAnchor(t *testing.T) {
	needVectors(t)
	w, h := 2*block, mostBlocks/2+3
	weights, which := make([]int8, w*h), make([]int, h)
	pix := make([]uint8, w*h, w*h+block)
	for i := range pix {
		weights[i], pix[i] = mostWeight, 255
	}
	for y := range which {
		which[y] = y
	}
	r := newRows(weights, w, w, which)
	if got, want := r.product(pix, 0), int64(w*h*mostWeight*255); got != want {
		t.Errorf("%d, want %d", got, want)
	}
}

func TestVectorsWeighBlocksAsPlainCodeDoes(t *testing.T) {
	needVectors(t)
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 17))
		k := rapid.IntRange(1, 8).Draw(t, "k")
		right, down := rapid.IntRange(1, 20).Draw(t, "right"), rapid.IntRange(1, 200).Draw(t, "down")
		features, weights := make([]float32, (k-1)*(right+down)+strip), make([]float32, k*k)
		var length, weight float64
		for i := range features {
			features[i] = float32(random.NormFloat64() * 1000)
			length = max(length, math.Abs(float64(features[i])))
		}
		for i := range weights {
			weights[i] = float32(random.NormFloat64() * 1000)
			weight = max(weight, math.Abs(float64(weights[i])))
		}
		// What is there is written over; what is not read must not matter.
		dots, squares := [strip]float32{5: 7}, [strip]float32{6: 7}
		weighBlocks(&dots, &squares, features, weights, k, right, down)
		var wantDots, wantSquares [strip]float32
		plainWeighBlocks(&wantDots, &wantSquares, features, weights, k, right, down)
		terms := float64(k * k)
		for i := range strip {
			if d := math.Abs(float64(dots[i] - wantDots[i])); d > rounding*terms*length*weight {
				t.Fatalf("place %d: product %v, want %v", i, dots[i], wantDots[i])
			}
			if d := math.Abs(float64(squares[i] - wantSquares[i])); d > rounding*terms*length*length {
				t.Fatalf("place %d: squares %v, want %v", i, squares[i], wantSquares[i])
			}
		}
	})
}
