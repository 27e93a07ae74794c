// docs-check checks the pages that it is given and prints one line each, what is
// wrong with them, and what it did not run. It ends with 1 when a page is wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/reprise-rpa/reprise/internal/docscheck"
)

func main() {
	root := flag.String("root", ".", "the repository")
	bin := flag.String("bin", "bin", "folder with the programs")
	limit := flag.Duration("limit", 10*time.Minute, "longest time that one block may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *root, *bin, *limit, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "docs-check:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

func run(ctx context.Context, root, bin string, limit time.Duration, pages []string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	var skipped []docscheck.Skipped
	wrong := 0
	for _, page := range pages {
		r, err := docscheck.Check(ctx, docscheck.Config{Root: root, Bin: bin, Limit: limit}, page)
		if err != nil {
			return err
		}
		fmt.Println(r.Line())
		for _, f := range r.Faults {
			fmt.Println("  " + f.String())
		}
		wrong += len(r.Faults)
		skipped = append(skipped, r.Skipped...)
	}
	if len(skipped) > 0 {
		fmt.Println("not run:")
	}
	for _, s := range skipped {
		fmt.Printf("  %s:%d: %s\n", s.Page, s.Line, s.Reason)
	}
	if wrong > 0 {
		return fmt.Errorf("%d faults", wrong)
	}
	if len(pages) == 0 {
		return fmt.Errorf("no pages")
	}
	return ctx.Err()
}
