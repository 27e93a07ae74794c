package journal

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/replay"
)

// Dump writes the journal in dir for people, a line for each event: replay after
// replay in the order of their creation. It shows ids, the names of workflows,
// kinds, machines and of who did something, and words that the schema knows. Of
// every other text, which a person may have typed or an agent may have taken from
// the screen, it gives the size alone. A record that cannot be read has a line that says so,
// and makes Dump return an error at the end.
func Dump(ctx context.Context, dir string, w io.Writer) error {
	unreadable := 0
	err := inspect(ctx, dir, func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var id, machine string
			var position, seq, at int64
			var data sql.RawBytes
			if err := rows.Scan(&position, &id, &seq, &at, &machine, &data); err != nil {
				return err
			}
			place := fmt.Sprintf("%s position=%d replay=%s seq=%d machine=%s", instant(at).Format(time.RFC3339Nano), position, quote(id), seq, quote(machine))
			rec, err := decode(data)
			if err != nil {
				unreadable++
				_, err = fmt.Fprintf(w, "%s unreadable size=%d error=%q\n", place, len(data), err)
				return err
			}
			for _, ev := range rec.Events {
				if _, err := fmt.Fprintln(w, place, describe(ev)); err != nil {
					return err
				}
			}
			return nil
		}, `SELECT r.rowid, coalesce(h.replay_id, ''), r.seq, r.at, coalesce(h.machine_id, ''), r.data
			FROM records r LEFT JOIN heads h ON h.ord = r.replay ORDER BY r.replay, r.seq`)
	})
	if err == nil && unreadable > 0 {
		err = fmt.Errorf("%w: %d records are unreadable", ErrDamaged, unreadable)
	}
	if err != nil {
		err = database{path: filepath.Join(dir, fileName)}.classify(err)
		return fmt.Errorf("journal: dump %s: %w", dir, err)
	}
	return nil
}

// describe gives an event as a name and its fields.
func describe(ev replay.Event) string {
	switch ev := ev.(type) {
	case replay.Created:
		return describeCreated(ev)
	case replay.Appended:
		kinds, size := kindsOf(ev.Steps)
		return fields("appended", "request", ev.RequestID, "by", ev.By, "steps", len(ev.Steps), "kinds", kinds, "actions_bytes", size)
	case replay.Closed:
		return fields("closed", "by", ev.By)
	case replay.Started:
		return "started"
	case replay.Dispatched:
		return fields("dispatched", "action", ev.ActionID, "attempt", ev.AttemptID, "session", ev.SessionID, "spool", ev.SpoolID, "boot", ev.BootID, "reason", ev.Reason)
	case replay.Adopted:
		return fields("adopted", "action", ev.ActionID, "attempt", ev.AttemptID)
	case replay.Requeued:
		return fields("requeued", "action", ev.ActionID, "reason", ev.Reason, "spent", ev.Spent, "refund", ev.Refund, "tail", ev.Tail)
	case replay.Reported:
		r := ev.Report
		return fields("reported", "action", ev.ActionID, "attempt", ev.AttemptID, "outcome", ev.Outcome, "success", r.Success, "code", knownCode(r.Code),
			"completion", int(r.Completion), "no_change", r.NoChange, "needs_human", r.NeedsHuman, "message_bytes", len(r.Message), "report_bytes", len(r.Payload))
	case replay.LostMemory:
		return fields("lost_memory", "action", ev.ActionID)
	case replay.GaveUp:
		return fields("gave_up", "action", ev.ActionID, "all_deliveries", ev.AllDeliveries)
	case replay.PausedBy:
		return fields("paused_by", "reason", knownReason(ev.Reason), "by", ev.By, "decide", ev.Decide, "again", strings.Join(ev.Again, ","), "gate", ev.Gate,
			"checks", checkIDs(ev.Checks), "message_bytes", len(ev.Message))
	case replay.GatePassed:
		return fields("gate_passed", "step", ev.Step)
	case replay.Resumed:
		position := ""
		if ev.Position != nil {
			position = fmt.Sprintf("%g,%g", ev.Position.X, ev.Position.Y)
		}
		return fields("resumed", "by", ev.By, "acked", strings.Join(ev.Acked, ","), "skip", ev.Skip, "from", ev.From, "position", position)
	case replay.Ended:
		return fields("ended", "state", ev.State, "code", codeIn(ev), "by", ev.By, "reason_bytes", len(ev.Reason))
	}
	return fmt.Sprintf("%T", ev)
}

// unknown stands for a text in the place of a word, which it is not.
const unknown = "unknown"

// knownCode returns code if it names an error, else unknown.
func knownCode(code string) string {
	if code == "" || code == replay.CodeOther || isValue(reprisev1.ErrorCode_value, "ERROR_CODE_", code) {
		return code
	}
	return unknown
}

// knownReason returns reason if it is one that a replay pauses for, else unknown.
func knownReason(reason string) string {
	if reason == "" || isValue(reprisev1.PauseReason_value, "PAUSE_REASON_", reason) {
		return reason
	}
	return unknown
}

// codeIn returns the error that made a replay fail, which its reason names behind
// the action; empty when it names none.
func codeIn(ev replay.Ended) string {
	_, rest, _ := strings.Cut(ev.Reason, ": ")
	code, _, _ := strings.Cut(rest, ": ")
	if code = knownCode(code); ev.State != replay.Failed || code == unknown {
		return ""
	}
	return code
}

// isValue says whether word is the name of a value of an enum, as records write it.
func isValue(values map[string]int32, prefix, word string) bool {
	_, ok := values[prefix+strings.ToUpper(word)]
	return ok && word == strings.ToLower(word)
}

func describeCreated(ev replay.Created) string {
	kinds, size := kindsOf(ev.Steps)
	return fields("created", "workflow", ev.Workflow, "request", ev.RequestID, "by", ev.By, "unattended", ev.Unattended, "open", ev.Open,
		"labels", len(ev.Labels), "masks", len(ev.Masks), "popups", len(ev.Popups), "steps", len(ev.Steps), "kinds", kinds, "actions_bytes", size)
}

// kindsOf gives the kinds of the steps in their order, runs of one kind counted,
// and the size of their actions in bytes.
func kindsOf(steps []replay.Step) (kinds string, size int) {
	var runs []string
	for i := 0; i < len(steps); {
		n := 0
		for kind := steps[i].Kind; i < len(steps) && steps[i].Kind == kind; i++ {
			size += len(steps[i].Payload)
			n++
		}
		runs = append(runs, fmt.Sprintf("%s:%d", steps[i-1].Kind, n))
	}
	const most = 20
	if len(runs) > most {
		runs = append(runs[:most], "…")
	}
	return strings.Join(runs, ","), size
}

func checkIDs(checks []replay.Check) string {
	ids := make([]string, len(checks))
	for i, c := range checks {
		ids[i] = c.ID
	}
	return strings.Join(ids, ",")
}

// fields joins a name and pairs of a key and a value; empty texts are left out.
func fields(name string, pairs ...any) string {
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := fmt.Sprint(pairs[i+1]); v != "" {
			fmt.Fprintf(&b, " %s=%s", pairs[i], quote(v))
		}
	}
	return b.String()
}

// quote leaves plain words as they are, so that a line can be grepped, and keeps
// any other text on its line.
func quote(s string) string {
	if q := fmt.Sprintf("%q", s); len(q) != len(s)+2 || strings.ContainsAny(s, " =") {
		return q
	}
	return s
}
