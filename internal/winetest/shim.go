package winetest

import (
	"bytes"
	"encoding/binary"
)

// ShimName is the file name of the library that Shim makes.
const ShimName = "bcryptprimitives.dll"

// Where things lie in the library: one section, headers and section of one file
// alignment each.
const (
	fileAlignment    = 0x200
	sectionAlignment = 0x1000
	sectionAddress   = sectionAlignment
)

// Shim is a 64-bit DLL without code that exports ProcessPrng and forwards it to
// advapi32's SystemFunction036. Go programs take their random numbers from the first
// and do not start without it; Wine 8 lacks it, and has the second. Both fill a buffer
// of a given length. The layout is that of Microsoft's "PE Format".
func Shim() []byte {
	exports := shimExports()
	var file bytes.Buffer
	write := func(values ...any) {
		for _, v := range values {
			// Fixed sizes into a buffer: this cannot fail.
			_ = binary.Write(&file, binary.LittleEndian, v)
		}
	}
	const peOffset = 0x40
	write([]byte("MZ"), make([]byte, 0x3a), uint32(peOffset)) // DOS header: its last field finds the next
	write([]byte("PE\x00\x00"))
	write(uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), // AMD64, one section, no time, no symbols
		uint16(240), uint16(0x2022)) // size of the optional header; executable, large addresses, DLL
	write(uint16(0x20b), uint16(0), uint32(0), uint32(fileAlignment), uint32(0), uint32(0), uint32(0)) // PE32+, no entry point
	write(uint64(0x180000000), uint32(sectionAlignment), uint32(fileAlignment))
	write(uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0)) // versions
	write(uint32(sectionAddress+sectionAlignment), uint32(fileAlignment), uint32(0),   // sizes of image and headers, no checksum
		uint16(3), uint16(0x140)) // console; relocatable, no data executed
	write(uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000), uint32(0), uint32(16)) // stack, heap, 16 directories
	write(uint32(sectionAddress), uint32(len(exports)), make([]byte, 15*8))
	write([]byte(".edata\x00\x00"), uint32(len(exports)), uint32(sectionAddress), uint32(fileAlignment), uint32(fileAlignment),
		make([]byte, 12), uint32(0x40000040)) // initialised data, readable
	write(make([]byte, fileAlignment-file.Len()), exports, make([]byte, fileAlignment-len(exports)))
	return file.Bytes()
}

// shimExports is the export directory. An address within it is no code but the name
// of the export to forward to.
func shimExports() []byte {
	const directory, functions, names, ordinals, text = 0, 40, 44, 48, 50
	strings := []string{ShimName, "ProcessPrng", "advapi32.SystemFunction036"}
	at := make([]uint32, len(strings))
	var tail []byte
	for i, s := range strings {
		at[i] = sectionAddress + text + uint32(len(tail))
		tail = append(append(tail, s...), 0)
	}
	b := make([]byte, text, text+len(tail))
	put := binary.LittleEndian.PutUint32
	put(b[directory+12:], at[0])                    // name of the DLL
	put(b[directory+16:], 1)                        // first ordinal
	put(b[directory+20:], 1)                        // functions
	put(b[directory+24:], 1)                        // names
	put(b[directory+28:], sectionAddress+functions) // address table
	put(b[directory+32:], sectionAddress+names)     // name table
	put(b[directory+36:], sectionAddress+ordinals)  // ordinal table, whose one entry is 0
	put(b[functions:], at[2])
	put(b[names:], at[1])
	return append(b, tail...)
}
