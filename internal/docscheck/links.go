package docscheck

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	link     = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeSpan = regexp.MustCompile("`[^`]+`")
)

// links follows every link that stays in the repository.
func (c *checker) links() {
	for _, l := range c.page.lines {
		for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(l.text, "code"), -1) {
			target, err := url.Parse(m[1])
			if err != nil {
				c.fault(l.number, "not a link: %s", m[1])
				continue
			}
			if target.Scheme != "" {
				continue
			}
			c.result.Links++
			c.follow(l.number, m[1], target.Path, target.Fragment)
		}
	}
}

func (c *checker) follow(line int, written, file, anchor string) {
	anchors := c.page.anchors
	if file != "" {
		to := filepath.Join(c.config.Root, filepath.FromSlash(path.Join(path.Dir(c.page.path), file)))
		info, err := os.Stat(to)
		if err != nil {
			c.fault(line, "a dead link: %s", written)
			return
		}
		if anchor == "" {
			return
		}
		if info.IsDir() || !strings.HasSuffix(to, ".md") {
			c.fault(line, "only a page has anchors: %s", written)
			return
		}
		data, err := os.ReadFile(to)
		if err != nil {
			c.fault(line, "a dead link: %s", written)
			return
		}
		anchors = parse(file, string(data)).anchors
	}
	if anchor != "" && !anchors[anchor] {
		c.fault(line, "a link to a heading that is not there: %s", written)
	}
}
