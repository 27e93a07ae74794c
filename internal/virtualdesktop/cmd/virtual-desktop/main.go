// Command virtual-desktop is a desktop without a screen, for tests and
// demonstrations. It outlives whoever drives it and counts what happens to its
// widgets.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-rpa/reprise/internal/virtualdesktop"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/render"
	"github.com/reprise-rpa/reprise/internal/virtualdesktop/serve"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	asked := ctx.Err() != nil
	stop()
	if err != nil && !asked {
		fmt.Fprintln(os.Stderr, "virtual-desktop:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var name, input, control string
	var doubleClick time.Duration
	root := &cobra.Command{
		Use:   "virtual-desktop",
		Short: "Serve a virtual desktop",
		Long: "Serve a virtual desktop until the process is told to end. When both doors are\n" +
			`open, one line says where: {"input":"127.0.0.1:1","control":"127.0.0.1:2"}.`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			scene, err := sceneOf(name)
			if err != nil {
				return err
			}
			scene.DoubleClickTime = doubleClick
			return run(cmd.Context(), scene, input, control, cmd.OutOrStdout())
		},
	}
	root.PersistentFlags().StringVar(&name, "scene", "linux_db", "which scene: "+strings.Join(virtualdesktop.SceneNames(), ", "))
	root.Flags().StringVar(&input, "input", "127.0.0.1:0", "loopback `address` of the input door")
	root.Flags().StringVar(&control, "control", "127.0.0.1:0", "loopback `address` of the control door")
	root.Flags().DurationVar(&doubleClick, "double-click-time", 500*time.Millisecond, "the longest time between two presses that belong together")
	root.AddCommand(&cobra.Command{
		Use:   "anchors DIR",
		Short: "Write the anchor pictures of a scene to a folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			scene, err := sceneOf(name)
			if err != nil {
				return err
			}
			names, err := render.WriteAnchors(scene, args[0])
			for _, n := range names {
				fmt.Fprintln(cmd.OutOrStdout(), n)
			}
			return err
		},
	})
	return root
}

func sceneOf(name string) (virtualdesktop.Scene, error) {
	scene, ok := virtualdesktop.BuiltIn(name)
	if !ok {
		return scene, fmt.Errorf("--scene: there is no scene %q", name)
	}
	return scene, nil
}

func run(ctx context.Context, scene virtualdesktop.Scene, input, control string, out io.Writer) error {
	in, err := listen(ctx, "--input", input)
	if err != nil {
		return err
	}
	ctl, err := listen(ctx, "--control", control)
	if err != nil {
		_ = in.Close()
		return err
	}
	ready := map[string]string{"input": in.Addr().String(), "control": ctl.Addr().String()}
	if err := json.NewEncoder(out).Encode(ready); err != nil {
		return err
	}
	return serve.New(scene, slog.New(slog.NewTextHandler(os.Stderr, nil))).Run(ctx, in, ctl)
}

// listen opens a door. Whoever comes in may drive the desktop, so it is opened
// on loopback alone.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if at, ok := ln.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		_ = ln.Close()
		return nil, fmt.Errorf("%s: %s is not on loopback", flag, address)
	}
	return ln, nil
}
