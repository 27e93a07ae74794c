package workflow

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// harm is what could not be read at a place of a workflow.
type harm int

const (
	aKey  harm = iota + 1 // a key of the mapping that stands there
	whole                 // all of it
)

// damage is where a file could not be read, by path. What is missing because of
// it is not told a second time: its fault stands there already.
type damage map[string]harm

func (m damage) add(path string, h harm) { m[path] = max(m[path], h) }

// within says whether something at path or below it could not be read.
func (m damage) within(path string) bool {
	for at := range m {
		if below, ok := strings.CutPrefix(at, path); ok && (below == "" || path == "" || below[0] == '.' || below[0] == '[') {
			return true
		}
	}
	return false
}

// missing says whether a field of the message at path may be absent, or have
// too little in it, only because it could not be read: it is damaged itself, or
// a key beside it was not understood and may have meant it.
func (d *decoder) missing(path, field string) bool {
	at := join(path, field)
	if d.damage.within(at) {
		return true
	}
	_, given := d.at[at]
	return !given && d.damage[path] != 0
}

// consequence says whether a violation at path may only follow from what could
// not be read. A path ends at the field that is wrong, at the message whose rule
// is broken, or at the oneof that lacks one of its choices.
func (d *decoder) consequence(path string, choices []protoreflect.FieldDescriptor) bool {
	around, last := "", path
	if cut := strings.LastIndexByte(path, '.'); cut >= 0 {
		around, last = path[:cut], path[cut+1:]
	}
	return d.missing(around, last) || slices.ContainsFunc(choices, func(choice protoreflect.FieldDescriptor) bool {
		return d.missing(around, choice.TextName())
	})
}
