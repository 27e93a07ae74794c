package dispatch

import "context"

// Payloads are the encoded actions and reports of a machine's live replays. They
// are not to be changed.
type Payloads struct{ Actions, Reports [][]byte }

// Payloads returns what the live replays hold, for those who look for what they
// name.
func (l *Loop) Payloads(ctx context.Context) (Payloads, error) {
	return ask(ctx, l, func(m *Machine) Payloads {
		var p Payloads
		for _, r := range m.live {
			for i := range r.Steps {
				p.Actions = append(p.Actions, r.Steps[i].Payload)
			}
			for i := range r.Actions {
				if rep := r.Actions[i].Report; rep != nil {
					p.Reports = append(p.Reports, rep.Payload)
				}
			}
		}
		return p
	})
}
