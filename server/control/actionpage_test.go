package control

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-rpa/reprise/server/replay"
)

func TestATokenOfAPageIsReadBackByItsOwnReplayAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		place := replay.Place{Step: rapid.IntRange(0, replay.MaxSteps).Draw(t, "step"), Decision: rapid.IntRange(1, 1000).Draw(t, "decision")}
		token := actionToken("r-1", place)
		if got, err := parseActionToken("r-1", token); err != nil || got != place {
			t.Fatalf("%v is read back as %v, %v", place, got, err)
		}
		if _, err := parseActionToken("r-2", token); err == nil {
			t.Fatal("another replay takes the token")
		}
	})
	if token := actionToken("r-1", replay.Place{}); token != "" {
		t.Errorf("the last page has the token %q", token)
	}
}
