package docscheck

import (
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// places are a page's addresses, folders and users, and the private ones that stand
// for them while it is checked.
type places struct {
	public, private *strings.Replacer
	environment     []string
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
func choose(scratch, bin string) (places, error) {
	var out, back []string
	address := map[string]string{}
	for _, port := range []string{"7443", "7500", "9443"} {
		free, err := freePort()
		if err != nil {
			return places{}, err
		}
		public := "127.0.0.1:" + port
		address[port] = fmt.Sprintf("127.0.0.1:%d", free)
		out, back = append(out, public, address[port]), append(back, address[port], public)
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
			return places{}, fmt.Errorf("docscheck: %w", err)
		}
		out, back = append(out, folder.path+"/", private+"/", folder.path, private), append(back, private, folder.path)
	}
	if err := os.Chmod(scratch, 0o711); err != nil { //nolint:gosec // the users below must get through
		return places{}, fmt.Errorf("docscheck: %w", err)
	}
	users, err := stand()
	if err != nil {
		return places{}, err
	}
	env := os.Environ()
	for name, value := range map[string]string{
		"PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"), "REPRISE_SERVER": address["7443"],
		"RPA_LISTEN": address["7443"], "RPA_SERVER": address["7443"], "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8",
	} {
		env = append(env, name+"="+value)
	}
	return places{
		public: strings.NewReplacer(back...), private: strings.NewReplacer(slices.Concat(users, out)...), environment: env,
	}, nil
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

// freePort asks for a port that nobody listens on. Somebody else may take it
// before the page does; the page then fails with a message that says so.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("docscheck: %w", err)
	}
	defer func() { _ = l.Close() }() // nothing was accepted
	return l.Addr().(*net.TCPAddr).Port, nil
}
