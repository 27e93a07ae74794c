// Counting-windows opens three windows that count what a person would have done to
// them: a text area "Notes", a button "Tools" and an icon "Trash". It serves what it
// counted, and which keys and buttons Windows takes for down, at a control door like
// the virtual desktop's (see internal/virtualdesktop/wire), so that the same tests
// can look at either desktop. It is a test aid for Windows; on other systems it ends
// at once.
//
// It counts messages, not pixels: a press, a press and release at one place, a double
// click, characters, what ctrl+A and ctrl+V do to a text.
package main

import (
	"fmt"
	"net"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "counting-windows:", err)
		os.Exit(1)
	}
}

// run opens the windows, says where the door is, and serves it to the end.
func run() error {
	l := newLedger()
	desk, err := openWindows(l)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"control\":%q}\n", ln.Addr().String())
	return serve(ln, l, desk)
}
