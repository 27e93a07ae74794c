package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/cmd/reprisectl/album"
)

// captureTimeout is how long a picture is waited for unless --timeout says
// something else: longer than the server waits, so that it is the one to say why
// there is none.
const captureTimeout = 40 * time.Second

func (a *app) screenshotCommand() *cobra.Command {
	var to string
	var force bool
	cmd := &cobra.Command{
		Use:   "screenshot MACHINE",
		Short: "Take a picture of a machine's screen",
		Long: "screenshot lets the agent take a picture of the screen as it is, with its masks, and writes it as PNG. No input is\n" +
			"sent, and what runs goes on.",
		Example: "  reprisectl screenshot desk-1\n  reprisectl screenshot desk-1 --to now.png --force\n" +
			"  reprisectl screenshot desk-1 --to - | display",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("timeout") {
				a.timeout = captureTimeout
			}
			path := or(to, fmt.Sprintf("%s-%s.png", args[0], time.Now().In(a.env.Location).Format("20060102-150405")))
			if err := a.mayWrite(path, force); err != nil {
				return err
			}
			return a.with(func(c *client) error { return a.screenshot(cmd.Context(), c, args[0], path, force) })
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.machineNames(cmd, args, typed)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the `file`, or - for stdout; by default MACHINE-TIME.png")
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	_ = cmd.MarkFlagFilename("to", "png") // only an unknown flag is an error
	return cmd
}

// mayWrite says before anything is asked for whether the picture has a place.
func (a *app) mayWrite(path string, force bool) error {
	if path == "-" {
		if _, _, terminal := a.env.Terminal(); terminal {
			return usage(errors.New("--to -: a terminal shows no PNG; name a file, or pipe it on"))
		}
		return nil
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return taken(path)
	}
	return nil
}

func taken(path string) error {
	return usage(fmt.Errorf("%s is there already: name another file with --to, or replace it with --force", path))
}

func (a *app) screenshot(ctx context.Context, c *client, machine, path string, force bool) error {
	var ref *reprisev1.EvidenceRef
	err := a.call(ctx, "screenshot of "+machine, func(ctx context.Context) error {
		resp, err := c.machines.CaptureScreen(ctx, &reprisev1.CaptureScreenRequest{MachineId: machine})
		ref = resp.GetPicture()
		return err
	})
	if err != nil {
		return err
	}
	if ref.GetSha256() == "" {
		return fmt.Errorf("screenshot of %s: there is no picture: %s", machine, or(firstLine(ref.GetNote()), "the agent did not say why"))
	}
	var png bytes.Buffer
	err = a.insist(ctx, c, "download "+ref.GetSha256(), func(ctx context.Context) error {
		png.Reset()
		return c.download(ctx, ref.GetSha256(), &png)
	})
	if err != nil {
		return err
	}
	size := png.Len()
	if path == "-" {
		if _, err := a.env.Stdout.Write(png.Bytes()); err != nil {
			return err
		}
		return a.showPicture(a.env.Stderr, path, size, ref)
	}
	err = album.Write(path, force, func(w io.Writer) error {
		_, err := w.Write(png.Bytes())
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return taken(path)
	}
	if err != nil {
		return err
	}
	return a.showPicture(a.env.Stdout, path, size, ref)
}

// showPicture says what was written; where stdout holds the picture it says so on
// stderr.
func (a *app) showPicture(w io.Writer, path string, size int, ref *reprisev1.EvidenceRef) error {
	if a.output == lines {
		return emitTo(w, line{Type: "screenshot", File: path, Pictures: []picture{{path, ref.GetSha256(), size}}, Picture: object(ref)})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d bytes", path, size)
	if ref.GetTakenAt() != nil {
		fmt.Fprintf(&b, ", taken at %s by the machine's clock", a.when(ref.GetTakenAt()))
	}
	if n := ref.GetMasks(); n > 0 {
		fmt.Fprintf(&b, ", %d masked", n)
	}
	if note := firstLine(ref.GetNote()); note != "" {
		fmt.Fprintf(&b, ": %s", note)
	}
	_, err := fmt.Fprintln(printer{w}, b.String())
	return err
}
