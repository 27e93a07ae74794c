package session

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/registry"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/session/unspoken"
)

// remembered is how many of a session's actions are known by their text. One is in
// flight at a time; the others are those that late words may be about.
const remembered = 8

// typed knows what the last actions of a session typed. The zero value is ready.
type typed struct {
	mu    sync.Mutex
	known map[string]unspoken.Texts // by action id
	order []string
}

func (t *typed) put(actionID string, texts unspoken.Texts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[string]unspoken.Texts{}
	}
	if _, ok := t.known[actionID]; !ok {
		t.order = append(t.order, actionID)
	}
	t.known[actionID] = texts
	if len(t.order) > remembered {
		delete(t.known, t.order[0])
		t.order = t.order[1:]
	}
}

func (t *typed) get(actionID string) (texts unspoken.Texts, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	texts, ok = t.known[actionID]
	return texts, ok
}

// all returns what is known of all of them.
func (t *typed) all() unspoken.Texts {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []unspoken.Texts
	for _, texts := range t.known {
		all = append(all, texts)
	}
	return unspoken.Join(all...)
}

// of returns what an action typed, also one that an earlier session delivered. ok
// is false when that cannot be known: the action is of no live replay, or its
// machine cannot be asked.
func (t *typed) of(ctx context.Context, loop *dispatch.Loop, actionID string) (texts unspoken.Texts, ok bool) {
	if texts, ok = t.get(actionID); ok {
		return texts, true
	}
	replayID, step, ok := placeOf(actionID)
	if !ok {
		return nil, false
	}
	// Each decision to run a step types the same: the first one stands for all.
	p, found, err := loop.Page(ctx, replayID, replay.Place{Step: step}, 1)
	if err != nil || !found || len(p.Actions) == 0 {
		return nil, false
	}
	action := &reprisev1.Action{}
	if proto.Unmarshal(p.Actions[0].Payload, action) != nil {
		return nil, false
	}
	return unspoken.Of(action), true
}

// placeOf returns the replay and the step, from 0, that an action's id is made of.
func placeOf(actionID string) (replayID string, step int, ok bool) {
	i := strings.LastIndexByte(actionID, '-')
	if i < 0 {
		return "", 0, false
	}
	number, _, _ := strings.Cut(actionID[i+1:], "_")
	step, err := strconv.Atoi(number)
	return actionID[:i], step - 1, err == nil && step > 0
}

// unspoken masks what a report's message repeats. A message is left out when what
// its action typed cannot be known.
func (t *typed) unspoken(ctx context.Context, loop *dispatch.Loop, res *dispatch.Result) {
	t.maskOthers(res)
	if res.Report.Message == "" {
		return
	}
	texts, ok := t.of(ctx, loop, res.ActionID)
	if !ok {
		res.Report.Message = ""
		return
	}
	res.Report.Message = texts.Mask(res.Report.Message)
}

// maskOthers masks what the session's other actions typed in all that a report says:
// it may be on the screen that this one tells of. Who shows the report later knows
// its own action alone, so this is done before it is kept.
func (t *typed) maskOthers(res *dispatch.Result) {
	t.mu.Lock()
	var others unspoken.Texts
	for actionID, texts := range t.known {
		if actionID != res.ActionID {
			others = unspoken.Join(others, texts.Long())
		}
	}
	t.mu.Unlock()
	repeats := func(text string) bool { return bytes.Contains(res.Report.Payload, []byte(text)) }
	if !slices.ContainsFunc(others, repeats) {
		return
	}
	replayID, _, _ := placeOf(res.ActionID)
	r, err := others.Report(res.Report.Payload, res.ActionID, res.AttemptID, replayID)
	if err != nil {
		return // it was encoded here
	}
	if payload, err := proto.Marshal(r); err == nil {
		res.Report.Payload, res.Report.Message = payload, others.Mask(res.Report.Message)
	}
}

// greeted returns what a hello says of its machine, without what was typed by the
// actions that the agent had not finished. From then on they are known.
func (t *typed) greeted(ctx context.Context, loop *dispatch.Loop, h *reprisev1.Hello) registry.Info {
	began := slices.Clone(h.GetUnfinished())
	if h.GetExecuting() != nil {
		began = append(began, h.GetExecuting()) // the last one: it is remembered
	}
	var all []unspoken.Texts
	known := true
	for _, a := range began {
		texts, ok := t.of(ctx, loop, a.GetActionId())
		if known = known && ok; ok {
			t.put(a.GetActionId(), texts)
			all = append(all, texts)
		}
	}
	texts, i := unspoken.Join(all...), info(h)
	i.LastExit, i.DesktopWhy = texts.Mask(i.LastExit), texts.Mask(i.DesktopWhy)
	if !known && i.LastExit != "" {
		i.LastExit = unspoken.Mask // whatever it says of how an action has ended
	}
	return i
}
