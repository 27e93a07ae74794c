package setting

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Value is a setting's type, default and destination. The constructors of this
// package make the only ones; each puts its default in place at once.
type Value interface {
	// String is the current value as the file would have it.
	String() string
	// Kind is the type's name, for people.
	Kind() string
	// Destination is the pointer that the value is put to.
	Destination() any

	set(raw string, from Source) error
	reset()
}

const kindBool = "bool"

type value[T any] struct {
	to    *T
	def   T
	kind  string
	parse func(raw string, from Source) (T, error)
	show  func(T) string
}

func newValue[T any](v value[T]) Value {
	v.reset()
	return &v
}

func (v *value[T]) String() string   { return v.show(*v.to) }
func (v *value[T]) Kind() string     { return v.kind }
func (v *value[T]) Destination() any { return v.to }
func (v *value[T]) reset()           { *v.to = v.def }

func (v *value[T]) set(raw string, from Source) error {
	parsed, err := v.parse(strings.TrimSpace(raw), from)
	if err != nil {
		return err
	}
	*v.to = parsed
	return nil
}

// Bool is 1, true, yes or on, and their opposites, in any case.
func Bool(to *bool, def bool) Value {
	parse := func(raw string, _ Source) (bool, error) {
		switch strings.ToLower(raw) {
		case "1", "true", "yes", "on":
			return true, nil
		case "0", "false", "no", "off":
			return false, nil
		}
		return false, errors.New("must be one of 1, true, yes, on, 0, false, no, off")
	}
	return newValue(value[bool]{to: to, def: def, kind: kindBool, parse: parse, show: strconv.FormatBool})
}

// Duration is a duration between low and high, both included. It is written as
// in Go (`1m30s`) in flags and file, in plain seconds (`90`, `0.5`) in the
// environment.
func Duration(to *time.Duration, def, low, high time.Duration) Value {
	parse := func(raw string, from Source) (time.Duration, error) {
		return parseDuration(raw, from, low, high)
	}
	return newValue(value[time.Duration]{to: to, def: def, kind: "duration", parse: parse, show: showDuration})
}

// Durations is a list of at least one duration, separated by commas; in the
// file it may be a YAML list. Each is written as for [Duration].
func Durations(to *[]time.Duration, def []time.Duration, low, high time.Duration) Value {
	parse := func(raw string, from Source) ([]time.Duration, error) {
		var all []time.Duration
		for _, item := range splitList(raw) {
			d, err := parseDuration(item, from, low, high)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", item, err)
			}
			all = append(all, d)
		}
		if len(all) == 0 {
			return nil, errors.New("must name at least one duration")
		}
		return all, nil
	}
	show := func(all []time.Duration) string {
		items := make([]string, len(all))
		for i, d := range all {
			items[i] = showDuration(d)
		}
		return strings.Join(items, ",")
	}
	return newValue(value[[]time.Duration]{to: to, def: def, kind: "durations", parse: parse, show: show})
}

// Int is a whole number between low and high, both included.
func Int(to *int, def, low, high int) Value {
	parse := func(raw string, _ Source) (int, error) {
		n, err := strconv.Atoi(raw)
		if err != nil {
			return 0, errors.New("must be a whole number")
		}
		return n, within(n, low, high, strconv.Itoa)
	}
	return newValue(value[int]{to: to, def: def, kind: "int", parse: parse, show: strconv.Itoa})
}

// Float is a number between low and high, both included.
func Float(to *float64, def, low, high float64) Value {
	show := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	parse := func(raw string, _ Source) (float64, error) {
		f, err := strconv.ParseFloat(raw, 64)
		if err != nil || math.IsNaN(f) {
			return 0, errors.New("must be a number")
		}
		return f, within(f, low, high, show)
	}
	return newValue(value[float64]{to: to, def: def, kind: "float", parse: parse, show: show})
}

// Text is any text.
func Text(to *string, def string) Value {
	itself := func(s string) string { return s }
	parse := func(raw string, _ Source) (string, error) { return raw, nil }
	return newValue(value[string]{to: to, def: def, kind: "string", parse: parse, show: itself})
}

// Enum is one of the allowed words; its kind lists them.
func Enum(to *string, def string, allowed ...string) Value {
	itself := func(s string) string { return s }
	parse := func(raw string, _ Source) (string, error) { return raw, oneOf(raw, allowed) }
	return newValue(value[string]{to: to, def: def, kind: strings.Join(allowed, "|"), parse: parse, show: itself})
}

// List is words separated by commas, each one of the allowed; none allowed
// means any. In the file it may be a YAML list.
func List(to *[]string, def []string, allowed ...string) Value {
	parse := func(raw string, _ Source) ([]string, error) {
		words := splitList(raw)
		if len(allowed) == 0 {
			return words, nil
		}
		for _, w := range words {
			if err := oneOf(w, allowed); err != nil {
				return nil, fmt.Errorf("%q: %w", w, err)
			}
		}
		return words, nil
	}
	show := func(words []string) string { return strings.Join(words, ",") }
	return newValue(value[[]string]{to: to, def: def, kind: "words", parse: parse, show: show})
}

// Parsed is a value of a type that the program reads and shows itself; kind names
// the type for people. What show returns, parse must read.
func Parsed[T any](to *T, def T, kind string, parse func(raw string) (T, error), show func(T) string) Value {
	same := func(raw string, _ Source) (T, error) { return parse(raw) }
	return newValue(value[T]{to: to, def: def, kind: kind, parse: same, show: show})
}

// Size is a width and a height in pixels.
type Size struct{ Width, Height int }

// String is `1200x800`.
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Width, s.Height) }

// Dimensions is a [Size], written `1200x800` or `1200×800`; neither side is
// negative.
func Dimensions(to *Size, def Size) Value {
	parse := func(raw string, _ Source) (Size, error) {
		w, h, ok := strings.Cut(strings.ToLower(strings.ReplaceAll(raw, "×", "x")), "x")
		width, errW := strconv.ParseUint(strings.TrimSpace(w), 10, 16)
		height, errH := strconv.ParseUint(strings.TrimSpace(h), 10, 16)
		if !ok || errW != nil || errH != nil {
			return Size{}, errors.New("must be a width and a height, such as 1200x800")
		}
		return Size{Width: int(width), Height: int(height)}, nil
	}
	return newValue(value[Size]{to: to, def: def, kind: "size", parse: parse, show: Size.String})
}

func parseDuration(raw string, from Source, low, high time.Duration) (time.Duration, error) {
	if from != Environment {
		d, err := time.ParseDuration(raw)
		if err != nil {
			return 0, errors.New("must be a duration with its unit, such as 1m30s")
		}
		return d, within(d, low, high, showDuration)
	}
	seconds, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > float64(math.MaxInt64)/1e9 {
		return 0, errors.New("must be a number of seconds, such as 90 or 0.5")
	}
	d := time.Duration(math.Round(seconds * float64(time.Second)))
	return d, within(d, low, high, showDuration)
}

// showDuration is Go's form without the zeros at its end: 24h, not 24h0m0s.
func showDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func within[T cmp.Ordered](v, low, high T, show func(T) string) error {
	if v < low || v > high {
		return fmt.Errorf("must be between %s and %s", show(low), show(high))
	}
	return nil
}

func oneOf(word string, allowed []string) error {
	if slices.Contains(allowed, word) {
		return nil
	}
	return errors.New("must be one of " + strings.Join(allowed, ", "))
}

func splitList(raw string) []string {
	var items []string
	for item := range strings.SplitSeq(raw, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
