package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// errFound ends a check that has printed what it found.
var errFound = errors.New("the check failed")

// usageError is wrong usage: exit status 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// command is one of espload's commands. flags adds its options to a set and
// returns what to run once they are parsed, with the words that are no options.
type command struct {
	name, words, help string
	flags             func(*pflag.FlagSet) action
}

type action func(ctx context.Context, words []string, stdout io.Writer) error

var commands = []command{
	{"send", "IFACE", "send numbered UDP datagrams until stopped", sendCommand},
	{"await", "IFACE", "wait for an ESP packet", awaitCommand},
	{"replay", "IFACE", "send the ESP packets of a capture once more", replayCommand},
	{"check", "FILE...", "judge captures of the wire: no IV twice under a key, no sequence number again", checkCommand},
	{"again", "", "tell which datagrams a receiver has taken twice, from captures behind it", againCommand},
}

func run(args []string, stdout, stderr io.Writer) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	err := dispatch(ctx, args, stdout)
	var wrong usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, usage())
		return 0
	}
	fmt.Fprintf(stderr, "espload: %v\n", err)
	if errors.As(err, &wrong) {
		return 2
	}
	return 1
}

func dispatch(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return usagef("a command is missing; espload --help lists them")
	}
	for _, c := range commands {
		if c.name == args[0] {
			f := newFlags(c.name)
			do := c.flags(f)
			if err := f.Parse(args[1:]); err != nil {
				if errors.Is(err, pflag.ErrHelp) {
					return err
				}
				return usagef("%s: %w", c.name, err)
			}
			if err := do(ctx, f.Args(), stdout); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			return nil
		}
	}
	if args[0] == "--help" || args[0] == "-h" {
		return pflag.ErrHelp
	}
	return usagef("%q is no command; espload --help lists them", args[0])
}

func newFlags(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	f.Usage = func() {}
	return f
}

func usage() string {
	text := "Usage: espload COMMAND [options]\n"
	for _, c := range commands {
		f := newFlags(c.name)
		c.flags(f)
		text += fmt.Sprintf("\nespload %s %s: %s\n%s", c.name, c.words, c.help, f.FlagUsages())
	}
	return text
}

// oneWord is the only word that is no option.
func oneWord(words []string, what string) (string, error) {
	if len(words) != 1 {
		return "", usagef("%s is needed, and nothing else: %q", what, words)
	}
	return words[0], nil
}
