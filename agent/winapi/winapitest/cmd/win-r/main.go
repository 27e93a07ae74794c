// Win-r opens the Run dialog when Win+R is pressed, as the shell of Windows does and
// Wine's desktop, which has no shell, does not. It is a test aid: it decides nothing,
// and what is typed into the dialog is Windows' own affair.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	if err := serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "win-r:", err)
		os.Exit(1)
	}
}
