package docscheck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// run runs the page's commands. Its error says that it could not begin.
func (c *checker) run(ctx context.Context) (err error) {
	if !slices.ContainsFunc(c.page.blocks, func(b block) bool { return b.language == "sh" && b.kind() != skipped }) {
		for _, b := range c.page.blocks {
			if b.language == "sh" {
				c.skip(b)
			}
		}
		return nil
	}
	scratch, err := os.MkdirTemp("", "docs-check-")
	if err != nil {
		return fmt.Errorf("docscheck: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }() // ours alone
	at, err := choose(scratch, c.config.Bin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.leave()) }()
	dir, err := c.workFolder(scratch)
	if err != nil {
		return err
	}
	s, err := open(ctx, dir, scratch, at.environment)
	if err != nil {
		return err
	}
	defer s.close()
	for _, b := range c.page.blocks {
		if b.language != "sh" {
			continue
		}
		if b.kind() == skipped {
			c.skip(b)
			continue
		}
		if !c.runBlock(ctx, s, b, at) {
			return nil // what follows depends on it
		}
	}
	return nil
}

// workFolder is where a page's commands run: the repository itself, or a folder
// of the page's own with the repository's folders in it.
func (c *checker) workFolder(scratch string) (string, error) {
	if c.page.inRepository {
		return c.config.Root, nil
	}
	dir := filepath.Join(scratch, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("docscheck: %w", err)
	}
	for _, name := range []string{"examples", "docs", "proto"} {
		if err := os.Symlink(filepath.Join(c.config.Root, name), filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("docscheck: %w", err)
		}
	}
	return dir, nil
}

// runBlock runs one block and says whether the page goes on.
func (c *checker) runBlock(ctx context.Context, s *session, b block, at places) bool {
	if !b.hidden {
		c.result.Run++
	}
	commands := at.private.Replace(b.text)
	if b.kind() == background {
		got, err := s.keep(ctx, commands, regexp.MustCompile(b.argument()), c.config.Limit)
		if err != nil {
			c.fault(b.line, "%v; it says:\n%s", err, at.public.Replace(got))
		}
		return err == nil
	}
	if b.kind() == until {
		return c.repeat(ctx, s, b, commands, at)
	}
	want := 0
	if b.kind() == exits {
		want, _ = strconv.Atoi(b.argument()) // parse has looked at it
	}
	got, status, err := s.do(commands, want != 0, c.config.Limit)
	got = at.public.Replace(got)
	if errors.Is(err, errEnded) {
		c.fault(b.line, "a command failed; the block says:\n%s", got)
		return false
	}
	if err != nil || status != want {
		c.fault(b.line, "status %d, want %d (%v); the block says:\n%s", status, want, err, got)
		return false
	}
	c.compare(b, got)
	return true
}

func (c *checker) compare(b block, got string) {
	if b.output == nil {
		return
	}
	c.result.Compared++
	if !matches(b.output.text, got) {
		c.fault(b.output.line, "another output:\n%s", strings.TrimSuffix(got, "\n"))
	}
}

// repeat runs a block as often as it takes for its output to match.
func (c *checker) repeat(ctx context.Context, s *session, b block, commands string, at places) bool {
	ready := regexp.MustCompile(b.argument())
	ctx, stop := context.WithTimeout(ctx, c.config.Limit)
	defer stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		got, _, err := s.do(commands, true, c.config.Limit)
		if err != nil {
			c.fault(b.line, "%v; the block says:\n%s", err, at.public.Replace(got))
			return false
		}
		if ready.MatchString(got) {
			c.compare(b, at.public.Replace(got))
			return true
		}
		select {
		case <-ctx.Done():
			c.fault(b.line, "its output never matched %q; the last was:\n%s", ready, at.public.Replace(got))
			return false
		case <-again.C:
		}
	}
}
