package docscheck

import (
	"regexp"
	"strconv"
	"strings"
)

// kind is what a block's directive asks for.
type kind int

const (
	plain kind = iota
	skipped
	background
	exits
	until
	settingsOf
	from
	wrongDirective
)

var directives = []struct {
	kind   kind
	prefix string
}{
	{skipped, "skip: "}, {background, "background until: "}, {exits, "exits "}, {until, "until: "}, {settingsOf, "settings of "}, {from, "from "},
}

func (b block) kind() kind {
	if b.directive == "" {
		return plain
	}
	for _, d := range directives {
		if argument, ok := strings.CutPrefix(b.directive, d.prefix); ok && argument != "" && sound(d.kind, argument) {
			return d.kind
		}
	}
	return wrongDirective
}

// argument is what the directive says after its name.
func (b block) argument() string {
	for _, d := range directives {
		if argument, ok := strings.CutPrefix(b.directive, d.prefix); ok {
			return argument
		}
	}
	return ""
}

func sound(k kind, argument string) bool {
	var err error
	switch k {
	case background, until:
		_, err = regexp.Compile(argument)
	case exits:
		_, err = strconv.Atoi(argument)
	}
	return err == nil
}
