package main

import (
	"errors"

	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// Form is what the front desk fills in about a patient.
type Form struct {
	Case string `json:"case"` // the hospital's number of the visit; one intake each
	Name string `json:"name"`
	Born string `json:"born"` // as the hospital's program wants it, such as 1958-03-14
}

func (f Form) check() error {
	var errs []error
	for name, value := range map[string]string{"case": f.Case, "name": f.Name, "born": f.Born} {
		if value == "" {
			errs = append(errs, errors.New(name+" is missing"))
		}
	}
	return errors.Join(errs...)
}

// workflow enters the form into the hospital's program. Each step has a name: it is
// what people are told about, and what tests are written against.
func (f Form) workflow() *reprisev1.Workflow {
	return &reprisev1.Workflow{Name: "Patient intake", Actions: []*reprisev1.Action{
		{
			Name: "open the intake", Intention: "Bring the intake window to the front",
			Kind: &reprisev1.Action_FocusWindow{FocusWindow: &reprisev1.FocusWindow{Window: &reprisev1.WindowSelector{Title: "Intake"}}},
		},
		typeInto("enter the name", "Name", f.Name),
		typeInto("enter the birthday", "Date of birth", f.Born),
		{
			Name: "save", Intention: "Save the patient", Timeout: durationpb.New(saveTimeout),
			Kind: &reprisev1.Action_KeyCombo{KeyCombo: &reprisev1.KeyCombo{Keys: []string{"ctrl", "s"}}},
			// Nothing is saved before somebody has looked at the card.
			SafetyChecks: []*reprisev1.SafetyCheck{{Id: "identity", Label: "Name and date of birth are those on the card", Required: true}},
		},
		{Name: "keep a picture", Intention: "Show what was saved", Kind: &reprisev1.Action_Screenshot{Screenshot: &reprisev1.Screenshot{}}},
	}}
}

// typeInto replaces what is in a field, so that what an earlier try has typed does
// no harm.
func typeInto(step, field, text string) *reprisev1.Action {
	return &reprisev1.Action{
		Name: step, Intention: "Fill in: " + field, Target: &reprisev1.Target{ByText: field},
		Kind: &reprisev1.Action_Type{Type: &reprisev1.Type{Content: &reprisev1.Type_Text{Text: text}, ClearFirst: true}},
	}
}
