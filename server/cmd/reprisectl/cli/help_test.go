package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatIsWrongBeforeTheFlagsAreReadIsToldInTheChosenFormat(t *testing.T) {
	for args, asJSON := range map[string]bool{
		"bogus -o json": true, "-o json bogus": true, "bogus --output=json": true, "bogus -ojson": true, "bogus -m desk-1 -o json": true,
		"get r-1 --nonsense -o json": true, "get r-1 --nonsense --output json": true, "list --timeout soon -o json": true, "get -o json": true,
		"run w.yaml -o json": true, "resume r-1 --skip --position 0,0 -o json": true,
		"bogus": false, "bogus -o plain": false, "bogus -o xml": false, "bogus -- -o json": false, "bogus -o json -o plain": false,
	} {
		got := ctl(t, &fake{}, strings.Fields(args)...)
		wantExit(t, got, exitUsage)
		var object struct {
			Type, Message string
			ExitCode      int
		}
		err := json.Unmarshal([]byte(got.stderr), &object)
		if !asJSON {
			if err == nil || !strings.HasPrefix(got.stderr, "reprisectl: ") {
				t.Errorf("%s: stderr: %s", args, got.stderr)
			}
			continue
		}
		if err != nil || object.Type != "error" || object.Message == "" || object.ExitCode != exitUsage || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: %v, stderr: %s", args, err, got.stderr)
		}
	}
}

func TestHelpShowsFlagsThatAreGivenOrNotByTheirName(t *testing.T) {
	for command, flags := range map[string][]string{
		"": {"--help"}, "run": {"--help", "--unattended", "--fail-on-pause", "--wait"}, "resume": {"--help", "--skip"}, "validate": {"--server-check"}, "journal dump": {"--help"},
	} {
		got := ctl(t, &fake{}, append(strings.Fields(command), "--help")...)
		wantExit(t, got, exitOK)
		if strings.Contains(got.stdout, "=true") {
			t.Errorf("%s: %s", command, got.stdout)
		}
		for _, flag := range flags {
			if !strings.Contains(got.stdout, " "+flag+"  ") {
				t.Errorf("%s: %s is missing: %s", command, flag, got.stdout)
			}
		}
	}
}
