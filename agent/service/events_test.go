package service

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestEventsHaveNumbersOfTheirOwnThatWindowsCanShow(t *testing.T) {
	last := uint32(0)
	for _, e := range Events() {
		if e.ID <= last || e.ID > 1000 {
			t.Errorf("event %d after %d", e.ID, last)
		}
		last = e.ID
		if e.Meaning == "" || e.Severity > slog.LevelInfo && e.ToDo == "" && e.ID != 107 {
			t.Errorf("event %d is not explained: %+v", e.ID, e)
		}
		if (e.ID >= 200) != (e.Severity == slog.LevelError) || (e.ID < 100) != (e.Severity == slog.LevelInfo) {
			t.Errorf("event %d has the severity %v", e.ID, e.Severity)
		}
	}
}

// An event whose line nobody writes any more would never be seen.
func TestEveryLineOfAnEventIsWrittenByTheAgentAtItsLevel(t *testing.T) {
	written := logged(t, "..")
	want := map[slog.Level]string{slog.LevelWarn: "Warn", slog.LevelError: "Error"}
	for _, e := range Events() {
		if e.Line != "" && !slices.Contains(written[e.Line], want[e.Severity]) {
			t.Errorf("event %d: the line %q is logged by %v, want %s", e.ID, e.Line, written[e.Line], want[e.Severity])
		}
	}
}

// logged returns the messages that the program's files below a folder log, and by which
// methods.
func logged(t *testing.T, folder string) map[string][]string {
	t.Helper()
	found, passes := map[string][]string{}, map[string]string{}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				message, method := loggedBy(n)
				found[message] = append(found[message], method)
			case *ast.FuncDecl:
				if method := passedTo(n); method != "" {
					passes[n.Name.Name] = method
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, methods := range found {
		for i, m := range methods {
			if method, ok := passes[m]; ok {
				methods[i] = method
			}
		}
	}
	return found
}

// passedTo is the method that a function logs a message with that it is given; empty:
// it does not.
func passedTo(f *ast.FuncDecl) (method string) {
	given := map[string]bool{}
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			given[name.Name] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		to, ok := call.Fun.(*ast.SelectorExpr)
		message, named := call.Args[0].(*ast.Ident)
		if ok && named && given[message.Name] && (to.Sel.Name == "Warn" || to.Sel.Name == "Error") {
			method = to.Sel.Name
		}
		return true
	})
	return method
}

// loggedBy is the first text that a call is given, and the method that logs it: the one
// that is called, or one that is given before it to a function that thins lines out.
func loggedBy(call *ast.CallExpr) (message, method string) {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		method = s.Sel.Name
	}
	for _, arg := range call.Args {
		switch arg := arg.(type) {
		case *ast.SelectorExpr:
			if arg.Sel.Name == "Warn" || arg.Sel.Name == "Error" {
				method = arg.Sel.Name
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(arg.Value); err == nil && arg.Kind == token.STRING {
				return text, method
			}
		}
	}
	return "", method
}

func TestTheManualHasTheTableOfEvents(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "windows.md"))
	if err != nil {
		t.Fatal(err)
	}
	severity := map[slog.Level]string{slog.LevelInfo: "information", slog.LevelWarn: "warning", slog.LevelError: "error"}
	for _, e := range Events() {
		row := fmt.Sprintf("| %d | %s | %s | %s |", e.ID, severity[e.Severity], e.Meaning, e.ToDo)
		row = strings.ReplaceAll(row, "|  |", "| |")
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/windows.md lacks the row\n%s", row)
		}
	}
	for _, c := range ExitCodes() {
		if row := fmt.Sprintf("| %d | %s |\n", c.Code, c.Meaning); !strings.Contains(string(page), row) {
			t.Errorf("docs/windows.md lacks the row\n%s", row)
		}
	}
}

type entry struct {
	ID       uint32
	Severity slog.Level
	Text     string
}

// memory is an event log that remembers.
type memory struct {
	entries []entry
	fault   error
}

func (m *memory) Write(id uint32, severity slog.Level, text string) error {
	m.entries = append(m.entries, entry{id, severity, text})
	return m.fault
}

func TestWarningsAndErrorsBecomeEventsWithTheirDetails(t *testing.T) {
	m := &memory{}
	log := slog.New(NewEventHandler(m)).With("machine", "desk-7")
	log.Info("the stream is open")
	log.Warn("no stream; connecting again", "error", "refused")
	log.WithGroup("g").Warn("something new", "n", 1)
	log.Error("something worse")
	want := []entry{
		{101, slog.LevelWarn, "no stream; connecting again\n\nmachine=desk-7 error=refused\n\nWhat to do: check network, address and certificate if it lasts"},
		{EventWarning, slog.LevelWarn, "something new\n\nmachine=desk-7 g.n=1\n\nWhat to do: see the log file around that time"},
		{EventError, slog.LevelError, "something worse\n\nmachine=desk-7\n\nWhat to do: see the log file around that time"},
	}
	if diff := cmp.Diff(want, m.entries); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestALineThatRepeatsDoesNotFloodTheEventLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		log := slog.New(NewEventHandler(m))
		for range 60 * 4 { // an hour without a server
			log.Warn("no stream; connecting again")
			log.With("another", "logger").Warn("no stream; connecting again")
			time.Sleep(15 * time.Second)
		}
		if len(m.entries) != 6 {
			t.Fatalf("%d entries in an hour", len(m.entries))
		}
		if !strings.Contains(m.entries[1].Text, "repeated since the last entry: 79") {
			t.Errorf("the second entry is %q", m.entries[1].Text)
		}
		log.Warn("another line")
		if len(m.entries) != 7 {
			t.Error("another line made no entry")
		}
	})
}

func TestAnEntryIsNeverTooLongOrUnreadableForWindows(t *testing.T) {
	e := eventByID(EventError)
	text := e.text("it\x00fails", strings.Repeat("é", maxEvent))
	if len(text) > maxEvent || strings.Contains(text, "\x00") || !utf8.ValidString(text) || !strings.HasSuffix(text, e.ToDo) {
		t.Errorf("%d bytes: %.20q … %q", len(text), text, text[len(text)-60:])
	}
}

func TestAnEventLogThatTakesNothingIsAFaultOfTheHandler(t *testing.T) {
	m := &memory{fault: errors.New("full")}
	r := slog.NewRecord(time.Now(), slog.LevelError, "lost", 0)
	if err := NewEventHandler(m).Handle(t.Context(), r); !errors.Is(err, m.fault) {
		t.Errorf("Handle = %v", err)
	}
}
