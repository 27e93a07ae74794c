// Package controltype holds the control types of UI Automation, by the names in
// "Control Type Identifiers" of Microsoft's documentation. Who writes workflows is told
// of a name that there is not; who looks for elements needs the number. Which types a
// program's elements have is not decided here.
package controltype

import (
	"slices"
	"strconv"
	"strings"
)

// names are those of the types in the order of their ids, from first on:
// UIA_ButtonControlTypeId is Button.
var names = [...]string{
	"Button", "Calendar", "CheckBox", "ComboBox", "Edit", "Hyperlink", "Image", "ListItem", "List", "Menu",
	"MenuBar", "MenuItem", "ProgressBar", "RadioButton", "ScrollBar", "Slider", "Spinner", "StatusBar", "Tab", "TabItem",
	"Text", "ToolBar", "ToolTip", "Tree", "TreeItem", "Custom", "Group", "Thumb", "DataGrid", "DataItem",
	"Document", "SplitButton", "Window", "Pane", "Header", "HeaderItem", "Table", "TitleBar", "Separator", "SemanticZoom",
	"AppBar",
}

// first is UIA_ButtonControlTypeId.
const first = 50000

// ID is the id of a control type, whose name may be in any case. False: there is no such
// type.
func ID(name string) (int, bool) {
	i := slices.IndexFunc(names[:], func(n string) bool { return strings.EqualFold(n, name) })
	return first + i, i >= 0
}

// Name is the name of a control type; its number if it has none here.
func Name(id int) string {
	if i := id - first; i >= 0 && i < len(names) {
		return names[i]
	}
	return strconv.Itoa(id)
}
