package person

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-rpa/reprise/agent/driver"
)

// reasons are those that the contract has for a pause.
var reasons = []string{
	"user_request", "system_dialog", "wrong_window", "target_not_found", "orphan_max_resends", "dead_client", "delivery_failed",
	"input_swallowed", "outcome_unknown", "needs_human", "operator", "server_action_failed", "verify_failed", "input_blocked",
	"target_off_screen", "guard_refused", "timeout", "internal", "invalid_action", "interrupted",
}

func TestEveryReasonIsASentenceInBothLanguages(t *testing.T) {
	for name, w := range map[string]*words{English: &english, French: &french} {
		said := map[string]string{}
		for _, reason := range reasons {
			text := w.reasons[reason]
			if !strings.HasSuffix(text, ".") || strings.Contains(text, "_") || said[text] != "" {
				t.Errorf("%s: %s is %q, as is %q", name, reason, text, said[text])
			}
			said[text] = reason
		}
		if len(w.reasons) != len(reasons) {
			t.Errorf("%s: %d reasons, the contract has %d", name, len(w.reasons), len(reasons))
		}
		for s := idle; s <= unconnected; s++ {
			if w.states[s] == "" || len([]rune(w.states[s])) > 127 {
				t.Errorf("%s: state %d is %q", name, s, w.states[s])
			}
		}
	}
}

func TestANoticeIsInTheUsersLanguageAndTheWorkflowsMessageAsItIs(t *testing.T) {
	const german = 0x07
	n := driver.Notice{Reason: "wrong_window", Message: " Please \"log on\" & go on\n", Checks: []string{"the amount"}}
	for _, c := range []struct {
		setting string
		system  uint16
		want    []string
	}{
		{"", langFrench, []string{french.paused, "Ce n’est pas la bonne fenêtre qui est au premier plan.", "Please \"log on\" & go on", "À vérifier :", "• the amount", french.goOnHint}},
		{"", german, []string{english.paused, "The wrong window is in front.", "Please \"log on\" & go on", "Please check:", "• the amount", english.goOnHint}},
		{English, langFrench, []string{english.paused, "The wrong window is in front.", "Please \"log on\" & go on", "Please check:", "• the amount", english.goOnHint}},
	} {
		var got []string
		for _, p := range wordsOf(c.setting, c.system).page(n) {
			got = append(got, p.text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("setting %q, Windows %#x (-want +got):\n%s", c.setting, c.system, diff)
		}
	}
}

func TestANoticeStaysReadableWhateverAWorkflowSays(t *testing.T) {
	n := driver.Notice{Reason: "a reason of next year", Message: strings.Repeat("é", 10_000), Checks: slices.Repeat([]string{"c"}, 20)}
	list := english.page(n)
	if list[1].text != english.other || len([]rune(list[2].text)) != mostRunes+1 {
		t.Errorf("%q, and a message of %d runes", list[1].text, len([]rune(list[2].text)))
	}
	if last := list[len(list)-2].text; last != "… and 12 more" || len(list) != 4+mostChecks+2 {
		t.Errorf("%d paragraphs, the last of the list is %q", len(list), last)
	}
	for _, p := range english.page(driver.Notice{Reason: "operator", Message: " \n"}) {
		if strings.TrimSpace(p.text) == "" {
			t.Error("an empty paragraph")
		}
	}
}

func TestTheIconsOfTheStatesDifferInTheirSignAndAreSeen(t *testing.T) {
	seen := map[string]state{}
	for s := idle; s <= unconnected; s++ {
		img, white := drawIcon(s), 0
		var sign strings.Builder
		for i := 0; i < len(img.Pix); i += 4 {
			is := img.Pix[i] > 0xf0 && img.Pix[i+1] > 0xf0 && img.Pix[i+2] > 0xf0
			if is {
				white++
			}
			sign.WriteString(strconv.FormatBool(is))
		}
		if other, same := seen[sign.String()]; same {
			t.Errorf("states %d and %d have one sign", s, other)
		}
		seen[sign.String()] = s
		if share := float64(white) / (iconSize * iconSize); share < 0.1 || share > 0.4 {
			t.Errorf("the sign of state %d covers %.2f of its icon", s, share)
		}
		plate := shapes[s].plate
		if at := img.NRGBAAt(iconSize/2, 1); at != plate {
			t.Errorf("the plate of state %d is %v, want %v", s, at, plate)
		}
		if corner := img.NRGBAAt(0, 0); corner.A != 0 {
			t.Errorf("the corner of state %d is %v, want it clear", s, corner)
		}
	}
}
