package person

import (
	"context"
	"fmt"

	"github.com/reprise-rpa/reprise/agent/desktop"
	"github.com/reprise-rpa/reprise/agent/driver"
)

// State implements driver.Eyes.
func (g *Guard) State(ctx context.Context) (desktop.State, error) { return g.driver.State(ctx) }

// Monitors implements driver.Eyes.
func (g *Guard) Monitors(ctx context.Context) ([]driver.Monitor, error) {
	return g.driver.Monitors(ctx)
}

// Elements implements driver.Elements. A driver that has none is driver.ErrUnsupported.
func (g *Guard) Elements(ctx context.Context, windowID string, e driver.Element) ([]driver.Found, error) {
	tree, ok := g.driver.(driver.Elements)
	if !ok {
		return nil, fmt.Errorf("elements: %w", driver.ErrUnsupported)
	}
	return tree.Elements(ctx, windowID, e)
}
