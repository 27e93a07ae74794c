package controltype_test

import (
	"strings"
	"testing"

	"github.com/reprise-rpa/reprise/internal/controltype"
)

func TestControlTypesHaveMicrosoftsNamesBothWays(t *testing.T) {
	for name, id := range map[string]int{
		"Button": 50000, "CheckBox": 50002, "ComboBox": 50003, "Edit": 50004, "ListItem": 50007, "List": 50008, "MenuItem": 50011,
		"RadioButton": 50013, "TabItem": 50019, "Text": 50020, "TreeItem": 50024, "Custom": 50025, "DataItem": 50029,
		"Document": 50030, "Window": 50032, "Pane": 50033, "TitleBar": 50037, "AppBar": 50040,
	} {
		if got, ok := controltype.ID(name); got != id || !ok || controltype.Name(id) != name {
			t.Errorf("%s is %d (%v), and %d is %s", name, got, ok, id, controltype.Name(id))
		}
	}
	for id := 50000; id <= 50040; id++ {
		name := controltype.Name(id)
		if got, ok := controltype.ID(strings.ToLower(name)); got != id || !ok {
			t.Errorf("%d is %s, which is %d (%v)", id, name, got, ok)
		}
	}
	for _, name := range []string{"", "Knopf", "50000", "UIA_ButtonControlTypeId"} {
		if got, ok := controltype.ID(name); ok {
			t.Errorf("%q is taken for %d", name, got)
		}
	}
	for id, want := range map[int]string{49999: "49999", 50041: "50041", 0: "0", -1: "-1"} {
		if got := controltype.Name(id); got != want {
			t.Errorf("%d is called %s", id, got)
		}
	}
}
