package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
)

// The largest picture that is taken, in bytes and in pixels: an anchor is a
// part of a screen.
const (
	maxPictureBytes  = 16 << 20
	maxPicturePixels = 64 << 20
)

// Picture is an anchor's picture, as the server stores it.
type Picture struct {
	Path   string // relative to the workflow file, with slashes
	SHA256 string // lower-case hexadecimal
	Data   []byte // the PNG
}

// placed is an anchor and its path in the workflow.
type placed struct {
	path  string
	image *reprisev1.AnchorImage
}

func anchors(path string, a *reprisev1.Action) []placed {
	var all []placed
	if image := a.GetTarget().GetAnchorImage(); image != nil {
		all = append(all, placed{path + ".target.anchor_image", image})
	}
	if image := a.GetDrag().GetTo().GetAnchorImage(); image != nil {
		all = append(all, placed{path + ".drag.to.anchor_image", image})
	}
	return all
}

// pictures reads the anchors' pictures below dir, puts digests in the place of
// paths and adds faults for what is wrong with them. An error says that dir
// cannot be opened.
func (d *decoder) pictures(dir string) ([]Picture, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("workflow: %w", err)
	}
	defer func() { _ = root.Close() }() // only read
	byPath := map[string]Picture{}
	stored := map[string]bool{}
	var all []Picture
	for i, a := range d.workflow.GetActions() {
		for _, anchor := range anchors(fmt.Sprintf("actions[%d]", i), a) {
			name := anchor.image.GetPath()
			if name == "" {
				continue
			}
			p, known := byPath[name]
			if !known {
				if p, err = readPicture(root, name); err != nil {
					d.fault(d.position(anchor.path+".path"), "%v", err)
					continue
				}
				byPath[name] = p
			}
			if want := anchor.image.GetSha256(); want != "" && want != p.SHA256 {
				d.fault(d.position(anchor.path+".sha256"), "%s has another digest: %s", name, p.SHA256)
				continue
			}
			anchor.image.Path, anchor.image.Sha256 = "", p.SHA256
			if !stored[p.SHA256] {
				stored[p.SHA256] = true
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// readPicture reads one PNG below root. Neither the path nor a link on its way
// leads out of root.
func readPicture(root *os.Root, name string) (Picture, error) {
	local := filepath.FromSlash(name)
	switch {
	case strings.Contains(name, `\`):
		return Picture{}, fmt.Errorf("%s: folders are separated by a slash", name)
	case !filepath.IsLocal(local):
		return Picture{}, fmt.Errorf("%s: a picture lies in the workflow file's folder or below it", name)
	}
	f, err := root.Open(local)
	if err != nil {
		return Picture{}, fmt.Errorf("%s: %w", name, reason(err))
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxPictureBytes+1))
	if err != nil {
		return Picture{}, fmt.Errorf("%s: %w", name, reason(err))
	}
	if err := checkPNG(data); err != nil {
		return Picture{}, fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.Sum256(data)
	return Picture{Path: name, SHA256: hex.EncodeToString(sum[:]), Data: data}, nil
}

func checkPNG(data []byte) error {
	if len(data) > maxPictureBytes {
		return fmt.Errorf("more than %d bytes", maxPictureBytes)
	}
	size, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("not a PNG: %w", err)
	}
	if size.Width > maxPicturePixels/size.Height {
		return fmt.Errorf("%d×%d pixels are too many for an anchor", size.Width, size.Height)
	}
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		return fmt.Errorf("not a whole PNG: %w", err)
	}
	return nil
}

// reason drops the operation and the path, which the fault names itself.
func reason(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}
