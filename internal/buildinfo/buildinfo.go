// Package buildinfo says which version a program is.
package buildinfo

import "runtime/debug"

// version is set by the linker for releases: -ldflags "-X …/buildinfo.version=v1.2.3".
var version string

// Version returns the release, else the module's version or revision as the Go
// tool stamped it, else "devel".
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
