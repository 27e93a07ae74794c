// Package tokens keeps who may call the server: one operator token, made on first
// start, any number for operators and services by name, and any number for the agent
// of each machine. It is the
// registry of machines as well: a machine exists once an agent was added for it.
//
// Tokens are 256 random bits. Only their SHA-256 is stored: a slow hash protects
// guessable passwords, while nobody guesses 256 bits, and every call pays for the
// hash. What a role may call is decided elsewhere.
//
// The file is JSON, readable by its owner only, and replaced as a whole under a
// lock, so that `reprised token` may change it while the server runs; the server
// sees a change within [CheckInterval].
package tokens

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-rpa/reprise/interceptors/auth"
)

const (
	// File is the name of the store's file in the data folder.
	File = "tokens.json"
	// OperatorFile is the name of the file that the operator token is left in.
	OperatorFile = "operator.token"
	// CheckInterval is how often the file is looked at for changes.
	CheckInterval = time.Second
)

// Errors that callers tell apart.
var (
	ErrBadMachine = errors.New("tokens: a machine id is 1 to 63 letters, digits, dots, dashes or underscores, and begins with a letter or digit")
	ErrBadName    = errors.New("tokens: a name is 1 to 63 letters, digits, spaces, dots, dashes, underscores or @, and begins with a letter or digit")
	ErrNotFound   = errors.New("tokens: no such token")
)

