// Package limits keeps what the owner of a machine has forbidden to any replay,
// whatever the server says: windows that no input goes into, and windows that no
// picture shows.
//
// It decides which windows a rule means and which gestures go into them, and wraps a
// driver so that they are refused. What a window is, the driver says; a rule is only as
// good as the title, class and process that it names. Because of that it is strict
// where something is not known: a process that the system does not tell counts as the
// one of the rule, and without a known window in front nothing is typed.
//
// # What it cannot see
//
// A window through which clicks fall, such as an overlay, counts as the one under the
// place. Windows are looked at before a gesture and every 20 ms during one that types,
// so that as many characters may still arrive as are typed in that time; a driver that
// minds the window in front by itself stops earlier.
package limits

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// Match is how a rule compares a title.
type Match string

// The ways; their names are those of a workflow's titleMatch.
const (
	Contains Match = "contains" // ignoring case; the default
	Exact    Match = "exact"
	Regexp   Match = "regexp" // RE2, somewhere in the title
)

// Rule says which windows are meant: those that match all that is set.
type Rule struct {
	Title   string
	Match   Match
	Class   string // equal, ignoring case
	Process string // equal, ignoring case, such as keepass.exe; a window whose process is not known matches

	name  string // for people: the list and its place in it
	title func(string) bool
}

// NewRule checks a rule. name is what people know it by.
func NewRule(name string, r Rule) (Rule, error) {
	r.name = name
	switch {
	case r.Title == "" && r.Class == "" && r.Process == "":
		return Rule{}, fmt.Errorf("says no title, className or process: it would mean every window")
	case r.Title == "" && r.Match != "":
		return Rule{}, fmt.Errorf("has a titleMatch without a title")
	}
	switch r.Match {
	case "", Contains:
		part := strings.ToLower(r.Title)
		r.title = func(t string) bool { return strings.Contains(strings.ToLower(t), part) }
	case Exact:
		r.title = func(t string) bool { return r.Title == "" || t == r.Title }
	case Regexp:
		re, err := regexp.Compile(r.Title)
		if err != nil {
			return Rule{}, fmt.Errorf("title: %w", err)
		}
		r.title = re.MatchString
	default:
		return Rule{}, fmt.Errorf("titleMatch %q is none of contains, exact, regexp", r.Match)
	}
	return r, nil
}

func (r Rule) String() string { return r.name }

// means says whether a window is meant.
func (r Rule) means(w driver.Window) bool {
	return r.title(w.Title) && (r.Class == "" || strings.EqualFold(r.Class, w.Class)) &&
		(r.Process == "" || w.Process == "" || strings.EqualFold(r.Process, w.Process))
}

// Rules are the limits of one machine.
type Rules struct {
	NeverTypeInto []Rule // no click, drag, wheel, text, paste or key goes into these windows
	NeverPicture  []Rule // no picture shows these windows
}

// first returns the first rule that means the window; nil: none does.
func first(rules []Rule, w driver.Window) *Rule {
	for i := range rules {
		if rules[i].means(w) {
			return &rules[i]
		}
	}
	return nil
}
