package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxPixels keeps out pictures that are small as files and huge as screens.
const maxPixels = 1 << 28

// checkPNG reads no more than the header: what a decoder makes of the rest is the
// business of whoever decodes it.
func checkPNG(r io.Reader) error {
	c, err := png.DecodeConfig(bufio.NewReader(r))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotPNG, err)
	}
	if int64(c.Width)*int64(c.Height) > maxPixels {
		return fmt.Errorf("%w: %d by %d pixels", ErrTooLarge, c.Width, c.Height)
	}
	return nil
}

// disk says of a fault of the disk whether it is a full one; nil stays nil.
func disk(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrFull
	}
	return fmt.Errorf("evidence: %w", err)
}

// makeDir makes dir, durably.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
