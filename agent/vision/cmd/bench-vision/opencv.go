package main

import (
	"bufio"
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed opencv.py
var script string

// opencv is a Python process that has OpenCV. It is used by one goroutine.
type opencv struct {
	folder  string // of the pictures
	version string
	in      io.WriteCloser
	out     *bufio.Reader
	cmd     *exec.Cmd
}

// startOpenCV starts it; python is the interpreter. It ends with ctx or with
// stop.
func startOpenCV(ctx context.Context, python, folder string) (*opencv, error) {
	cmd := exec.CommandContext(ctx, python, "-c", script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("opencv: %w", err)
	}
	return &opencv{folder: folder, in: in, out: bufio.NewReader(out), cmd: cmd}, nil
}

func (o *opencv) stop() error { return errors.Join(o.in.Close(), o.cmd.Wait()) }

func (o *opencv) ask(line string) (string, error) {
	if _, err := fmt.Fprintln(o.in, line); err != nil {
		return "", fmt.Errorf("opencv: %w", err)
	}
	answer, err := o.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("opencv: it ended: %w", err)
	}
	return strings.TrimSpace(answer), nil
}

// load hands over a screen and an anchor.
func (o *opencv) load(screen, anchor *image.RGBA) (err error) {
	paths := []string{filepath.Join(o.folder, "screen.ppm"), filepath.Join(o.folder, "anchor.ppm")}
	for i, img := range []*image.RGBA{screen, anchor} {
		if err := os.WriteFile(paths[i], ppm(img), 0o600); err != nil {
			return err
		}
	}
	o.version, err = o.ask("load " + strings.Join(paths, " "))
	return err
}

// ppm is a picture in the simplest format that OpenCV reads.
func ppm(img *image.RGBA) []byte {
	size := img.Rect.Size()
	out := fmt.Appendf(nil, "P6 %d %d 255\n", size.X, size.Y)
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			c := img.RGBAAt(x, y)
			out = append(out, c.R, c.G, c.B)
		}
	}
	return out
}

// run measures once.
func (o *opencv) run() (measured, error) {
	answer, err := o.ask("run")
	if err != nil {
		return measured{}, err
	}
	var cpu, wall int64
	var m measured
	if _, err := fmt.Sscan(answer, &cpu, &wall, &m.score, &m.at.X, &m.at.Y); err != nil {
		return measured{}, fmt.Errorf("opencv: %q: %w", answer, err)
	}
	m.cpu, m.wall = time.Duration(cpu), time.Duration(wall)
	return m, nil
}
