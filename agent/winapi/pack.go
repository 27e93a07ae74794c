package winapi

import "fmt"

// pack puts events into the union that SendInput takes, each with the Tag.
func pack(events []Event) ([]input, error) {
	packed := make([]input, len(events))
	for i, event := range events {
		in := &packed[i]
		switch e := event.(type) {
		case MouseEvent:
			in.kind = kindMouse
			in.mouse = mouseInput{dx: e.X, dy: e.Y, data: uint32(e.Data), flags: e.Flags, extra: Tag}
		case KeyEvent:
			in.kind = kindKey
			*in.key() = keyInput{vk: e.Key, scan: e.Scan, flags: e.Flags, extra: Tag}
		default:
			return nil, fmt.Errorf("input event %d is a %T", i, event)
		}
	}
	return packed, nil
}