var (
	machineID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$`)
	nameForm  = regexp.MustCompile(`^[\pL\pN][\pL\pM\pN ._@-]{0,62}$`)
)

// Token is what is known of one token; not the token itself.
type Token struct {
	ID        string    `json:"id"` // for people, and to revoke it
	Role      auth.Role `json:"role"`
	Machine   string    `json:"machine,omitempty"` // of an agent's token
	Name      string    `json:"name,omitempty"`    // of an operator's token; empty: the one in OperatorFile
	SHA256    string    `json:"sha256"`            // of the token's text, in hexadecimal
	CreatedAt time.Time `json:"created_at"`
}

// Machine is one registered machine.
type Machine struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
}

// Store is the tokens of one data folder. It is safe for concurrent use, also by
// several processes.
type Store struct {
	dir string
	log *slog.Logger

	mu      sync.Mutex
	content content
	index   map[[8]byte][]Token // by the first bytes of the digest
	seen    os.FileInfo         // the file that content was read from
	checked time.Time
	failing bool // the last look at the file failed, and the log says so
}

// Open opens the store in dir and makes both when they are missing. It leaves a
// new operator token in [OperatorFile] when there is none; operators may move
// that file away. A nil log discards.
func Open(dir string, log *slog.Logger) (*Store, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	s := &Store{dir: dir, log: log}
	err := s.change(func(c *content) error {
		if slices.ContainsFunc(c.Tokens, unnamed) {
			return errUnchanged
		}
		return s.newOperator(c)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// RotateOperator makes a new operator token, leaves it in [OperatorFile] and
// revokes all earlier ones that have no name.
func (s *Store) RotateOperator() error {
	return s.change(func(c *content) error {
		c.Tokens = slices.DeleteFunc(c.Tokens, unnamed)
		return s.newOperator(c)
	})
}

func unnamed(t Token) bool { return t.Role == auth.RoleOperator && t.Name == "" }

// AddOperator returns a token for a person or a service, which is not stored and
// cannot be shown again. What its holder does has the name beside it: who paused,
// who resumed, who cancelled. Earlier tokens of the name stay valid.
func (s *Store) AddOperator(name string) (secret string, err error) {
	if !nameForm.MatchString(name) || strings.TrimSpace(name) != name {
		return "", fmt.Errorf("%w: %.100q", ErrBadName, name)
	}
	err = s.change(func(c *content) error {
		secret = c.add("rpo_", Token{Role: auth.RoleOperator, Name: name})
		return nil
	})
	return secret, err
}

func (s *Store) newOperator(c *content) error {
	secret := c.add("rpo_", Token{Role: auth.RoleOperator})
	// The token's own file first: a crash in between leaves a file that opens
	// nothing and is replaced at the next start, not a token that nobody has.
	return writeFile(filepath.Join(s.dir, OperatorFile), []byte(secret+"\n"))
}

// AddAgent registers machine and returns a token for its agent, which is not
// stored and cannot be shown again. Earlier tokens of the machine stay valid, so
// that one can be replaced without a gap; revoke them when the new one is in use.
func (s *Store) AddAgent(machine string) (secret string, err error) {
	if !machineID.MatchString(machine) {
		return "", fmt.Errorf("%w: %q", ErrBadMachine, machine)
	}
	err = s.change(func(c *content) error {
		if !c.has(machine) {
			c.Machines = append(c.Machines, Machine{ID: machine, CreatedAt: now()})
		}
		secret = c.add("rpa_", Token{Role: auth.RoleAgent, Machine: machine})
		return nil
	})
	return secret, err
}

// Revoke makes the token with this id invalid; ErrNotFound when there is none.
// Its machine stays registered.
func (s *Store) Revoke(id string) error {
	return s.revoke(func(t Token) bool { return t.ID == id }, id)
}

// RevokeAgent makes all tokens of machine's agent invalid; ErrNotFound when
// there are none. The machine stays registered.
func (s *Store) RevokeAgent(machine string) error {
	return s.revoke(func(t Token) bool { return t.Role == auth.RoleAgent && t.Machine == machine }, machine)
}

func (s *Store) revoke(gone func(Token) bool, name string) error {
	return s.change(func(c *content) error {
		before := len(c.Tokens)
		if c.Tokens = slices.DeleteFunc(c.Tokens, gone); len(c.Tokens) == before {
			return fmt.Errorf("%w: %s", ErrNotFound, name)
		}
		return nil
	})
}

// Tokens lists all tokens, oldest first.
func (s *Store) Tokens() []Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return slices.Clone(s.content.Tokens)
}

// Machines lists all registered machines by id.
func (s *Store) Machines() []Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	all := slices.Clone(s.content.Machines)
	slices.SortFunc(all, func(a, b Machine) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Registered says whether machine exists.
func (s *Store) Registered(machine string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if s.content.has(machine) {
		return true
	}
	s.lookAgain()
	return s.content.has(machine)
}

// Authenticate says who holds a token, or auth.ErrUnknownToken. While the file
// cannot be read what was read last counts, and the log says so.
func (s *Store) Authenticate(secret string) (auth.Identity, error) {
	digest := sha256.Sum256([]byte(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if id, ok := s.find(digest); ok {
		return id, nil
	}
	s.lookAgain()
	if id, ok := s.find(digest); ok {
		return id, nil
	}
	return auth.Identity{}, auth.ErrUnknownToken
}

// find returns who holds the token with a digest. The caller holds mu.
func (s *Store) find(digest [sha256.Size]byte) (auth.Identity, bool) {
	// The index tells by its timing at most which digests begin alike, and a
	// digest opens nothing. The rest is compared in constant time.
	for _, t := range s.index[[8]byte(digest[:8])] {
		if subtle.ConstantTimeCompare([]byte(t.SHA256), []byte(hex.EncodeToString(digest[:]))) == 1 {
			return auth.Identity{Role: t.Role, Machine: t.Machine, Name: cmp.Or(t.Machine, t.Name, t.Role.String())}, true
		}
	}
	return auth.Identity{}, false
}

// content is what the file holds.
type content struct {
	Version  int       `json:"version"`
	Machines []Machine `json:"machines"`
	Tokens   []Token   `json:"tokens"`
}

func (c *content) has(machine string) bool {
	return slices.ContainsFunc(c.Machines, func(m Machine) bool { return m.ID == machine })
}

// add makes a token and returns its text. The prefix tells people and secret
// scanners what they look at.
func (c *content) add(prefix string, t Token) string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails: it ends the process instead
	secret := prefix + base64.RawURLEncoding.EncodeToString(random[:])
	digest := sha256.Sum256([]byte(secret))
	t.ID, t.SHA256, t.CreatedAt = hex.EncodeToString(digest[:6]), hex.EncodeToString(digest[:]), now()
	c.Tokens = append(c.Tokens, t)
	return secret
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
