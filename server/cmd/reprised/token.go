package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-rpa/reprise/server/settings"
	"github.com/reprise-rpa/reprise/server/tokens"
)

// tokenCommand manages tokens in the data folder; a server that runs on it learns
// of a change by itself.
func tokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Manage the tokens of operators and agents"}
	place := placeOf(cmd.PersistentFlags())
	open := func() (*tokens.Store, error) {
		dataDir, err := place()
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(dataDir); err != nil {
			return nil, fmt.Errorf("the data folder: %w (reprised makes it when it first starts; --data-dir names it)", err)
		}
		return tokens.Open(dataDir, nil)
	}
	list := &cobra.Command{
		Use: "list", Short: "List the tokens", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := open()
			if err != nil {
				return err
			}
			return listTokens(store, cmd.OutOrStdout())
		},
	}
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "Make a token invalid; its open streams end within seconds", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := open()
			if err != nil {
				return err
			}
			return store.Revoke(args[0])
		},
	}
	rotate := &cobra.Command{
		Use: "rotate-operator", Short: "Make a new operator token and revoke the earlier ones without a name", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := open()
			if err != nil {
				return err
			}
			dataDir, err := place()
			if err != nil {
				return err
			}
			return rotateOperator(store, dataDir, cmd.OutOrStdout())
		},
	}
	cmd.AddCommand(addCommand(addAgent, open), addCommand(addOperator, open), list, revoke, rotate)
	return cmd
}

// adding is what makes one kind of token.
type adding struct {
	use, short string
	add        func(store *tokens.Store, subject string) (secret string, err error)
}

var (
	addAgent    = adding{"add-agent MACHINE", "Register a machine and make a token for its agent", (*tokens.Store).AddAgent}
	addOperator = adding{"add-operator NAME", "Make a token for a person or a service, whose name stands beside what it does", (*tokens.Store).AddOperator}
)

func addCommand(a adding, open func() (*tokens.Store, error)) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: a.use, Short: a.short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := open()
			if err != nil {
				return err
			}
			hand := func(to io.Writer) error {
				secret, err := a.add(store, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(to, secret)
				return err
			}
			if out == "" {
				return hand(cmd.OutOrStdout())
			}
			return handTo(hand, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the token to this file, readable by the owner only, instead of printing it")
	return cmd
}

func listTokens(store *tokens.Store, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ID\tROLE\tOF\tCREATED")
	for _, t := range store.Tokens() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.ID, t.Role, cmp.Or(t.Machine, t.Name, "-"), t.CreatedAt.Format("2006-01-02 15:04:05"))
	}
	return w.Flush()
}

// rotateOperator says where the new token is, and not what it is.
func rotateOperator(store *tokens.Store, dataDir string, out io.Writer) error {
	if err := store.RotateOperator(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, filepath.Join(dataDir, tokens.OperatorFile))
	return err
}

// placeOf adds the flags that say where the data folder is and returns what reads
// them: the folder is where the server itself would have it, by flag, environment or
// configuration file.
func placeOf(flags *pflag.FlagSet) func() (string, error) {
	dataDir := flags.String("data-dir", settings.Default().DataDir, "folder of the server's data [RPA_DATA_DIR]")
	config := flags.String("config", "", "the server's YAML file with settings ["+settings.ConfigEnv+"]")
	return func() (string, error) {
		all := pflag.NewFlagSet("reprised", pflag.ContinueOnError)
		loader := settings.Bind(all)
		var args []string
		if flags.Changed("data-dir") {
			args = append(args, "--data-dir="+*dataDir)
		}
		if flags.Changed("config") {
			args = append(args, "--config="+*config)
		}
		if err := all.Parse(args); err != nil {
			return "", err
		}
		s, _, err := loader.Load(os.LookupEnv)
		return s.DataDir, err
	}
}

// handTo leaves a token in a new file that only its owner can read. The file comes
// first: a token that cannot be handed out is not made.
func handTo(hand func(io.Writer) error, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--out: %s is there already, and no token was made: go on using the one in it, "+
			"or name another file, or remove this one and then revoke its token (reprised token list, reprised token revoke ID)", path)
	}
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := errors.Join(hand(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
