// Package album decides how the pictures of a replay lie in a folder: their
// names, which of them are the same picture, and what the folder's index says of
// them. It fetches nothing and asks no server: callers hand the pictures in.
package album

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// When says which moment of its action a picture shows.
type When string

// The moments.
const (
	Before     When = "before"
	After      When = "after"
	Correction When = "correction" // a person showed the right place
)

// Picture is one picture that a report names.
type Picture struct {
	File     string     `json:"file"` // in the album's folder
	Step     int32      `json:"step"` // from 1, as people count
	ActionID string     `json:"actionId"`
	When     When       `json:"when"`
	SHA256   string     `json:"sha256"`
	TakenAt  *time.Time `json:"takenAt,omitempty"` // by the agent's clock
	Method   string     `json:"method,omitempty"`
	Settled  bool       `json:"settled"`
	Note     string     `json:"note,omitempty"`
	Masks    int32      `json:"masks"` // how many rectangles were blacked out
	// Missing says why the picture is not in the folder; empty: it is.
	Missing string `json:"missing,omitempty"`
}

// Plan names the pictures of a replay's actions, in the order of the actions. The
// names sort by step; each is used once, also where letters' case does not count.
func Plan(actions []*reprisev1.ActionStatus) []Picture {
	n := namer{width: 3, first: map[int32]string{}, used: map[string]bool{}}
	for _, a := range actions {
		n.width = max(n.width, len(fmt.Sprint(a.GetStep()+1)))
	}
	var all []Picture
	for _, a := range actions {
		stem := n.stem(a)
		report := a.GetReport()
		for _, p := range []struct {
			when When
			ref  *reprisev1.EvidenceRef
		}{{Before, report.GetScreenshotBefore()}, {After, report.GetScreenshotAfter()}, {Correction, report.GetCorrection().GetCrop()}} {
			if p.ref.GetSha256() != "" {
				all = append(all, picture(a, p.when, p.ref, n.unused(stem+"_"+string(p.when))))
			}
		}
	}
	return all
}

func picture(a *reprisev1.ActionStatus, when When, ref *reprisev1.EvidenceRef, file string) Picture {
	p := Picture{
		File: file, Step: a.GetStep() + 1, ActionID: a.GetActionId(), When: when, SHA256: ref.GetSha256(),
		Method: ref.GetMethod(), Settled: ref.GetSettled(), Note: ref.GetNote(), Masks: ref.GetMasks(),
	}
	if ref.GetTakenAt() != nil {
		p.TakenAt = new(ref.GetTakenAt().AsTime())
	}
	return p
}

// namer makes file names.
type namer struct {
	width int              // of the step's number
	first map[int32]string // the id of each step's first decision
	used  map[string]bool  // in lower case
}

// stem is `003_save`, or `003_save_retry1` for a later decision to run the step.
func (n *namer) stem(a *reprisev1.ActionStatus) string {
	stem := fmt.Sprintf("%0*d_%s", n.width, a.GetStep()+1, clean(or(a.GetName(), a.GetKind())))
	first, again := n.first[a.GetStep()]
	if !again {
		n.first[a.GetStep()] = a.GetActionId()
		return stem
	}
	return stem + "_" + strings.TrimLeft(clean(strings.TrimPrefix(a.GetActionId(), first)), "_")
}

func (n *namer) unused(stem string) string {
	name := stem + ".png"
	for i := 2; n.used[strings.ToLower(name)]; i++ {
		name = fmt.Sprintf("%s_%d.png", stem, i)
	}
	n.used[strings.ToLower(name)] = true
	return name
}

func or(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}

// longest is how many characters of a step's name a file's name holds.
const longest = 40

// clean keeps of a text what any file system takes in a name.
func clean(s string) string {
	kept := []rune(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s))
	return string(kept[:min(longest, len(kept))])
}
