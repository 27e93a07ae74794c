// The tool that writes the version and the manifest into Windows programs, in a module
// of its own: its dependencies are not the product's.
module github.com/reprise-rpa/reprise/tools/dist/versioninfo

go 1.26.0

tool github.com/josephspurrier/goversioninfo/cmd/goversioninfo

require (
	github.com/akavel/rsrc v0.10.2 // indirect
	github.com/josephspurrier/goversioninfo v1.7.0 // indirect
)
