package validation

import (
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Codec is gRPC's own, except that a message it cannot read is handed on, empty
// and marked, to be refused by Check: gRPC itself would say INTERNAL, as if the
// fault were ours, and before anybody was asked for a token. A server that takes
// this codec must have this package's interceptors.
func Codec() encoding.CodecV2 { return codec{encoding.GetCodecV2(grpcproto.Name)} }

type codec struct{ encoding.CodecV2 }

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	err := c.CodecV2.Unmarshal(data, v)
	m, ok := v.(proto.Message)
	if !ok {
		return err
	}
	field := ""
	if err != nil {
		field = invalidText(data.Materialize(), m.ProtoReflect().Descriptor())
	} else if _, marked := markOf(m); !marked {
		return nil
	} // else the caller wrote a mark: it is refused, and nothing of it repeated
	proto.Reset(m)
	mark(m, field)
	return nil
}

// markNumber is the last field number there is; no message of ours has it. The
// mark travels in the message itself, so that nothing is kept of one that no
// interceptor ever sees.
const markNumber = protowire.MaxValidNumber

// mark marks a message that could not be read; field is the one that is no valid
// UTF-8, if that was the fault.
func mark(m proto.Message, field string) {
	raw := protowire.AppendTag(nil, markNumber, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(raw, field))
}

// markOf says whether a message is marked, and with which field.
func markOf(m proto.Message) (field string, marked bool) {
	for raw := m.ProtoReflect().GetUnknown(); len(raw) > 0; {
		number, kind, tag := protowire.ConsumeTag(raw)
		if tag < 0 {
			return "", false
		}
		value := protowire.ConsumeFieldValue(number, kind, raw[tag:])
		if value < 0 {
			return "", false
		}
		if number == markNumber {
			field, _ = protowire.ConsumeString(raw[tag:])
			return field, true
		}
		raw = raw[tag+value:]
	}
	return "", false
}
