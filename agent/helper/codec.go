package helper

import (
	"encoding/binary"
	"fmt"
	"io"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	helperv1 "github.com/reprise-rpa/reprise/gen/reprise/helper/v1"
)

// codec is that of protocol buffers. The pixels of a picture it neither copies nor has
// memory for in between: what it sends and takes for them is a CaptureResponse to the
// byte, but for what it lies in.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(protocodec.Name)} }

// pixelsTag is the tag of CaptureResponse.pixels.
var pixelsTag = protowire.EncodeTag(3, protowire.BytesType)

// pixels are a CaptureResponse of pixels that is sent. Nobody changes them any more.
type pixels []byte

// part is a CaptureResponse that is received: pixels go to where they belong.
type part struct {
	into *gathering                // the picture; nil: it has not begun
	what *helperv1.CaptureResponse // what came, if it was no pixels
}

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	p, ok := v.(pixels)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	head := protowire.AppendVarint(protowire.AppendVarint(nil, pixelsTag), uint64(len(p)))
	return mem.BufferSlice{mem.SliceBuffer(head), mem.SliceBuffer(p)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	p, ok := v.(*part)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	r := data.Reader()
	defer func() { _ = r.Close() }()
	tag, err := binary.ReadUvarint(r)
	if err != nil || tag != pixelsTag || p.into == nil {
		p.what = &helperv1.CaptureResponse{}
		return c.CodecV2.Unmarshal(data, p.what)
	}
	n, err := binary.ReadUvarint(r)
	if err != nil || n != uint64(r.Remaining()) {
		return fmt.Errorf("%d bytes of pixels in a part of %d: %w", n, r.Remaining(), io.ErrUnexpectedEOF)
	}
	return p.into.add(r, int(n))
}
