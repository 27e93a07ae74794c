// Demo runs the product's main job on this machine; `make demo` calls it. It exits with
// 3 when an action was lost, doubled or out of order, with 1 when the run did not get
// that far.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/reprise-rpa/reprise/internal/demo"
	"github.com/reprise-rpa/reprise/internal/stage"
)

func main() {
	desktop := flag.String("desktop", "virtual", "virtual, x11 or windows")
	bin := flag.String("bin", "bin/demo", "folder with the programs")
	keep := flag.String("keep", ".demo", "folder for what the run leaves")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *desktop, *bin, *keep)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		if errors.Is(err, demo.ErrProof) {
			os.Exit(3)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, desktop, bin, keep string) error {
	dir, err := demo.Folder(keep, desktop)
	if err != nil {
		return err
	}
	c := demo.Config{Config: stage.Config{Bin: bin, Dir: dir, Out: os.Stdout}}
	switch desktop {
	case "virtual":
		c.Workflow = "examples/workflows/linux_db.yaml"
		return demo.Virtual(ctx, c)
	case "x11":
		c.Workflow = "examples/workflows/x11_terminal.yaml"
		return demo.X11(ctx, c)
	case "windows":
		c.Workflow = "examples/workflows/windows_notepad.yaml"
		return demo.Windows(ctx, c)
	}
	return fmt.Errorf("unknown desktop %q: virtual, x11 or windows", desktop)
}
