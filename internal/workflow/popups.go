package workflow

import (
	"fmt"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/runnable"
)

// LoadPopups reads a file that holds a workflow's `popups` and nothing else: the rules
// of one machine. Its errors are those of Load.
func LoadPopups(path string) ([]*reprisev1.PopupRule, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	d := decode(path, data)
	if rest := proto.CloneOf(d.workflow); rest != nil {
		rest.Popups = nil
		if !proto.Equal(rest, &reprisev1.Workflow{}) {
			d.fault(d.position(""), "a file of rules for popups says nothing but popups")
		}
	}
	for i, p := range d.workflow.GetPopups() {
		at := fmt.Sprintf("popups[%d]", i)
		if err := protovalidate.Validate(p); err != nil && !d.damage.within(at) {
			d.fault(d.position(at), "%s: %v", at, err)
		}
	}
	for _, f := range runnable.PopupFaults(d.workflow) {
		d.fault(d.position(f.Path), "%s", f.Why)
	}
	return d.workflow.GetPopups(), d.faults.err()
}
