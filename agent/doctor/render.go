package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// colours are those of the results on a terminal, by ECMA-48's SGR.
var colours = map[Result]string{OK: "32", Warning: "33", Fault: "31;1", Unknown: "36", NotHere: "2"}

// Columns of a finding for people: the result, the id, the text.
const (
	resultWidth = 10
	idWidth     = 13
)

// WriteFinding writes a finding for people: a line, and for what is to be done about
// it a line each with why it matters and what to do.
func WriteFinding(w io.Writer, f Finding, colour bool) error {
	result := fmt.Sprintf("%-*s", resultWidth, f.Result)
	if colour {
		result = "\x1b[" + colours[f.Result] + "m" + result + "\x1b[0m"
	}
	text := fmt.Sprintf("%s%-*s%s\n", result, idWidth, f.ID, f.Found)
	if f.ToDo != "" {
		indent := strings.Repeat(" ", resultWidth+idWidth)
		text += indent + "why: " + f.Why + "\n" + indent + "to do: " + f.ToDo + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// WriteSummary writes how many findings there are of each result, but for those that
// want nothing.
func WriteSummary(w io.Writer, findings []Finding) error {
	counts := map[Result]int{}
	for _, f := range findings {
		counts[f.Result]++
	}
	text := fmt.Sprintf("%d checks", len(findings))
	for _, r := range []Result{Fault, Warning, Unknown} {
		if counts[r] > 0 {
			text += fmt.Sprintf(", %d %s", counts[r], r)
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", text)
	return err
}

// WriteJSON writes a report as one JSON object on a line.
func WriteJSON(w io.Writer, r Report) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false) // people read it too
	return out.Encode(r)
}
