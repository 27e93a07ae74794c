package cli

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// plainBooleans lets help show a flag that is given or not as `--skip`, where
// the library would write `--skip[=true|false]`.
func plainBooleans(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		cmd.InheritedFlags() // merges the parents' flags into the command's
		own := map[*pflag.Flag]pflag.Value{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				own[f], f.Value = f.Value, switched{f.Value}
			}
		})
		err := usage(cmd)
		for f, value := range own {
			f.Value = value
		}
		return err
	})
}

// switched is a boolean as help shows it; pflag writes nothing after the name of
// a flag of this type.
type switched struct{ pflag.Value }

func (switched) Type() string { return "boolfunc" }

// formatIn finds the format that a command line asks for, whatever else is wrong
// with it: what is refused before the flags are read is reported in it too.
func formatIn(args []string) format {
	var f format
	flags := pflag.NewFlagSet("reprisectl", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.SetOutput(io.Discard)
	flags.VarP(&f, "output", "o", "")
	flags.BoolP("help", "h", false, "")
	_ = flags.Parse(args) // its faults are found by the command's own flags
	return f
}
