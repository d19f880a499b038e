package main

import (
	"fmt"
	"io"
	"os"

	"espgw/sa"
	"espgw/sa/xfrm"
)

// configFile is what a file of ip xfrm commands comes to: the SAs, policies and
// defaults that stand at its end.
type configFile struct{ config *sa.Config }

// readConfig reads --xfrm and runs it on a DB of its own, so that every error
// in it is found before anything is touched.
func readConfig(o *options) (*configFile, error) {
	empty := &configFile{config: &sa.Config{}}
	if o.xfrm == "" {
		return empty, nil
	}
	f, err := os.Open(o.xfrm)
	if err != nil {
		return nil, usagef("--xfrm: %w", err)
	}
	defer f.Close()
	commands, err := xfrm.ParseFile(f, o.xfrm)
	if err != nil {
		return nil, usageError{err}
	}
	tx := sa.NewDB(tableOptions(o, nil)).Begin()
	defer tx.Rollback()
	defer func() {
		for _, c := range commands {
			c.Wipe()
		}
	}()
	for _, c := range commands {
		if err := c.Execute(tx, io.Discard); err != nil {
			return nil, usageError{err}
		}
	}
	if _, err := tx.Prepare(); err != nil {
		return nil, usagef("%s: %w", o.xfrm, err)
	}
	return &configFile{config: tx.Config()}, nil
}

// load puts the configuration of the start into the running tables.
func (s *server) load(next *configFile) error {
	return s.reconcile(&configFile{config: &sa.Config{}}, next)
}

// reload reads --xfrm again and applies what differs from what it said before.
// What came over the control socket stays.
func (s *server) reload() error {
	if s.options.xfrm == "" {
		return fmt.Errorf("there is no --xfrm file to read")
	}
	next, err := readConfig(s.options)
	if err != nil {
		return err
	}
	if err := s.reconcile(s.loaded, next); err != nil {
		next.config.Wipe()
		return err
	}
	s.loaded.config.Wipe()
	s.loaded = next
	s.log.Info("reloaded", "file", s.options.xfrm, "states", len(next.config.States), "policies", len(next.config.Policies))
	return nil
}

func (s *server) reconcile(old, next *configFile) error {
	return s.gateway.Update(func(tx *sa.Tx) error { return tx.Reconcile(old.config, next.config) })
}
