package docscheck

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/reprise-rpa/reprise/internal/workflow"
)

// snippets reads every block that is no command.
func (c *checker) snippets(ctx context.Context) {
	for _, b := range c.page.blocks {
		if b.kind() == skipped && b.language != "sh" {
			c.skip(b)
			continue
		}
		switch b.language {
		case "yaml":
			c.yaml(ctx, b)
		case "json":
			c.json(b)
		case "proto":
			c.stands(b, protoLines(c.config.Root), "the schema")
		case "go":
			c.goLines(b)
		default:
			continue
		}
		c.result.Snippets++
	}
}

func (c *checker) skip(b block) {
	c.result.Skipped = append(c.result.Skipped, Skipped{Page: c.page.path, Line: b.line, Reason: b.argument()})
}

func (c *checker) yaml(ctx context.Context, b block) {
	if b.kind() == settingsOf {
		c.settings(ctx, b)
		return
	}
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(b.text), &tree); err != nil {
		c.fault(b.line, "not YAML: %v", err)
		return
	}
	if _, isWorkflow := tree["actions"]; !isWorkflow {
		return
	}
	_, err := workflow.Parse(c.page.path, []byte(b.text))
	var faults workflow.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			c.fault(b.line+f.Line-1, "a workflow that is refused: %s", f.Message)
		}
	}
}

func (c *checker) json(b block) {
	decoder := json.NewDecoder(strings.NewReader(b.text))
	for {
		var tree any
		err := decoder.Decode(&tree)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			c.fault(b.line, "not JSON: %v", err)
			return
		}
	}
}

// settings lets the program read a configuration file together with one flag
// that is wrong: since it tells all faults at once and does not start, that one
// must be the only fault.
func (c *checker) settings(ctx context.Context, b block) {
	dir, err := os.MkdirTemp("", "docs-check-")
	if err != nil {
		c.fault(b.line, "%v", err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }() // ours, and small
	file := filepath.Join(dir, "settings.yaml")
	if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
		c.fault(b.line, "%v", err)
		return
	}
	args := []string{"--config", file, "--log-format", "docs-check"}
	if b.argument() == "reprise-agent" {
		args = append([]string{"run"}, args...)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.config.Bin, b.argument()), args...) //nolint:gosec // a program of ours
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `log-format: "docs-check"`) {
		c.fault(b.line, "%s did not look at its settings: %s", b.argument(), out)
		return
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.Contains(line, file+":") {
			c.fault(b.line, "%s refuses the settings: %s", b.argument(), line)
		}
	}
}

// goLines finds the lines of Go in the file that the page names, so that they
// are compiled and run with it.
func (c *checker) goLines(b block) {
	if b.kind() != from {
		c.fault(b.line, "Go that stands in no file: put it in an example and name it (from FILE)")
		return
	}
	data, err := os.ReadFile(filepath.Join(c.config.Root, filepath.FromSlash(b.argument())))
	if err != nil {
		c.fault(b.line, "%v", err)
		return
	}
	c.stands(b, strings.Split(string(data), "\n"), b.argument())
}

func protoLines(root string) []string {
	var all []string
	files, _ := filepath.Glob(filepath.Join(root, "proto/reprise/v1/*.proto")) // the pattern is sound
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			all = append(all, strings.Split(string(data), "\n")...)
		}
	}
	return all
}

// stands demands that the block's lines stand in a text, in their order. Indents
// and lines of `…` or `// …` do not count.
func (c *checker) stands(b block, in []string, where string) {
	at := 0
	for i, line := range strings.Split(b.text, "\n") {
		want := strings.TrimSpace(line)
		if want == "" || want == "…" || want == "// …" {
			continue
		}
		for at < len(in) && strings.TrimSpace(in[at]) != want {
			at++
		}
		if at == len(in) {
			c.fault(b.line+i, "does not stand in %s, at least not here: %s", where, want)
			return
		}
		at++
	}
}
