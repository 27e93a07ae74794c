package winetest

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"testing"
)

func TestTheShimForwardsItsOneExport(t *testing.T) {
	file, err := pe.NewFile(bytes.NewReader(Shim()))
	if err != nil {
		t.Fatal(err)
	}
	if file.Machine != pe.IMAGE_FILE_MACHINE_AMD64 || file.Characteristics&pe.IMAGE_FILE_DLL == 0 {
		t.Errorf("machine %#x, characteristics %#x: not a 64-bit DLL", file.Machine, file.Characteristics)
	}
	header, ok := file.OptionalHeader.(*pe.OptionalHeader64)
	if !ok {
		t.Fatalf("optional header %T", file.OptionalHeader)
	}
	if header.AddressOfEntryPoint != 0 || header.SizeOfCode != 0 {
		t.Error("the shim has code")
	}
	exports := header.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT]
	section := file.Sections[0]
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	if exports.VirtualAddress != section.VirtualAddress || int(exports.Size) > len(data) {
		t.Fatalf("exports at %#x of %d bytes, section at %#x of %d", exports.VirtualAddress, exports.Size, section.VirtualAddress, len(data))
	}
	word := func(at uint32) uint32 { return binary.LittleEndian.Uint32(data[at-exports.VirtualAddress:]) }
	text := func(at uint32) string {
		s, _, _ := bytes.Cut(data[at-exports.VirtualAddress:exports.Size], []byte{0})
		return string(s)
	}
	base := exports.VirtualAddress
	if got := text(word(base + 12)); got != ShimName {
		t.Errorf("the DLL calls itself %q", got)
	}
	if got := text(word(word(base + 32))); got != "ProcessPrng" {
		t.Errorf("it exports %q", got)
	}
	to := word(word(base + 28))
	if to < base || to >= base+exports.Size {
		t.Fatalf("the export's address %#x is outside the directory: it would be code", to)
	}
	if got := text(to); got != "advapi32.SystemFunction036" {
		t.Errorf("it forwards to %q", got)
	}
}
