package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/reprise-rpa/reprise/agent/link"
	"github.com/reprise-rpa/reprise/agent/spool"
)

func lookToken(_ context.Context, f Facts, s Settings) answer {
	if s.TokenFile == "" {
		if host, _, err := net.SplitHostPort(s.Server); err == nil && link.IsLoopback(host) {
			return ok("none is shown; a server on this machine may want none")
		}
		return warning("`reprised token add-agent` on the server makes one; put it into a file and name it with --token-file", "none is shown")
	}
	t := f.Token(s.TokenFile)
	if t.Err != nil {
		return fault("put the machine's token into that file, readable for the agent's user", "%v", t.Err)
	}
	return closed(f, s.TokenFile, "it holds one token")
}

func lookSecrets(_ context.Context, f Facts, s Settings) answer {
	return closed(f, s.SecretsDir, "the folder is there")
}

// closed judges who may read what nobody else should.
func closed(f Facts, path, well string) answer {
	others, err := f.Others(path)
	switch {
	case err != nil:
		return unknown("", "%s; who may read %s: %v", well, path, err)
	case len(others) > 0:
		return fault(fmt.Sprintf("let only the agent's user, the system and administrators read it: `chmod -R go= %[1]s`, on Windows `icacls %[1]s /inheritance:r /grant:r *S-1-5-18:F *S-1-5-32-544:F` and the agent's user; then change what was in it", path),
			"%s may be read by %s", path, strings.Join(others, ", "))
	}
	return ok("%s, and nobody else may read %s", well, path)
}

// Free space in bytes: below least the agent soon executes nothing, below little its
// pictures get lost.
const (
	least  = 64 << 20
	little = 1 << 30
)

func lookStateDir(_ context.Context, f Facts, s Settings) answer {
	if s.StateDir == "" {
		return fault("name a folder with --state-dir that outlives the process", "none is set")
	}
	st := f.State(s.StateDir)
	free := fmt.Sprintf("%d MiB are free", st.Free>>20)
	if st.FreeErr != nil {
		free = fmt.Sprintf("free space: %v", st.FreeErr)
	}
	switch {
	case st.Write != nil:
		return fault("let the agent's user write there, or name another folder with --state-dir; the service runs as LocalSystem",
			"nothing can be written to %s: %v", s.StateDir, st.Write)
	case st.FreeErr != nil:
		return unknown("", "%s can be written to; %s", s.StateDir, free)
	case st.Free < least:
		return fault("make room: an agent that cannot write its memory executes nothing", "%s: %s", s.StateDir, free)
	case st.Free < little:
		return warning("make room: pictures that wait for their upload take up to max-waiting-pictures-bytes", "%s: %s", s.StateDir, free)
	case st.Missing:
		return ok("%s is not there yet, the agent makes it; %s", s.StateDir, free)
	}
	return ok("%s can be written to; %s", s.StateDir, free)
}

func lookSpool(_ context.Context, f Facts, s Settings) answer {
	if s.StateDir == "" {
		return unknown("name the agent's --state-dir", "no state directory is set")
	}
	st := f.State(s.StateDir)
	memory := fmt.Sprintf("it remembers %d actions, and %d results wait for the server", st.Actions, st.Unheard)
	switch {
	case st.Spool != nil && errors.Is(st.Spool, spool.ErrCorrupt):
		return fault(fmt.Sprintf("move the file spool in %s away and keep it: the server then asks a person about what was in flight", s.StateDir), "%v", st.Spool)
	case st.Spool != nil:
		return unknown("run doctor as the agent's user", "%v", st.Spool)
	case st.LockErr != nil:
		return unknown("run doctor as the agent's user", "whether an agent uses it: %v; %s", st.LockErr, memory)
	case st.Held:
		return ok("an agent is running with it; a second one would not start; %s", memory)
	case st.NoMemory:
		return ok("there is none yet; the server learns of a new memory")
	}
	return ok("no agent is running with it; %s", memory)
}

func lookLogFile(_ context.Context, f Facts, s Settings) answer {
	if err := f.LogFile(s.LogFile); err != nil {
		return fault("let the agent's user write there, or name another file with --log-file; the service runs as LocalSystem",
			"nothing can be written to %s: %v", s.LogFile, err)
	}
	return ok("%s can be written to", s.LogFile)
}

// day is 24 hours.
const day = 24 * time.Hour
