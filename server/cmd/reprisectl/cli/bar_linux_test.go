package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
	"google.golang.org/grpc"
)

// pseudoTerminal opens a terminal of 100 columns; the test reads what a person
// would see.
func pseudoTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}

// screen shows what stands on the lines in the end: a carriage return goes back
// to the line's beginning, and the sequences that erase the line, or its rest, do so.
func screen(output string) []string {
	var all []string
	for row := range strings.SplitSeq(output, "\n") {
		shown := []rune{}
		column := 0
		for text := []rune(row); len(text) > 0; {
			switch {
			case text[0] == '\r':
				column, text = 0, text[1:]
			case strings.HasPrefix(string(text), "\x1b[2K"):
				shown, text = shown[:0], text[4:]
			case strings.HasPrefix(string(text), "\x1b[0K"):
				shown, text = shown[:min(column, len(shown))], text[4:]
			default:
				for len(shown) <= column {
					shown = append(shown, ' ')
				}
				shown[column], text = text[0], text[1:]
				column++
			}
		}
		all = append(all, strings.TrimRight(string(shown), " "))
	}
	return all
}

func TestOnATerminalABarMovesAndThePauseStaysAboveIt(t *testing.T) {
	person, program := pseudoTerminal(t)
	seen := make(chan string, 1)
	go func() {
		var all strings.Builder
		in := bufio.NewReader(person)
		for {
			c, err := in.ReadByte() // fails when the program has closed its side
			if err != nil {
				seen <- all.String()
				return
			}
			all.WriteByte(c)
		}
	}()
	h := &host{fake: &fake{watch: story()}}
	h.start()
	defer h.kill()
	exit := Main(t.Context(), Env{
		Args: []string{"watch", "r-1"}, Stdout: program, Stderr: program, Dial: []grpc.DialOption{grpc.WithContextDialer(h.dial)},
		Terminal: func() (int, int, bool) {
			columns, rows, err := term.GetSize(int(program.Fd()))
			return columns, rows, err == nil
		},
	})
	if exit != exitOK {
		t.Errorf("exit code %d", exit)
	}
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	output := <-seen
	for _, want := range []string{"(0/3)", "(1/3)", "(3/3)", "open", "do the step", "paused"} {
		if !strings.Contains(output, want) {
			t.Errorf("the bar never shows %q in %q", want, output)
		}
	}
	rows := screen(strings.ReplaceAll(output, "\r\n", "\n"))
	golden(t, "bar.golden", strings.Join(rows, "\n"))
	for _, row := range rows {
		if len([]rune(row)) > 100 && !strings.Contains(row, "reprisectl") {
			t.Errorf("wider than the terminal: %q", row)
		}
	}
}
