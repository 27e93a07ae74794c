package docscheck

import (
	"context"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	programs = []string{"reprisectl", "reprised", "reprise-agent"}
	aCommand = regexp.MustCompile(`^[a-z][a-z-]*$`)
	aFlag    = regexp.MustCompile(`^(--[a-z][a-z-]*)(=.*)?$`)
	inTicks  = regexp.MustCompile("`([^`]+)`")
	// apart is what ends a command on its line.
	apart = regexp.MustCompile(`\s(\||\|\||&&|>|2>|<|#|&)(\s|$)|;|\s\\$`)
)

// commands looks up every command of the programs that the page names: each
// exists, and takes each flag that it is given.
func (c *checker) commands(ctx context.Context) {
	help := map[string]string{}
	look := func(line int, text string) {
		for _, part := range apart.Split(text, -1) {
			words := strings.Fields(part)
			if len(words) == 0 {
				continue
			}
			if program := strings.TrimSuffix(path.Base(words[0]), ".exe"); slices.Contains(programs, program) {
				c.result.Commands++
				c.command(ctx, line, program, words[1:], help)
			}
		}
	}
	for _, l := range c.page.lines {
		for _, m := range inTicks.FindAllStringSubmatch(l.text, -1) {
			look(l.number, m[1])
		}
	}
	for _, b := range c.page.blocks {
		if b.language != "sh" && b.language != "cmd" {
			continue
		}
		for i, line := range strings.Split(b.text, "\n") {
			look(b.line+i, line)
		}
	}
}

// command asks the program itself about one command line.
func (c *checker) command(ctx context.Context, line int, program string, words []string, help map[string]string) {
	names := []string{program}
	for len(words) > 0 && aCommand.MatchString(words[0]) && c.has(ctx, names, words[0], help) {
		names, words = append(names, words[0]), words[1:]
	}
	text := c.help(ctx, names, help)
	if text == "" {
		c.fault(line, "%s does not answer --help", strings.Join(names, " "))
		return
	}
	if len(words) > 0 && aCommand.MatchString(words[0]) && strings.Contains(text, "Available Commands:") {
		c.fault(line, "no such command: %s %s", strings.Join(names, " "), words[0])
		return
	}
	for _, word := range words {
		if m := aFlag.FindStringSubmatch(strings.Trim(word, "[]`")); m != nil && !strings.Contains(text, m[1]+" ") && !strings.Contains(text, m[1]+"[") && !strings.Contains(text, m[1]+"\n") {
			c.fault(line, "%s has no flag %s", strings.Join(names, " "), m[1])
		}
	}
}

// has says whether names has a subcommand of this name.
func (c *checker) has(ctx context.Context, names []string, sub string, help map[string]string) bool {
	_, listed, found := strings.Cut(c.help(ctx, names, help), "Available Commands:")
	return found && regexp.MustCompile(`(?m)^\s+`+regexp.QuoteMeta(sub)+`\s`).MatchString(listed)
}

// help is what `names --help` says, asked once.
func (c *checker) help(ctx context.Context, names []string, known map[string]string) string {
	key := strings.Join(names, " ")
	if text, ok := known[key]; ok {
		return text
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.config.Bin, names[0]), append(slices.Clone(names[1:]), "--help")...) //nolint:gosec // a program of ours
	out, err := cmd.CombinedOutput()
	if err != nil {
		out = nil
	}
	known[key] = string(out)
	return known[key]
}
