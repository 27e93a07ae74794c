//go:build !amd64

package vision

import "testing"

func withEachKernel(t *testing.T, run func(t *testing.T)) { t.Run("plain", run) }
