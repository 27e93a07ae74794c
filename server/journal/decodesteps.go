package journal

import (
	"errors"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	journalv1 "github.com/reprise-rpa/reprise/gen/reprise/journal/v1"
	"github.com/reprise-rpa/reprise/server/replay"
)

// Steps are most of what a server reads when it starts: every queued action is
// one. They alone are decoded by hand, straight into the values that a replay
// keeps; the fields that lead to them are these.
const (
	recordEvents  = 4
	eventCreated  = 1
	eventAppended = 13
	createdSteps  = 8
	appendedSteps = 4
)

var errText = errors.New("a text on disk is not UTF-8")

// field is one field of an encoded message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	varint uint64 // a number or a truth
	bytes  []byte // of a text, bytes or a message
	whole  []byte // with its tag
}

// nextField returns the first field of a message and what follows it.
func nextField(data []byte) (f field, rest []byte, err error) {
	number, kind, tag := protowire.ConsumeTag(data)
	if tag < 0 {
		return f, nil, protowire.ParseError(tag)
	}
	f = field{number: number, kind: kind}
	n := 0
	switch kind {
	case protowire.VarintType:
		f.varint, n = protowire.ConsumeVarint(data[tag:])
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(data[tag:])
	default:
		n = protowire.ConsumeFieldValue(number, kind, data[tag:])
	}
	if n < 0 {
		return f, nil, protowire.ParseError(n)
	}
	f.whole = data[:tag+n]
	return f, data[tag+n:], nil
}

// takeOut splits a message into the values of one of its fields, messages
// themselves, and the rest of it.
func takeOut(data []byte, number protowire.Number) (values [][]byte, rest []byte, err error) {
	for len(data) > 0 {
		var f field
		if f, data, err = nextField(data); err != nil {
			return nil, nil, err
		}
		if f.number == number && f.kind == protowire.BytesType {
			if values == nil { // those that follow are likely as long
				values = make([][]byte, 0, 1+min(len(data)/len(f.whole), 1000))
			}
			values = append(values, f.bytes)
		} else {
			rest = append(rest, f.whole...)
		}
	}
	return values, rest, nil
}

// lastOf returns the last message in a message, which of several is the one that
// counts; 0: there is none, or it cannot be read.
func lastOf(data []byte) (number protowire.Number, body []byte) {
	for len(data) > 0 {
		f, rest, err := nextField(data)
		if err != nil {
			return 0, nil
		}
		if f.kind == protowire.BytesType {
			number, body = f.number, f.bytes
		}
		data = rest
	}
	return number, body
}

// decodeSteps decodes a list of steps, which keep nothing of data.
func decodeSteps(data [][]byte) ([]replay.Step, error) {
	steps, words, size := make([]replay.Step, len(data)), words{}, 0
	for i, d := range data {
		if err := decodeStep(d, &steps[i], words); err != nil {
			return nil, err
		}
		size += len(steps[i].Payload)
	}
	payloads := make([]byte, 0, size) // of all steps in one piece
	for i := range steps {
		if p := steps[i].Payload; len(p) > 0 {
			from := len(payloads)
			payloads = append(payloads, p...)
			steps[i].Payload = payloads[from:len(payloads):len(payloads)]
		}
	}
	return steps, nil
}

// decodeStep decodes one step; its payload still lies in data.
func decodeStep(data []byte, s *replay.Step, w words) error {
	for len(data) > 0 {
		f, rest, err := nextField(data)
		if err != nil {
			return err
		}
		data = rest
		switch f.kind {
		case protowire.BytesType:
			err = setBytes(s, f, w)
		case protowire.VarintType:
			err = setNumber(s, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func setBytes(s *replay.Step, f field, w words) (err error) {
	switch f.number {
	case 1:
		s.Name, err = text(f.bytes)
	case 2:
		s.Kind, err = w.text(f.bytes)
	case 3:
		s.Payload = f.bytes
	case 10:
		s.MonitorSource, err = w.text(f.bytes)
	case 15:
		s.Message, err = text(f.bytes)
	case 16:
		var c journalv1.Check
		err = proto.Unmarshal(f.bytes, &c)
		s.Checks = append(s.Checks, decodeCheck(&c))
	}
	return err
}

func setNumber(s *replay.Step, f field) (err error) {
	switch yes := protowire.DecodeBool(f.varint); f.number {
	case 4:
		s.ServerSide = yes
	case 5:
		s.Safe = yes
	case 6:
		s.Critical = yes
	case 7:
		s.ChangesScreen = yes
	case 8:
		s.Visual = yes
	case 9:
		s.Monitor = int(int32(f.varint))
	case 11:
		s.MaxRetries = int(int32(f.varint))
	case 12:
		s.RetryExecuted = yes
	case 13:
		s.FailExhausted = yes
	case 14:
		s.OnGiveUp, err = within("give-up rule", int32(f.varint), replay.GiveUpByKind, replay.GiveUpFail)
	}
	return err
}

// words are texts that many steps have in common.
type words map[string]string

func (w words) text(data []byte) (string, error) {
	if s, ok := w[string(data)]; ok {
		return s, nil
	}
	s, err := text(data)
	w[s] = s
	return s, err
}

func text(data []byte) (string, error) {
	if !utf8.Valid(data) {
		return "", errText
	}
	return string(data), nil
}
