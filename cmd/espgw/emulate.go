package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"espgw/pmd/emu"
)

// emulation is the emulated inline NICs of a run, by port name.
type emulation struct{ nics map[string]*emu.NIC }

// emulateOption is `NAME=PROFILE[,KEY=VALUE]...`.
type emulateOption struct {
	name    string
	options emu.Options
}

func parseEmulate(text string) (emulateOption, error) {
	name, profile, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return emulateOption{}, fmt.Errorf("accepted: NAME=PROFILE[,KEY=VALUE]..., PROFILE one of %s", strings.Join(emu.Profiles, ", "))
	}
	options, err := emu.ParseOptions(profile)
	return emulateOption{name, options}, err
}

// emulate puts the emulated NICs in front of unprotected ports, which are not
// configured yet.
func (p *ports) emulate(o *options) error {
	p.emulation.nics = map[string]*emu.NIC{}
	for _, e := range o.emulate {
		port, err := p.unprotectedNamed(e.name)
		if err != nil {
			return err
		}
		if p.emulation.nics[e.name] != nil {
			return usagef("--emulate-inline: %s is named twice", e.name)
		}
		nic, err := emu.Attach(port.Port, e.options)
		if err != nil {
			return err
		}
		p.emulation.nics[e.name] = nic
	}
	return nil
}

// unprotectedNamed finds an unprotected port by its name.
func (p *ports) unprotectedNamed(name string) (*openPort, error) {
	var names []string
	for i, port := range p.all {
		if i%2 == 0 {
			continue
		}
		if port.name == name {
			return port, nil
		}
		names = append(names, port.name)
	}
	return nil, usagef("--emulate-inline: no unprotected port is named %s; there are: %s", name, strings.Join(names, ", "))
}

// counters are what the emulated NICs have counted, by port name.
func (e *emulation) counters() map[string]map[string]uint64 {
	all := map[string]map[string]uint64{}
	for name, nic := range e.nics {
		all[name] = nic.Counters()
	}
	return all
}

// verdict is an error if an emulated NIC saw what a card would have punished: that
// is a bug of espgw.
func (e *emulation) verdict(log *slog.Logger) error {
	var errs []error
	for name, nic := range e.nics {
		errs = append(errs, verdictOn(name, nic.Counters(), nic.Breaches(), log))
	}
	return errors.Join(errs...)
}

// verdictOn is about the emulated NIC of one port.
func verdictOn(name string, counters map[string]uint64, breaches []string, log *slog.Logger) error {
	for _, text := range breaches {
		log.Error("the emulated NIC's contract was broken", "port", name, "what", text)
	}
	var errs []error
	if n := counters["breaches"]; n > 0 {
		errs = append(errs, fmt.Errorf("port %s: the emulated NIC's contract was broken %d times", name, n))
	}
	if n := counters["leak_tx"]; n > 0 {
		errs = append(errs, fmt.Errorf("port %s: %d packets would have left in clear text", name, n))
	}
	return errors.Join(errs...)
}

// close frees the NICs; their ports are closed.
func (e *emulation) close() error {
	var errs []error
	for _, nic := range e.nics {
		errs = append(errs, nic.Close())
	}
	return errors.Join(errs...)
}
