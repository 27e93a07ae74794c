package setting

import (
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// readFile collects the raw text of each key. What it cannot use is a fault
// with its line; the rest is returned all the same.
func (s *Set) readFile(path string) (map[string]given, []error) {
	if path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, []error{fmt.Errorf("configuration file: %w", err)}
	}
	parsed, err := parser.ParseBytes(content, 0, parser.AllowDuplicateMapKey()) // a key given twice is one fault among all
	if err != nil {
		return nil, []error{fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, false))}
	}
	values, errs := map[string]given{}, []error(nil)
	for _, doc := range parsed.Docs {
		nodes, err := topLevel(path, doc.Body)
		if err != nil {
			errs = append(errs, err)
		}
		for _, n := range nodes {
			if err := s.readKey(path, n, values); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return values, errs
}

func topLevel(path string, body ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil, nil
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	default:
		return nil, fmt.Errorf("%s:%d: must hold settings, one `name: value` a line", path, lineOf(n))
	}
}

func (s *Set) readKey(path string, n *ast.MappingValueNode, values map[string]given) error {
	key := n.Key.GetToken().Value
	origin := Origin{Source: File, Name: path, Line: lineOf(n.Key)}
	if s.find(key) == nil {
		return &Fault{Setting: key, Origin: origin, Value: n.Value.String(), Problem: "no setting has this name"}
	}
	if earlier, ok := values[key]; ok {
		return &Fault{Setting: key, Origin: origin, Value: n.Value.String(), Problem: "is set before, at " + earlier.origin.String()}
	}
	raw, ok := rawText(n.Value)
	if !ok {
		return &Fault{Setting: key, Origin: origin, Value: n.Value.String(), Problem: "must be a plain value or a list of them"}
	}
	values[key] = given{raw: raw, origin: origin}
	return nil
}

// rawText is a scalar as it was written, or a list joined by commas.
func rawText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, true
	case *ast.SequenceNode:
		items := make([]string, len(n.Values))
		for i, item := range n.Values {
			raw, ok := rawText(item)
			if !ok {
				return "", false
			}
			items[i] = raw
		}
		return strings.Join(items, ","), true
	default:
		return "", false
	}
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}
