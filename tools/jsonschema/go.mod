// A validator of JSON schemas, with which the tests compare the schema of
// workflow files and what reads them.
module github.com/reprise-rpa/reprise/tools/jsonschema

go 1.26

tool github.com/santhosh-tekuri/jsonschema/cmd/jv

require github.com/santhosh-tekuri/jsonschema/cmd/jv v0.7.0 // indirect

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/spf13/pflag v1.0.5 // indirect
	golang.org/x/text v0.14.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
