package spool

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/reprise-rpa/reprise/agent/work"
)

// Type is what a record says.
type Type string

// The types.
const (
	TypeHeader       Type = "header"       // the first record: version and spool id
	TypeOpened       Type = "opened"       // a process uses the spool
	TypeStopped      Type = "stopped"      // and stopped in order
	TypeStarted      Type = "started"      // input of the action is about to leave
	TypeResult       Type = "result"       // how it came out
	TypeAcknowledged Type = "acknowledged" // the server has the result
	TypeClosed       Type = "closed"       // the server will not ask for the unfinished action again
	TypeWithdrawn    Type = "withdrawn"    // it started and nothing was sent: as if never seen
	TypeHeld         Type = "held"         // the person at the machine has stopped the agent
	TypeLifted       Type = "lifted"       // and somebody who knows of it lets it go on
	TypeEntry        Type = "entry"        // an action's whole state, in a compacted file
)

// Record is one line of the journal.
type Record struct {
	Type Type `json:"type"`
	work.Ref
	SessionID string        `json:"session_id,omitempty"`
	Safe      bool          `json:"safe,omitempty"`
	Outcome   *work.Outcome `json:"outcome,omitempty"`
	Masks     []work.Mask   `json:"masks,omitempty"` // what no picture of the action shows
	Hold      *Hold         `json:"hold,omitempty"`
	State     State         `json:"state,omitempty"`
	Version   int           `json:"version,omitempty"`
	SpoolID   string        `json:"spool_id,omitempty"`
	BootID    string        `json:"boot_id,omitempty"`
}

// durable says whether the record must be on the disk before anything follows
// from it. A lost acknowledgement repeats a report; a lost "stopped" only makes
// the next start look like one after a crash.
func (r Record) durable() bool {
	return r.Type != TypeAcknowledged && r.Type != TypeClosed
}

// A frame is a header of three little-endian words, then the record as JSON:
// the record's length, its CRC-32C, and the CRC-32C of these two. The header has
// a checksum of its own, so that a damaged length is not taken for a torn end.
const frameHeader = 12

// maxRecord bounds a record; a longer one is never written.
const maxRecord = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encode(r Record) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("spool: encode a %s record: %w", r.Type, err)
	}
	if len(body) > maxRecord {
		return nil, fmt.Errorf("spool: a %s record has %d bytes, more than %d", r.Type, len(body), maxRecord)
	}
	return frame(body), nil
}

func frame(body []byte) []byte {
	frame := make([]byte, frameHeader, frameHeader+len(body))
	binary.LittleEndian.PutUint32(frame[0:], uint32(len(body)))
	binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(body, castagnoli))
	binary.LittleEndian.PutUint32(frame[8:], crc32.Checksum(frame[:8], castagnoli))
	return append(frame, body...)
}

// frameAt returns the body of the frame at the start of data, and whether it is
// whole and sound.
func frameAt(data []byte) ([]byte, bool) {
	if len(data) < frameHeader {
		return nil, false
	}
	if binary.LittleEndian.Uint32(data[8:]) != crc32.Checksum(data[:8], castagnoli) {
		return nil, false
	}
	length := int(binary.LittleEndian.Uint32(data))
	if length > maxRecord || len(data)-frameHeader < length {
		return nil, false
	}
	body := data[frameHeader : frameHeader+length]
	return body, binary.LittleEndian.Uint32(data[4:]) == crc32.Checksum(body, castagnoli)
}

// decodeAll returns the records of data and where the last sound one ends. What
// follows that is torn, unless a sound frame lies behind it: then records that
// had been durable are lost, which is ErrCorrupt.
func decodeAll(data []byte) ([]Record, int, error) {
	var records []Record
	end := 0
	for end < len(data) {
		body, ok := frameAt(data[end:])
		if !ok {
			break
		}
		var r Record
		if err := json.Unmarshal(body, &r); err != nil {
			return nil, 0, fmt.Errorf("%w at offset %d: %w", ErrCorrupt, end, err)
		}
		records = append(records, r)
		end += frameHeader + len(body)
	}
	for at := end + 1; at < len(data); at++ {
		if _, ok := frameAt(data[at:]); ok {
			return nil, 0, fmt.Errorf("%w at offset %d: a sound record follows at %d", ErrCorrupt, end, at)
		}
	}
	return records, end, nil
}
