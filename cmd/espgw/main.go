// Command espgw is the gateway: a bump in the wire that seals and opens IPsec
// ESP between DPDK ports. Usage: espgw [EAL options] -- [options].
//
// Exit status: 0 a clean stop; 1 it ran and something failed; 2 wrong usage or
// configuration.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is an error in what the operator wrote: exit status 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	err := start(args, stdout, stderr)
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, pflag.ErrHelp):
		printHelp(stdout)
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "espgw: %v\n", err)
		return exitUsage
	default:
		fmt.Fprintf(stderr, "espgw: %v\n", err)
		return exitFailed
	}
}

func start(args []string, stdout, stderr io.Writer) error {
	eal, own := splitArgs(args)
	o, err := parseOptions(own)
	if err != nil {
		return err
	}
	if o.version {
		printVersion(stdout)
		return nil
	}
	if o.probe {
		return probe(eal, o, stdout, stderr)
	}
	return boot(eal, o, stdout, stderr)
}

// splitArgs parts EAL's arguments from espgw's at the first "--". Without one,
// all are espgw's own.
func splitArgs(args []string) (eal, own []string) {
	for i, a := range args {
		if a == "--" {
			return args[:i], args[i+1:]
		}
	}
	return nil, args
}
