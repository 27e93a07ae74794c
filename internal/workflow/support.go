package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/internal/kind"
	"github.com/reprise-rpa/reprise/internal/runnable"
)

// Warning is a part of a sound workflow file that server or agents do not
// support yet. It never repeats the text that a workflow types.
type Warning struct {
	File string
	Position
	Message string
}

func (w Warning) String() string {
	return fmt.Sprintf("%s:%d:%d: warning: %s", w.File, w.Line, w.Column, w.Message)
}

// unsupported returns what the workflow asks for and nobody does yet, in the
// file's order, and no more of it than of faults.
func (d *decoder) unsupported() []Warning {
	var all []Warning
	warn := func(path, message string) {
		if message != "" {
			all = append(all, Warning{File: d.file, Position: d.position(path), Message: message})
		}
	}
	for i, a := range d.workflow.GetActions() {
		path := fmt.Sprintf("actions[%d]", i)
		if field := kindField(a); kind.Of(a).ServerSide && a.GetPauseForHuman() == nil {
			warn(join(path, field.TextName()), field.JSONName()+" is not supported yet: the server refuses a replay with it")
			continue
		}
		if runnable.NeedsPlace(a) || a.GetType() != nil {
			warn(path+".target", whyNotFound(a.GetTarget(), a.GetWaitForTarget() != nil))
		}
		warn(path+".drag.to", whyNotFound(a.GetDrag().GetTo(), false))
	}
	slices.SortStableFunc(all, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all[:min(len(all), maxFaults)]
}

func kindField(a *reprisev1.Action) protoreflect.FieldDescriptor {
	m := a.ProtoReflect()
	return m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
}

// whyNotFound says why no agent finds a target, or is empty. An agent looks for
// pictures and elements; a point helps where nothing must be seen, a window's title
// where no way is given that the agent would have to try first.
func whyNotFound(t *reprisev1.Target, mustBeSeen bool) string {
	tries := func(way reprisev1.Resolver) bool {
		return len(t.GetResolveOrder()) == 0 || slices.Contains(t.GetResolveOrder(), way)
	}
	var lacking []string
	for _, way := range []struct {
		name     string
		given    bool
		resolver reprisev1.Resolver
	}{
		{"byText", t.GetByText() != "", reprisev1.Resolver_RESOLVER_OCR},
		{"vlmDescription", t.GetVlmDescription() != "", reprisev1.Resolver_RESOLVER_VLM},
	} {
		if way.given && tries(way.resolver) {
			lacking = append(lacking, way.name)
		}
	}
	picture, element := t.GetAnchorImage() != nil, t.GetUiaTarget() != nil
	switch {
	case picture && tries(reprisev1.Resolver_RESOLVER_TEMPLATE), element && tries(reprisev1.Resolver_RESOLVER_UIA):
		return ""
	case (t.GetPoint() != nil || t.GetPicturePoint() != nil) && (!mustBeSeen || len(lacking) == 0):
		return ""
	case (picture || element) && (len(lacking) > 0 || t.GetWindowTitle() == ""):
		return "resolveOrder leaves out template and uia: no agent finds the target in another way yet"
	case len(lacking) == 0:
		return ""
	case mustBeSeen:
		return strings.Join(lacking, ", ") + " is not supported yet: no agent finds the target; give it an anchorImage or a uiaTarget"
	}
	return strings.Join(lacking, ", ") + " is not supported yet: no agent finds the target; give it an anchorImage, a uiaTarget or a point"
}
