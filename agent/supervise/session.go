package supervise

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ConnectState is how a session stands to its screen: WTS_CONNECTSTATE_CLASS of
// wtsapi32.h.
type ConnectState uint32

// The states that a user's desktop can be in. The others belong to sessions that
// listen, begin or end.
const (
	Active       ConnectState = 0 // a user is logged on and a screen shows it
	Connected    ConnectState = 1 // a screen shows it
	ConnectQuery ConnectState = 2 // it is being connected to a screen
	Shadow       ConnectState = 3 // it looks at another session
	Disconnected ConnectState = 4 // no screen shows it
)

// Session is one session of the machine.
type Session struct {
	ID           uint32 // 0 is the services' own, which has no desktop for people
	User, Domain string // who is logged on; empty: nobody
	State        ConnectState
	Locked       bool  // known to be locked
	Remote       bool  // its screen is a remote one
	Console      bool  // its screen is the machine's own
	Unseen       error // why nothing but number, state and console is known; nil: all is
}

// Account is who is logged on, as DOMAIN\user.
func (s Session) Account() string {
	if s.Domain == "" {
		return s.User
	}
	return s.Domain + `\` + s.User
}

func (s Session) String() string {
	screen := ""
	switch {
	case s.Remote:
		screen = " (remote)"
	case s.Console:
		screen = " (console)"
	}
	return fmt.Sprintf("session %d%s of %s", s.ID, screen, s.Account())
}

// unseen is why some of the sessions can't be asked; empty: all were.
func unseen(sessions []Session) string {
	var reasons []string
	for _, s := range sessions {
		if s.Unseen != nil {
			reasons = append(reasons, s.Unseen.Error())
		}
	}
	return strings.Join(reasons, ", ")
}

// withKnown are the sessions as they were seen now. What one that can't be asked does not
// tell is as it was before.
func withKnown(now, before []Session) []Session {
	now = slices.Clone(now)
	for i, s := range now {
		at := slices.IndexFunc(before, func(b Session) bool { return b.ID == s.ID })
		if s.Unseen != nil && at >= 0 {
			now[i] = before[at]
			now[i].State, now[i].Console, now[i].Unseen = s.State, s.Console, s.Unseen
		}
	}
	return now
}

// rank says how near a session is to one that takes input: 0 never does.
func (s Session) rank() int {
	if s.ID == 0 || s.User == "" {
		return 0
	}
	switch s.State {
	case Active:
		return 3
	case Connected, ConnectQuery, Shadow:
		return 2
	case Disconnected:
		return 1
	}
	return 0
}

// choose returns the session for the helper, given where it is (0: nowhere). By state:
// active, then connected, then disconnected. Among equals it stays where it is; from
// nowhere it takes an unlocked one first, then the machine's own screen, then the
// lowest number. Locking a screen is no reason to go to another person's desktop.
func choose(sessions []Session, who account, now uint32) (Session, bool) {
	var fit []Session
	for _, s := range sessions {
		if s.rank() > 0 && who.is(s) {
			fit = append(fit, s)
		}
	}
	if len(fit) == 0 {
		return Session{}, false
	}
	return slices.MinFunc(fit, func(a, b Session) int {
		return cmp.Or(
			cmp.Compare(b.rank(), a.rank()),
			first(a.ID == now, b.ID == now),
			first(!a.Locked, !b.Locked),
			first(a.Console, b.Console),
			cmp.Compare(a.ID, b.ID),
		)
	}), true
}

// first orders what is true before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// account is whose session is wanted. The zero value is anybody.
type account struct{ domain, user string }

// parseAccount reads user, DOMAIN\user or .\user; host is the name of this machine.
func parseAccount(text, host string) (account, error) {
	domain, user, qualified := strings.Cut(text, `\`)
	switch {
	case text == "":
		return account{}, nil
	case !qualified && strings.Contains(text, "@"):
		return account{}, fmt.Errorf(`the user %q must be written as DOMAIN\user`, text)
	case !qualified:
		return account{user: text}, nil
	case domain == "" || user == "" || strings.Contains(user, `\`):
		return account{}, fmt.Errorf(`the user %q is not user, DOMAIN\user or .\user`, text)
	case domain == "." && host == "":
		return account{}, errors.New(`this machine has no name: write .\user as user`)
	case domain == ".":
		domain = netBIOS(host)
	}
	return account{domain: domain, user: user}, nil
}

// netBIOS is a machine's name as it stands before the names of its accounts: the first
// label, of at most 15 characters.
func netBIOS(host string) string {
	name, _, _ := strings.Cut(host, ".")
	if runes := []rune(name); len(runes) > 15 {
		name = string(runes[:15])
	}
	return name
}

// is says whether a session is that account's.
func (a account) is(s Session) bool {
	return a.user == "" ||
		strings.EqualFold(a.user, s.User) && (a.domain == "" || strings.EqualFold(a.domain, s.Domain))
}

func (a account) String() string {
	if a.domain == "" {
		return a.user
	}
	return a.domain + `\` + a.user
}
