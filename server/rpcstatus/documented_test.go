package rpcstatus

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/interceptors/auth"
	"github.com/reprise-rpa/reprise/interceptors/validation"
)

// The rooms whose sentinels callers can meet.
var rooms = []string{"replay", "dispatch", "registry", "session"}

// Every sentinel of a room that a caller can meet has its line in the table, or
// says itself how it leaves.
func TestEverySentinelHasItsPlaceInTheTable(t *testing.T) {
	listed := map[string]bool{}
	ast.Inspect(file(t, "table.go"), func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if room, ok := sel.X.(*ast.Ident); ok && strings.HasPrefix(sel.Sel.Name, "Err") {
				listed[room.Name+"."+sel.Sel.Name] = true
			}
		}
		return true
	})
	found := 0
	for _, room := range rooms {
		for name, made := range sentinels(t, room) {
			found++
			if !listed[name] && made != "rpcstatus.New" {
				t.Errorf("%s leaves as an internal error: it is not in the table", name)
			}
		}
	}
	if found < len(table) {
		t.Errorf("%d sentinels were found for %d lines of the table", found, len(table))
	}
}

// sentinels returns a room's error variables, and what each was made by.
func sentinels(t *testing.T, room string) map[string]string {
	t.Helper()
	made := map[string]string{}
	for _, f := range files(t, filepath.Join("..", room)) {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if strings.HasPrefix(name.Name, "Err") && i < len(v.Values) {
						made[room+"."+name.Name] = callee(v.Values[i])
					}
				}
			}
		}
	}
	return made
}

var documented = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| `([A-Z_]+)` \\|")

// docs/errors.md has every reason that a caller can meet, with its code, and none
// that no longer exists.
func TestTheDocumentHasEveryReason(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range documented.FindAllStringSubmatch(string(page), -1) {
		got[m[1]] = m[2]
	}
	want := map[string]string{
		"SAFETY_CHECKS": "FAILED_PRECONDITION", validation.InvalidField: "INVALID_ARGUMENT", validation.InvalidMessage: "INVALID_ARGUMENT",
	}
	for code, reasons := range map[string][]string{
		"UNAUTHENTICATED": {auth.TokenNeeded, auth.TokenInvalid}, "UNAVAILABLE": {auth.TokensUnreadable},
		"PERMISSION_DENIED": {auth.RoleForbidden, auth.MachineForbidden},
	} {
		for _, reason := range reasons {
			want[reason] = code
		}
	}
	for _, e := range table {
		want[e.reason] = screaming(e.code.String())
	}
	for reason, code := range codedReasons(t) {
		want[reason] = code
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/errors.md (-code +document):\n%s", diff)
	}
}

func TestAllReasonsAreOfOneDomain(t *testing.T) {
	if validation.Domain != Domain || auth.Domain != Domain {
		t.Errorf("%s, %s and %s", Domain, validation.Domain, auth.Domain)
	}
}

// codedReasons are the reasons that rooms give to errors of their own.
func codedReasons(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		for _, f := range files(t, path) {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if callee(n) == "rpcstatus.New" {
						found[text(n.Args[1])] = code(n.Args[0])
					}
				case *ast.CompositeLit:
					if sel, ok := n.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Coded" {
						fields := map[string]ast.Expr{}
						for _, e := range n.Elts {
							kv := e.(*ast.KeyValueExpr)
							fields[kv.Key.(*ast.Ident).Name] = kv.Value
						}
						found[text(fields["Reason"])] = code(fields["Code"])
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func callee(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				return x.Name + "." + sel.Sel.Name
			}
		}
	}
	return ""
}

func text(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok {
		return strings.Trim(lit.Value, `"`)
	}
	return ""
}

func code(e ast.Expr) string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		return screaming(sel.Sel.Name)
	}
	return ""
}

var inner = regexp.MustCompile(`([a-z])([A-Z])`)

// screaming is a code's name as the wire has it.
func screaming(name string) string { return strings.ToUpper(inner.ReplaceAllString(name, "${1}_$2")) }

func files(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			all = append(all, file(t, name))
		}
	}
	return all
}

func file(t *testing.T, name string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
