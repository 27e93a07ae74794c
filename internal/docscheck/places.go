package docscheck

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-rpa/reprise/internal/testkit"
)

// places are a page's addresses, folders and users, and the private ones that stand
// for them while it is checked.
type places struct {
	public, private *strings.Replacer
	environment     []string
	ports           []func() error // gives each back
}

// leave gives the ports back.
func (p places) leave() error {
	var errs []error
	for _, release := range p.ports {
		errs = append(errs, release())
	}
	return errors.Join(errs...)
}

// folders are the folders of a host that pages write, each below the root that the
// page has to itself. Those that a page has to make are not there before it does.
var folders = []struct {
	path  string
	empty bool // it is there and empty, as on any host
}{
	{"/tmp/reprise", true}, {"/root", true}, {"/usr/local/bin", true}, {"/etc/systemd/system", true}, {"/etc/reprise", false}, {"/var/lib/reprise", false},
}

// accounts are the users that pages make for the programs.
var accounts = []string{"reprise", "clerk"}

// choose finds private places below a scratch folder.
func choose(scratch, bin string) (at places, err error) {
	var out, back []string
	defer func() {
		if err != nil {
			err = errors.Join(err, at.leave())
		}
	}()
	address, err := at.reserve("7443", "7500", "9443")
	if err != nil {
		return at, err
	}
	for port, private := range address {
		public := "127.0.0.1:" + port
		out, back = append(out, public, private), append(back, private, public)
	}
	// What is offered to a network, and asked for over it, stays on this host.
	out = append(out, "0.0.0.0:7443", address["7443"], "reprise.example.org:7443", address["7443"])
	host := filepath.Join(scratch, "host")
	for _, folder := range folders {
		private := filepath.Join(host, folder.path)
		made := private
		if !folder.empty {
			made = filepath.Dir(private)
		}
		// Programs run as users of their own; what they may see is up to the page.
		if err := os.MkdirAll(made, 0o755); err != nil { //nolint:gosec // as on any host
			return at, fmt.Errorf("docscheck: %w", err)
		}
		out, back = append(out, folder.path+"/", private+"/", folder.path, private), append(back, private, folder.path)
	}
	if err := os.Chmod(scratch, 0o711); err != nil { //nolint:gosec // the users below must get through
		return at, fmt.Errorf("docscheck: %w", err)
	}
	users, err := stand()
	if err != nil {
		return at, err
	}
	at.environment = os.Environ()
	for name, value := range map[string]string{
		"PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"), "REPRISE_SERVER": address["7443"],
		"RPA_LISTEN": address["7443"], "RPA_SERVER": address["7443"], "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8",
	} {
		at.environment = append(at.environment, name+"="+value)
	}
	at.public, at.private = strings.NewReplacer(back...), strings.NewReplacer(slices.Concat(users, out)...)
	return at, nil
}

// reserve returns an address for each port. Until leave it is the page's alone.
func (p *places) reserve(ports ...string) (map[string]string, error) {
	address := map[string]string{}
	for _, port := range ports {
		private, release, err := testkit.ReservePort()
		if err != nil {
			return nil, fmt.Errorf("docscheck: %w", err)
		}
		p.ports = append(p.ports, release)
		address[port] = private
	}
	return address, nil
}

// stand says who stands for the accounts. For root that is nobody, who may do as
// little as they; anyone else does all of it alone, which still finds what is done
// in a wrong order.
func stand() ([]string, error) {
	name, as := "nobody", "runuser -u nobody -- "
	if os.Getuid() != 0 {
		name, as = fmt.Sprint(os.Getuid()), "env -- "
	}
	one, err := user.Lookup(name)
	if err != nil {
		one, err = user.LookupId(name)
	}
	if err != nil {
		return nil, fmt.Errorf("docscheck: who stands for the users of the pages: %w", err)
	}
	var pairs []string
	for _, account := range accounts {
		pairs = append(pairs, "runuser -u "+account+" -- ", as,
			"-o "+account+" -g "+account, "-o "+one.Uid+" -g "+one.Gid, "chown "+account+":"+account, "chown "+one.Uid+":"+one.Gid)
	}
	return pairs, nil
}
