package setting

import "fmt"

// Source is one of the four places a value may come from.
type Source int

// The sources, the weakest first.
const (
	Default     Source = iota // built in
	File                      // the YAML file; durations as in Go
	Environment               // an environment variable; durations in plain seconds
	Flag                      // the command line; durations as in Go
)

// Origin is where a value came from, exactly.
type Origin struct {
	Source Source
	Name   string // the flag with dashes, the variable, or the file's path
	Line   int    // line in the file, from 1
}

// String is what a person looks for: `--name`, `VARIABLE`, `file.yaml:3`.
func (o Origin) String() string {
	switch o.Source {
	case File:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case Environment, Flag:
		return o.Name
	default:
		return "the default"
	}
}

// Fault is one value that cannot be used.
type Fault struct {
	Setting string // the setting's name; for an unknown key, that key
	Origin  Origin // where the value stands
	Value   string // the value as it was written
	Problem string // what is wrong with it
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s: %q from %s: %s", f.Setting, f.Value, f.Origin, f.Problem)
}

// given is one source's text for one setting.
type given struct {
	raw    string
	origin Origin
}
