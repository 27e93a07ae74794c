package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// sumSize is the sum at the end of each page, and lockByte the place in the file
// that SQLite never uses; both are fixed by its formats.
const (
	sumSize  = 8
	lockByte = 1 << 30
)

// The database is read by a few scanners at a time, and in so many bytes at a time.
const (
	scanners = 4
	scanStep = 1 << 20
)

// scan reads every page of the database and returns the numbers of those whose
// sum is wrong, and of those that hold nothing but zeros: their sum is right, but
// only a free page is like that.
func (f *files) scan(ctx context.Context) (bad, zero []uint32, err error) {
	steps := uint32(max(scanStep/f.size, 1))           // pages at a time
	each := (f.pages/scanners + steps) / steps * steps // pages of one scanner
	var found [scanners]struct{ bad, zero []uint32 }
	g, ctx := errgroup.WithContext(ctx)
	for i := range found {
		first := 1 + uint32(i)*each
		if first > f.pages {
			break
		}
		g.Go(func() (err error) {
			found[i].bad, found[i].zero, err = f.scanFrom(ctx, first, min(first+each-1, f.pages), steps)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	for _, part := range found {
		bad, zero = append(bad, part.bad...), append(zero, part.zero...)
	}
	if f.inUse {
		bad = slices.DeleteFunc(bad, f.wholeNow)
	}
	return bad, zero, nil
}

// scanFrom does what scan does for the pages from first to last, some at a time.
func (f *files) scanFrom(ctx context.Context, first, last, some uint32) (bad, zero []uint32, err error) {
	buf := make([]byte, int(min(some, last-first+1))*f.size)
	for ; first <= last; first += some {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		n, err := f.db.ReadAt(buf[:int(min(some, last-first+1))*f.size], int64(first-1)*int64(f.size))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		for i := 0; i < n; i += f.size {
			number := first + uint32(i/f.size)
			if _, ok := f.logged[number]; ok || int64(number-1) == lockByte/int64(f.size) {
				continue
			}
			switch sum, whole := f.sum(buf[i:min(i+f.size, n)]); {
			case !whole:
				bad = append(bad, number)
			case sum == [2]uint32{}:
				zero = append(zero, number)
			}
		}
	}
	return bad, zero, nil
}

// wholeNow says whether a page is sound when it is read again: the first time it
// may just have been written.
func (f *files) wholeNow(n uint32) bool {
	for range 3 {
		page, err := f.page(n)
		if _, whole := f.sum(page); err == nil && whole {
			return true
		}
	}
	return false
}

// sum returns the sum of a page, and whether it is the one written in it.
func (f *files) sum(page []byte) (sum [2]uint32, whole bool) {
	if len(page) < f.size {
		return sum, false
	}
	at := f.size - sumSize
	sum = walSum(binary.LittleEndian, sum, page[:at])
	return sum, sum == [2]uint32{binary.LittleEndian.Uint32(page[at:]), binary.LittleEndian.Uint32(page[at+4:])}
}

// free returns the pages in the database's list of free ones, and whether the
// list could be followed to its end. New records are put where it leads.
func (f *files) free() (free map[uint32]bool, whole bool) {
	free = map[uint32]bool{}
	head, err := f.page(1)
	if err != nil {
		return free, false
	}
	for trunk := binary.BigEndian.Uint32(head[32:]); trunk != 0; {
		page, err := f.page(trunk)
		if err != nil || free[trunk] {
			return free, false
		}
		_, logged := f.logged[trunk]
		if _, whole := f.sum(page); !whole && !logged {
			return free, false
		}
		free[trunk] = true
		n := binary.BigEndian.Uint32(page[4:])
		if int64(n) > int64(f.size/4-2) {
			return free, false
		}
		for i := range n {
			free[binary.BigEndian.Uint32(page[8+4*i:])] = true
		}
		trunk = binary.BigEndian.Uint32(page)
	}
	return free, true
}

// numbers writes page numbers as ranges, the first of them when there are many.
func numbers(pages []uint32) string {
	const most = 10
	var ranges []string
	for i := 0; i < len(pages); {
		from := i
		for i++; i < len(pages) && pages[i] == pages[i-1]+1; i++ {
		}
		if len(ranges) == most {
			return strings.Join(ranges, ", ") + ", …"
		}
		if r := fmt.Sprint(pages[from]); i-from == 1 {
			ranges = append(ranges, r)
		} else {
			ranges = append(ranges, fmt.Sprintf("%s-%d", r, pages[i-1]))
		}
	}
	return strings.Join(ranges, ", ")
}
