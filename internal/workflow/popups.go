package workflow

import (
	"slices"
	"strings"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// LoadPopups reads a file that holds a workflow's `popups` and nothing else: the rules
// of one machine. Its errors are those of Load, and the caller says which file it is.
func LoadPopups(path string) ([]*reprisev1.PopupRule, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	d := decode(path, "rules for popups are", data)
	for _, at := range d.given() {
		if at != popups {
			d.fault(d.position(at), "a file of rules for popups says nothing but popups")
		}
	}
	d.checkPopups()
	if err := d.faults.err(); err != nil {
		return nil, err
	}
	return d.workflow.GetPopups(), nil
}

// popups is the field of the rules.
const popups = "popups"

// given are the fields of the workflow itself that stand in the file.
func (d *decoder) given() []string {
	var fields []string
	for at := range d.at {
		if at != "" && !strings.ContainsAny(at, ".[") {
			fields = append(fields, at)
		}
	}
	slices.Sort(fields)
	return fields
}
