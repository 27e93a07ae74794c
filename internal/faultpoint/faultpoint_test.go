package faultpoint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestEveryPointIsListedOnce(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "faultpoint.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if name, err := strconv.Unquote(literal.Value); err == nil && (strings.HasPrefix(name, "agent.") || strings.HasPrefix(name, "server.")) {
			declared = append(declared, name)
		}
		return true
	})
	if got := Points(); !slices.Equal(got, declared) {
		t.Errorf("Points() = %q, declared in this order %q", got, declared)
	}
}
