// Command check-layers fails when a package imports what its layer must not
// know: `go run ./scripts/check-layers [FOLDER]`, in the root of the module.
// The table is in layers.go.
//
// It reads import clauses with go/parser, not with go list: that also sees the
// files that build tags leave out, and needs no C compiler.
package main

import (
	"fmt"
	"os"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	faults, err := check(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check-layers:", err)
		os.Exit(2)
	}
	for _, fault := range faults {
		fmt.Println(fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}
