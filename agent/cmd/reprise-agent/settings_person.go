package main

import (
	"errors"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/person"
	"github.com/reprise-rpa/reprise/internal/setting"
)

// languageOfUser leaves the language to Windows.
const languageOfUser = "user"

// declarePerson is what concerns the person at the machine.
func declarePerson(set *setting.Set, s *settings) {
	set.Add(
		setting.Setting{Name: "user", Env: "RPA_USER", Value: setting.Text(&s.User, ""),
			Help: `Whose session is driven, for driver session: a user, DOMAIN\user or .\user; empty: that of whoever is logged on.`},
		setting.Setting{Name: "stop-key", Env: "RPA_STOP_KEY", Value: setting.Parsed(&s.StopKey, person.DefaultStopKey, "keys", stopKey, asItIs),
			Help: "Keys with which the person at the machine stops the agent, for drivers windows and session, such as ctrl+alt+backspace; " + person.NoStopKey + ": there are none."},
		setting.Setting{Name: "own-input", Env: "RPA_OWN_INPUT", Value: setting.Bool(&s.OwnInput, true),
			Help: "Whether the replay pauses when the person at the machine uses mouse or keyboard during an action, for drivers windows and session."},
		setting.Setting{Name: "language", Env: "RPA_LANGUAGE", Value: setting.Enum(&s.Language, languageOfUser, languageOfUser, person.English, person.French),
			Help: "Language in which the person at the machine is told of pauses; user: the one of Windows, if it is one of them."},
		setting.Setting{Name: "announce", Env: "RPA_ANNOUNCE_S", Value: setting.Duration(&s.Announce, 0, 0, 5*time.Second),
			Help: "How long a place is outlined before a gesture goes there, for drivers windows and session, such as 100ms; 0: it is not."},
	)
}

// stopKey checks the keys that stop the agent.
func stopKey(keys string) (string, error) {
	if err := (person.Settings{StopKey: keys}).Check(); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "setting StopKey: ")) // its name here is told with it
	}
	return keys, nil
}

func asItIs(text string) string { return text }
