package doctor

import (
	"slices"

	"github.com/reprise-rpa/reprise/agent/winapi"
)

// crowds are the SIDs of many, [MS-DTYP] 2.4.2.4, for people.
var crowds = map[string]string{
	"S-1-1-0": "everybody", "S-1-5-4": "everybody who is logged on", "S-1-5-7": "who gives no name", "S-1-5-11": "all users that have a password",
	"S-1-5-32-545": "all users of the machine", "S-1-5-32-546": "guests", "S-1-5-2": "everybody who comes over the network",
}

// readers are the crowds that an access list lets read. A single user's name in it is
// taken for intended.
func readers(grants []winapi.Grant) []string {
	var list []string
	for _, g := range grants {
		if name, many := crowds[g.SID]; many && g.Reads() && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
