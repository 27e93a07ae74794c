package wait

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestItWaitsUnlessTheContextEndsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, over := time.Now(), errors.New("over")
		if err := For(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
			t.Errorf("For = %v after %v", err, time.Since(began))
		}
		ctx, end := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { end(over) })
		if err := For(ctx, time.Hour); !errors.Is(err, over) {
			t.Errorf("For = %v, want %v", err, over)
		}
	})
}
