package limits

import (
	"errors"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// The lists of a file.
const (
	listTypeInto = "never-type-into"
	listPicture  = "never-picture"
)

// Load reads limits from a YAML file, or returns every fault of it with its line:
//
//	never-type-into:
//	  - process: keepass.exe
//	  - title: ^Payroll
//	    titleMatch: regexp
//	never-picture:
//	  - className: KeePassMainWindow
//
// A file without a rule is a fault: it limits nothing.
func Load(path string) (Rules, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Rules{}, err
	}
	parsed, err := parser.ParseBytes(content, 0, parser.AllowDuplicateMapKey()) // a key given twice is one fault among all
	if err != nil {
		return Rules{}, fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, false))
	}
	r := &reader{path: path}
	for _, doc := range parsed.Docs {
		r.file(doc.Body)
	}
	if len(r.errs) == 0 && len(r.rules.NeverTypeInto)+len(r.rules.NeverPicture) == 0 {
		return Rules{}, fmt.Errorf("%s: holds no rule", path)
	}
	if err := errors.Join(r.errs...); err != nil {
		return Rules{}, err
	}
	return r.rules, nil
}

// reader gathers the rules of a file, and its faults.
type reader struct {
	path  string
	rules Rules
	errs  []error
}

func (r *reader) fault(n ast.Node, format string, args ...any) {
	line := 1
	if t := n.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %w", r.path, line, fmt.Errorf(format, args...)))
}

func (r *reader) file(body ast.Node) {
	lists := map[string]*[]Rule{listTypeInto: &r.rules.NeverTypeInto, listPicture: &r.rules.NeverPicture}
	switch body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return
	}
	for _, entry := range r.entries(body, "a file of limits") {
		key := entry.Key.GetToken().Value
		list, known := lists[key]
		if !known {
			r.fault(entry.Key, "%q is none of %s, %s, or is there twice", key, listTypeInto, listPicture)
			continue
		}
		delete(lists, key)
		items, ok := entry.Value.(*ast.SequenceNode)
		if !ok {
			r.fault(entry.Key, "%s must be a list of rules", key)
			continue
		}
		for i, item := range items.Values {
			r.rule(fmt.Sprintf("%s[%d]", key, i), item, list)
		}
	}
}

// rule reads one rule.
func (r *reader) rule(name string, n ast.Node, into *[]Rule) {
	var rule Rule
	var match string
	fields := map[string]*string{"title": &rule.Title, "titleMatch": &match, "className": &rule.Class, "process": &rule.Process}
	before := len(r.errs)
	for _, entry := range r.entries(n, name) {
		key := entry.Key.GetToken().Value
		field, known := fields[key]
		if !known {
			r.fault(entry.Key, "%s: %q is none of title, titleMatch, className, process, or is there twice", name, key)
			continue
		}
		delete(fields, key)
		text, ok := scalar(entry.Value)
		if !ok || text == "" {
			r.fault(entry.Key, "%s: %s must be a text", name, key)
			continue
		}
		*field = text
	}
	if len(r.errs) > before {
		return
	}
	rule.Match = Match(match)
	checked, err := NewRule(name, rule)
	if err != nil {
		r.fault(n, "%s: %w", name, err)
		return
	}
	*into = append(*into, checked)
}

// entries are those of a mapping.
func (r *reader) entries(n ast.Node, what string) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	r.fault(n, "%s must hold `name: value` lines", what)
	return nil
}

// scalar is a plain value as it was written.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, true
	}
	return "", false
}
