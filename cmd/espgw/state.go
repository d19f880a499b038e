package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"espgw/sa/durable"
)

// stateNone is the --state-dir that keeps nothing.
const stateNone = "none"

// rootState is where the gateways that root runs have their state folders.
const rootState = "/var/lib/espgw"

// openState opens the folder of --state-dir, which it completes, and whose lock it
// holds from then on. It is nil for none.
func openState(o *options, ealArgs []string, log *slog.Logger) (*durable.Keeper, error) {
	if o.stateDir == stateNone {
		log.Warn("--state-dir none: sequence numbers are not kept over a restart: start again with fresh keys, or nonces may repeat")
		return nil, nil
	}
	if o.stateDir == "" {
		var err error
		if o.stateDir, err = defaultState(ealArgs); err != nil {
			return nil, err
		}
	}
	keeper, err := durable.Open(o.stateDir, log)
	if err != nil {
		return nil, fmt.Errorf("%w; --state-dir names another folder, each gateway has its own", err)
	}
	if err := keeper.Damage(); err != nil {
		log.Error("the state folder cannot be used: SAs send nothing (out_no_reserve)", "error", err)
	}
	return keeper, nil
}

// defaultState is the state folder of a gateway that names none.
func defaultState(ealArgs []string) (string, error) {
	prefix := filePrefix(ealArgs)
	if prefix != filepath.Base(prefix) || prefix == "." || prefix == ".." {
		return "", fmt.Errorf("no state folder can be named after the prefix %q: give one with --state-dir", prefix)
	}
	if os.Geteuid() == 0 {
		return filepath.Join(rootState, prefix), nil
	}
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // as the XDG specification has it
		home, err := os.UserHomeDir()
		if err != nil {
			return "", errors.New("neither XDG_STATE_HOME nor HOME is set: name a state folder with --state-dir")
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "espgw", prefix), nil
}

// filePrefix is EAL's --file-prefix, "rte" if it is not given.
func filePrefix(ealArgs []string) string {
	prefix := "rte"
	for i, a := range ealArgs {
		switch value, ok := strings.CutPrefix(a, "--file-prefix="); {
		case ok:
			prefix = value
		case a == "--file-prefix" && i+1 < len(ealArgs):
			prefix = ealArgs[i+1]
		}
	}
	return prefix
}
