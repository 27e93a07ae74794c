package serve

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/wire"
)

// operations are what a door offers.
type operations map[string]func(d *virtualdesktop.Desktop, args json.RawMessage, now time.Time) answer

// looking is offered at both doors.
var looking = operations{
	"capture": func(d *virtualdesktop.Desktop, _ json.RawMessage, _ time.Time) answer { return capture(d) },
	"windows": asked(func(d *virtualdesktop.Desktop) any { return d.Windows() }),
	"down":    asked(func(d *virtualdesktop.Desktop) any { return d.Down() }),
}

var inputDoor = with(looking, operations{
	"input": told(func(d *virtualdesktop.Desktop, e wire.Event, now time.Time) (any, error) {
		return nil, d.Apply(e, now)
	}),
	"condition": asked(func(d *virtualdesktop.Desktop) any { return d.Condition() }),
	"monitors":  asked(func(d *virtualdesktop.Desktop) any { return d.Monitors() }),
})

var controlDoor = with(looking, operations{
	"ledger":     asked(func(d *virtualdesktop.Desktop) any { return d.Ledger() }),
	"swallow":    switched((*virtualdesktop.Desktop).Swallow),
	"lock":       switched((*virtualdesktop.Desktop).Lock),
	"disconnect": switched((*virtualdesktop.Desktop).Disconnect),
	"move_window": told(func(d *virtualdesktop.Desktop, p wire.Placement, _ time.Time) (any, error) {
		return nil, d.MoveWindow(p.Window, p.To)
	}),
	"popup": told(func(d *virtualdesktop.Desktop, dialog wire.Dialog, now time.Time) (any, error) {
		return d.Popup(dialog, now), nil
	}),
	"recorder": told(func(d *virtualdesktop.Desktop, title string, now time.Time) (any, error) {
		return d.OpenRecorder(title, now), nil
	}),
	"text": told(func(d *virtualdesktop.Desktop, widget string, _ time.Time) (any, error) {
		return d.Text(widget)
	}),
	"find": told(func(d *virtualdesktop.Desktop, id string, _ time.Time) (any, error) {
		bounds, ok := d.Find(id)
		if !ok {
			return nil, &wire.Error{Code: wire.ErrBadRequest.Code, Message: "it is not to be seen"}
		}
		return bounds, nil
	}),
})

func with(a, b operations) operations {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func asked(ask func(*virtualdesktop.Desktop) any) func(*virtualdesktop.Desktop, json.RawMessage, time.Time) answer {
	return func(d *virtualdesktop.Desktop, _ json.RawMessage, _ time.Time) answer { return answer{result: ask(d)} }
}

func switched(set func(*virtualdesktop.Desktop, bool)) func(*virtualdesktop.Desktop, json.RawMessage, time.Time) answer {
	return told(func(d *virtualdesktop.Desktop, on bool, _ time.Time) (any, error) {
		set(d, on)
		return nil, nil
	})
}

func told[A any](tell func(*virtualdesktop.Desktop, A, time.Time) (any, error)) func(*virtualdesktop.Desktop, json.RawMessage, time.Time) answer {
	return func(d *virtualdesktop.Desktop, raw json.RawMessage, now time.Time) answer {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return answer{err: &wire.Error{Code: wire.ErrBadRequest.Code, Message: "the arguments make no sense"}}
		}
		result, err := tell(d, args, now)
		return answer{result: result, err: err}
	}
}
