package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/cmd/reprisectl/album"
)

// line is one object of `--output json`. Type says which; the other fields are
// set as the type needs them, messages of the schema with their JSON names:
//
//	replay       a replay, as run, get, list, append, close, pause, resume and cancel answer it
//	explanation  why a replay is where it is: a chain of causes
//	update       what a watch saw: the replay after a change, and the events
//	event        an event of a replay; its eventId is where to go on from
//	position     where to go on from after what events has printed
//	connection   the server was lost, or is back
//	end          the end of a watch: what became of the steps, and the exit code
//	evidence     the folder that a replay's pictures were put into
//	screenshot   a picture that was taken and written to a file
//	machine      a machine, as it is now
//	machine_gone a watched machine that is not registered any more and has no work
//	workflow     a workflow file that was found good
//	version      the program's version
//	fault        a fault of a workflow file; on stderr
//	warning      what a workflow file asks for and nobody supports yet; on stderr
//	error        what ended the program; on stderr
type line struct {
	Type          string            `json:"type"`
	Replay        json.RawMessage   `json:"replay,omitempty"`
	Events        []json.RawMessage `json:"events,omitempty"`
	Event         json.RawMessage   `json:"event,omitempty"`
	ResumeEventID string            `json:"resumeEventId,omitempty"`
	Pending       bool              `json:"snapshotPending,omitempty"`
	Machine       json.RawMessage   `json:"machine,omitempty"`
	MachineID     string            `json:"machineId,omitempty"`
	ReplayID      string            `json:"replayId,omitempty"`
	RequestID     string            `json:"requestId,omitempty"`
	State         string            `json:"state,omitempty"`
	Session       string            `json:"sessionId,omitempty"`
	Remaining     *int32            `json:"remainingActions,omitempty"`
	File          string            `json:"file,omitempty"`
	Line          int               `json:"line,omitempty"`
	Column        int               `json:"column,omitempty"`
	Name          string            `json:"name,omitempty"`
	Actions       int               `json:"actions,omitempty"`
	ActionIDs     []string          `json:"actionIds,omitempty"`
	Causes        []json.RawMessage `json:"causes,omitempty"`
	Folder        string            `json:"folder,omitempty"`
	There         *int              `json:"there,omitempty"`
	Fetched       *int              `json:"fetched,omitempty"`
	Missing       []album.Picture   `json:"missing,omitempty"`
	Picture       json.RawMessage   `json:"picture,omitempty"`
	Pictures      []picture         `json:"pictures,omitempty"`
	Version       string            `json:"version,omitempty"`
	Code          string            `json:"code,omitempty"`
	Message       string            `json:"message,omitempty"`
	Reason        string            `json:"reason,omitempty"`
	Hint          string            `json:"hint,omitempty"`
	Resume        string            `json:"resume,omitempty"`
	Violations    []violation       `json:"violations,omitempty"`
	Counts        *tally            `json:"counts,omitempty"`
	GivenUp       []string          `json:"givenUpActions,omitempty"`
	ExitCode      *int              `json:"exitCode,omitempty"`
}

type picture struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int    `json:"size"`
}

func (a *app) emit(l line) error { return emitTo(a.env.Stdout, l) }

func emitTo(w io.Writer, l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("json: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func (a *app) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(a.out, format, args...)
	return err
}

// object is a message as compact JSON, always the same for the same message.
func object(m proto.Message) json.RawMessage {
	text, err := protojson.Marshal(m)
	if err != nil { // only a text that is no UTF-8, which no answer holds
		text = []byte("null")
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return json.RawMessage("null")
	}
	return out.Bytes()
}

const masked = "[masked]"

// shown returns a replay without what a screen's elements hold: the snapshot of
// a UI Automation element may carry typed text. Nothing else of a replay does.
func shown(r *reprisev1.Replay) *reprisev1.Replay {
	copied := proto.CloneOf(r)
	for _, a := range copied.GetActions() {
		if c := a.GetReport().GetCorrection(); c.GetUiaSnapshot() != "" {
			c.UiaSnapshot = masked
		}
	}
	return copied
}

func replayLine(r *reprisev1.Replay) line { return line{Type: "replay", Replay: object(shown(r))} }
