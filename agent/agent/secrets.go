package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// SecretsDir is a folder with one secret a file, under the file's name. A last
// line break is not part of the secret.
type SecretsDir string

var secretName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`)

// Secret returns the secret of that name. Its errors tell nothing of the
// folder, since they travel to the server.
func (d SecretsDir) Secret(_ context.Context, name string) (string, error) {
	if !secretName.MatchString(name) {
		return "", errors.New("letters, digits, dots, dashes and underscores name a secret")
	}
	data, err := fs.ReadFile(os.DirFS(string(d)), name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("this agent has no such secret")
	case err != nil:
		return "", errors.New("it can't be read")
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if text == "" {
		return "", errors.New("it is empty")
	}
	return text, nil
}
