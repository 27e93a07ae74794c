// Package setting fills a program's settings from four sources, the later one
// winning: defaults, a YAML file, the environment, flags. Sources are collected
// as raw text first, then everything given is parsed and checked, so that all
// faults are reported at once and each names the setting, the source and the
// value, also where a stronger source overrides it.
//
// It decides how a value is written in each source and nothing about what a
// setting means: programs declare their settings in a [Set] and keep the values
// in a struct of their own. It reads nothing but the file it is given.
package setting

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Setting is one setting: its names, its meaning and where its value goes.
type Setting struct {
	Name  string   // the flag without dashes, and the key in the file
	Env   string   // the environment variable; empty: none
	Older []string // former environment variables, taken with a warning
	Help  string   // what it means, for --help and the manual
	Value Value    // its type, its default and its destination
}

// Set is the settings of one program. Its zero value is empty and ready.
type Set struct {
	settings []*Setting
	checks   []check
	flags    map[string]*rawFlag
	origins  map[string]Origin
}

type check struct {
	names []string
	run   func() error
}

// Add appends settings. A name that is taken twice is a fault of the program
// and panics.
func (s *Set) Add(settings ...Setting) {
	for _, st := range settings {
		if s.find(st.Name) != nil {
			panic("setting: declared twice: " + st.Name)
		}
		s.settings = append(s.settings, &st)
	}
}

// All returns the settings in the order in which they were added.
func (s *Set) All() []Setting {
	all := make([]Setting, len(s.settings))
	for i, st := range s.settings {
		all[i] = *st
	}
	return all
}

// Check adds a condition over several settings. It runs after all values are
// in their places, and only when each of the named settings is sound: a wrong
// value is reported once, not by everything that depends on it. The fault gets
// the value and source of each named setting added.
func (s *Set) Check(run func() error, names ...string) {
	for _, name := range names {
		if s.find(name) == nil {
			panic("setting: check of an unknown setting: " + name)
		}
	}
	s.checks = append(s.checks, check{names: names, run: run})
}

// Bind adds a flag for each setting to fs. The flags take any text; it is
// checked by Load, together with the other sources.
func (s *Set) Bind(fs *pflag.FlagSet) {
	s.flags = make(map[string]*rawFlag, len(s.settings))
	for _, st := range s.settings {
		raw := &rawFlag{shown: st.Value.String(), kind: st.Value.Kind()}
		s.flags[st.Name] = raw
		flag := fs.VarPF(raw, st.Name, "", usage(*st))
		if st.Value.Kind() == kindBool {
			flag.NoOptDefVal = "true"
		}
	}
}

// Origin says where the value of the named setting came from; before Load, and
// for a setting that no source gives, it is the default.
func (s *Set) Origin(name string) Origin { return s.origins[name] }

// Sources are where values come from beside flags and defaults.
type Sources struct {
	File string                      // path of the YAML file; empty: none
	Env  func(string) (string, bool) // such as os.LookupEnv; nil: none
}

// Load puts every setting in its place and returns warnings for people, such
// as the use of an older name. The error joins every [Fault] of every source;
// a setting with a fault keeps its default.
func (s *Set) Load(src Sources) (warnings []string, err error) {
	s.origins = map[string]Origin{}
	file, errs := s.readFile(src.File)
	faulty := map[string]bool{}
	for _, st := range s.settings {
		givens, warned := s.given(*st, file, src.Env)
		warnings = append(warnings, warned...)
		errs = append(errs, s.apply(*st, givens, faulty)...)
	}
	for _, c := range s.checks {
		if err := s.runCheck(c, faulty); err != nil {
			errs = append(errs, err)
		}
	}
	return warnings, errors.Join(errs...)
}

// given lists what the sources say about st, the weakest first.
func (s *Set) given(st Setting, file map[string]given, env func(string) (string, bool)) ([]given, []string) {
	var all []given
	var warnings []string
	if g, ok := file[st.Name]; ok {
		all = append(all, g)
	}
	if env != nil {
		fromEnv, warned := environment(st, env)
		all, warnings = append(all, fromEnv...), warned
	}
	if raw := s.flags[st.Name]; raw != nil && raw.set {
		all = append(all, given{raw: raw.raw, origin: Origin{Source: Flag, Name: "--" + st.Name}})
	}
	return all, warnings
}

// environment reads st's variables. An empty variable counts as not set, since
// that is what service managers make of an unset one.
func environment(st Setting, env func(string) (string, bool)) (all []given, warnings []string) {
	for _, older := range st.Older {
		if raw, ok := env(older); ok && raw != "" {
			all = append(all, given{raw: raw, origin: Origin{Source: Environment, Name: older}})
			warnings = append(warnings, fmt.Sprintf("%s is an older name, use %s", older, st.Env))
		}
	}
	if st.Env == "" {
		return all, warnings
	}
	if raw, ok := env(st.Env); ok && raw != "" {
		all = append(all, given{raw: raw, origin: Origin{Source: Environment, Name: st.Env}})
	}
	return all, warnings
}

// apply parses all that is given and keeps the strongest.
func (s *Set) apply(st Setting, givens []given, faulty map[string]bool) (errs []error) {
	st.Value.reset()
	for _, g := range givens {
		if err := st.Value.set(g.raw, g.origin.Source); err != nil {
			errs = append(errs, &Fault{Setting: st.Name, Origin: g.origin, Value: g.raw, Problem: err.Error()})
			continue
		}
		s.origins[st.Name] = g.origin
	}
	if len(errs) > 0 {
		faulty[st.Name] = true
		st.Value.reset()
		delete(s.origins, st.Name)
	}
	return errs
}

func (s *Set) runCheck(c check, faulty map[string]bool) error {
	for _, name := range c.names {
		if faulty[name] {
			return nil
		}
	}
	err := c.run()
	if err == nil {
		return nil
	}
	said := make([]string, len(c.names))
	for i, name := range c.names {
		said[i] = fmt.Sprintf("%s is %q from %s", name, s.find(name).Value.String(), s.Origin(name))
	}
	return fmt.Errorf("%w (%s)", err, strings.Join(said, ", "))
}

func (s *Set) find(name string) *Setting {
	for _, st := range s.settings {
		if st.Name == name {
			return st
		}
	}
	return nil
}

// rawFlag takes a flag's text without judging it.
type rawFlag struct {
	raw, shown, kind string
	set              bool
}

func (r *rawFlag) Set(raw string) error { r.raw, r.set = raw, true; return nil }
func (r *rawFlag) Type() string         { return r.kind }

// String is the default before the flag is set, so that --help shows it.
func (r *rawFlag) String() string {
	if r.set {
		return r.raw
	}
	return r.shown
}

func usage(st Setting) string {
	if st.Env == "" {
		return st.Help
	}
	return fmt.Sprintf("%s [%s]", st.Help, st.Env)
}
