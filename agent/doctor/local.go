package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/agent/spool"
)

// Local is the machine that this process runs on. It is for one examination.
type Local struct {
	here    // what the system tells
	once    sync.Once
	reached Reached
}

var _ Facts = (*Local)(nil)

// Reach implements ServerFacts. The server is called once.
func (l *Local) Reach(ctx context.Context, s Settings) Reached {
	l.once.Do(func() { l.reached = reach(ctx, s) })
	return l.reached
}

// Idle implements ServerFacts.
func (*Local) Idle(ctx context.Context, s Settings) Idled { return idle(ctx, s) }

// Token implements FileFacts. It reads the file as the agent does, and keeps nothing.
func (*Local) Token(path string) Token {
	_, err := link.TokenFile(path)()
	return Token{Err: err}
}

// State implements FileFacts.
func (l *Local) State(path string) State {
	st := State{}
	folder := nearest(path)
	st.Missing = folder != path
	st.Write = writable(folder)
	st.Free, st.FreeErr = l.freeSpace(folder)
	if st.Missing {
		st.NoMemory = true
		return st
	}
	st.Held, st.LockErr = held(path)
	memory, err := spool.Inspect(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		st.NoMemory = true
	case err != nil:
		st.Spool = err
	default:
		st.Actions, st.Unheard = memory.Len(), len(memory.In(spool.Finished))
	}
	return st
}

// LogFile implements FileFacts. The file itself may be there, and is left as it is.
func (*Local) LogFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writable(nearest(filepath.Dir(path))) // full ones are put aside there
}

// nearest is the folder itself, or, where it is not there yet, the next one above that is.
func nearest(folder string) string {
	for _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && filepath.Dir(folder) != folder; _, err = os.Stat(folder) {
		folder = filepath.Dir(folder)
	}
	return folder
}

// writable tries to make a file in a folder, and removes it.
func writable(folder string) error {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is no folder", folder)
	}
	f, err := os.CreateTemp(folder, "doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// held says whether an agent uses the memory in a folder. Its lock is tried, and given
// back at once; one that is not there has never been taken.
func held(path string) (bool, error) {
	if _, err := os.Stat(filepath.Join(path, "spool.lock")); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	dir, err := spool.Dir(path)
	if err != nil {
		return false, err
	}
	lock, err := dir.Lock()
	if errors.Is(err, spool.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Close()
}
