//go:build !windows

package windesktop

import (
	"errors"
	"fmt"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// New checks the configuration, all faults at once. On this system it then returns
// driver.ErrUnsupported: there is no Windows desktop to drive.
func New(config Config) (*Driver, error) {
	_, err := config.withDefaults()
	return nil, fmt.Errorf("windesktop: %w", errors.Join(err, driver.ErrUnsupported))
}
