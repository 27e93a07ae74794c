package session

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
)

// mask stands for text that an action typed, where an agent repeats it although
// it should not. What an agent says goes on to people, lists and the log; typed
// text may not. The report itself is kept as it came.
const mask = "•••"

// longEnough is how many bytes a line of a text must have to be masked by itself.
const longEnough = 4

// remembered is how many of a session's actions are known by their text. One is in
// flight at a time; the others are those that late words may be about.
const remembered = 8

// typed knows what the last actions of a session typed. The zero value is ready.
type typed struct {
	mu    sync.Mutex
	known map[string][]string // by action id
	order []string
}

func (t *typed) put(actionID string, a *reprisev1.Action) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[string][]string{}
	}
	if _, ok := t.known[actionID]; !ok {
		t.order = append(t.order, actionID)
	}
	t.known[actionID] = texts(a)
	if len(t.order) > remembered {
		delete(t.known, t.order[0])
		t.order = t.order[1:]
	}
}

func (t *typed) get(actionID string) (secrets []string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	secrets, ok = t.known[actionID]
	return secrets, ok
}

// all returns what is known of all of them, the longer ones first.
func (t *typed) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, secrets := range t.known {
		all = append(all, secrets...)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// texts are the forms in which an action's text could be repeated: as it is,
// quoted, line by line. The longer ones come first.
func texts(a *reprisev1.Action) []string {
	text := a.GetType().GetText() + a.GetPaste().GetText()
	if text == "" {
		return nil
	}
	quoted := strconv.Quote(text)
	all := []string{text, quoted[1 : len(quoted)-1]}
	if lines := strings.Split(text, "\n"); len(lines) > 1 {
		for _, l := range lines {
			if len(l) >= longEnough {
				all = append(all, l)
			}
		}
	}
	return all
}

func masked(message string, secrets []string) string {
	for _, s := range secrets {
		message = strings.ReplaceAll(message, s, mask)
	}
	return message
}

// unspoken masks what a report's message repeats. A message whose action cannot
// be looked at is left out.
func unspoken(ctx context.Context, t *typed, loop *dispatch.Loop, res *dispatch.Result) {
	if res.Report.Message == "" {
		return
	}
	secrets, ok := t.get(res.ActionID)
	if !ok {
		var err error
		if secrets, err = stored(ctx, loop, res.ActionID); err != nil {
			res.Report.Message = ""
			return
		}
	}
	res.Report.Message = masked(res.Report.Message, secrets)
}

// stored returns what an action typed that an earlier session delivered.
func stored(ctx context.Context, loop *dispatch.Loop, actionID string) ([]string, error) {
	replayID := actionID[:max(0, strings.LastIndex(actionID, "-"))]
	v, found, err := loop.View(ctx, replayID)
	if err != nil || !found {
		return nil, err
	}
	for _, a := range v.Actions {
		if a.ID == actionID {
			action := &reprisev1.Action{}
			if err := proto.Unmarshal(a.Payload, action); err != nil {
				return nil, err
			}
			return texts(action), nil
		}
	}
	return nil, nil
}
