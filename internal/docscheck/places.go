package docscheck

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// places are a page's addresses and folders, and the private ones that stand
// for them while it is checked.
type places struct {
	public, private *strings.Replacer
	environment     []string
}

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
	for public, private := range map[string]string{
		"/tmp/reprise": "reprise", "/var/lib/reprise": "var", "/etc/reprise": "etc", "/usr/local/bin": "usr-local-bin",
	} {
		folder := filepath.Join(scratch, private)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return places{}, fmt.Errorf("docscheck: %w", err)
		}
		out, back = append(out, public, folder), append(back, folder, public)
	}
	env := os.Environ()
	for name, value := range map[string]string{
		"PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"), "REPRISE_SERVER": address["7443"],
		"RPA_LISTEN": address["7443"], "RPA_SERVER": address["7443"], "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8",
	} {
		env = append(env, name+"="+value)
	}
	return places{public: strings.NewReplacer(back...), private: strings.NewReplacer(out...), environment: env}, nil
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
