package journal

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// The layout of SQLite's write-ahead log, which its file format fixes.
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
	walMagic        = 0x377f0682 // the lowest bit says that sums are taken in big-endian order
)

// readLog looks for damage in the write-ahead log of the database at path, which
// SQLite itself takes for the log's end, and returns the pages that the log holds.
func readLog(path string, log []byte, pageSize int) (map[uint32][]byte, error) {
	at, bad := findDamage(log, pageSize)
	if bad {
		return nil, damagedSo(path+"-wal", fmt.Sprintf("records were written after byte %d, and cannot be read from there on; "+
			"put back a copy of %s*, or run \"truncate -s %d %s-wal\" to keep what comes before and give up what follows", at, path, at, path), nil)
	}
	return committed(log, pageSize, at), nil
}

// committed returns the pages that the commits in the log give, up to the end of
// what can be read.
func committed(log []byte, pageSize int, end int64) map[uint32][]byte {
	pages, open := map[uint32][]byte{}, map[uint32][]byte{}
	size := frameHeaderSize + pageSize
	for at := walHeaderSize; int64(at+size) <= end; at += size {
		frame := log[at : at+size]
		open[binary.BigEndian.Uint32(frame)] = frame[frameHeaderSize:]
		if binary.BigEndian.Uint32(frame[4:]) != 0 { // the last frame of a commit
			maps.Copy(pages, open)
			clear(open)
		}
	}
	return pages
}

// findDamage returns where a log stops being readable, and whether that is
// damage and not a tail that a crash cut off.
//
// SQLite syncs a commit before it writes the next one, so a crash can spoil the
// last commit only. Frames sum up all that is before them; two commits that
// continue each other behind an unreadable place are therefore two that were
// written after it, the first of which was synced together with it.
func findDamage(log []byte, pageSize int) (at int64, bad bool) {
	size := frameHeaderSize + pageSize
	if pageSize < 512 || len(log) < walHeaderSize+size {
		return 0, false
	}
	header := log[:walHeaderSize]
	frames := slices.Collect(slices.Chunk(log[walHeaderSize:], size))
	if last := len(frames) - 1; len(frames[last]) < size {
		frames = frames[:last]
	}
	order, sum, ok := readHeader(header)
	if !ok { // it is no witness of what follows: ask the frames alone
		salt := [8]byte(frames[0][8:16])
		return 0, twoCommits(binary.LittleEndian, salt, frames) || twoCommits(binary.BigEndian, salt, frames)
	}
	salt, read := [8]byte(header[16:24]), 0
	for read < len(frames) && saltOf(frames[read]) == salt && frameSum(order, sum, frames[read]) == sumOf(frames[read]) {
		sum = sumOf(frames[read])
		read++
	}
	return walHeaderSize + int64(read)*int64(size), twoCommits(order, salt, frames[read:])
}

// readHeader returns the order of a log's sums and the header's own sum, which
// the first frame continues; ok says that the header is whole.
func readHeader(header []byte) (order binary.ByteOrder, sum [2]uint32, ok bool) {
	order = binary.LittleEndian
	magic := binary.BigEndian.Uint32(header)
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	sum = walSum(order, sum, header[:24])
	return order, sum, magic&^1 == walMagic && sum == sumAt(header[24:])
}

// twoCommits says whether two commits of the log with that salt continue each
// other somewhere in the frames.
func twoCommits(order binary.ByteOrder, salt [8]byte, frames [][]byte) bool {
	commits, linked, sum := 0, false, [2]uint32{}
	for _, f := range frames {
		if saltOf(f) != salt {
			commits, linked = 0, false
			continue
		}
		if !linked || frameSum(order, sum, f) != sumOf(f) {
			commits = 0
		}
		linked, sum = true, sumOf(f)
		if binary.BigEndian.Uint32(f[4:]) == 0 { // not the last frame of a commit
			continue
		}
		if commits++; commits == 2 {
			return true
		}
	}
	return false
}

func saltOf(frame []byte) [8]byte  { return [8]byte(frame[8:16]) }
func sumOf(frame []byte) [2]uint32 { return sumAt(frame[16:]) }

// frameSum is the sum that a frame has after one with the sum before.
func frameSum(order binary.ByteOrder, before [2]uint32, frame []byte) [2]uint32 {
	return walSum(order, walSum(order, before, frame[:8]), frame[frameHeaderSize:])
}

func sumAt(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

func walSum(order binary.ByteOrder, s [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
	return s
}
