package winapi

import (
	"regexp"
	"testing"
)

func TestB11_APipeIsForTheServiceAndOneUserAlone(t *testing.T) {
	for _, c := range []struct{ name, server, client, want string }{
		{
			"a service and its user", "S-1-5-18", "S-1-5-21-1-2-3-1001",
			"O:S-1-5-18D:P(D;;FA;;;NU)(A;;FA;;;SY)(A;;FA;;;S-1-5-18)(A;;0x12019b;;;S-1-5-21-1-2-3-1001)",
		},
		{
			"one user with itself", "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1001",
			"O:S-1-5-21-1-2-3-1001D:P(D;;FA;;;NU)(A;;FA;;;SY)(A;;FA;;;S-1-5-21-1-2-3-1001)",
		},
	} {
		got := pipeSecurity(c.server, c.client)
		if got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
		// Everyone, authenticated, interactive and built-in users, or guests.
		if regexp.MustCompile(`\(A;[^)]*;(WD|AU|IU|BU|BG|AN)\)`).MatchString(got) {
			t.Errorf("%s: others may open it: %s", c.name, got)
		}
	}
}

func TestB11_AClientOfAPipeMayNotAnswerInTheServicesPlace(t *testing.T) {
	const genericWriteWithout = fileGenericWrite &^ fileCreateInstance
	if pipeClientRights&fileCreateInstance != 0 || pipeClientRights&genericWriteWithout != genericWriteWithout || pipeClientRights&fileGenericRead != fileGenericRead {
		t.Errorf("rights %#x", pipeClientRights)
	}
}
