package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"espgw/pmd/silicon"
	"espgw/pmd/silicon/bus"
)

// options are those of the command line, checked.
type options struct {
	ports    int
	wires    []string
	device   string
	strict   bool
	record   string
	report   string
	control  string
	cpu      int
	noTrap   bool
	quiet    bool
	faults   silicon.Faults
	settings silicon.Settings
	command  []string
}

// deviceIDs are the PCI device numbers of the cards that can be modelled.
var deviceIDs = map[string]uint16{"82599": 0x10f7}

func newFlags(o *options, faults, settings *[]string) *pflag.FlagSet {
	f := pflag.NewFlagSet("nicmodel", pflag.ContinueOnError)
	f.SetInterspersed(false)
	f.SortFlags = false
	f.Usage = func() {}
	f.IntVar(&o.ports, "ports", 1, fmt.Sprintf("cards on the bus, 1 to %d: 0000:01:00.0 and so on", bus.MaxDevices))
	f.StringArrayVar(&o.wires, "wire", nil, "what port 0, 1, ... is plugged into; again for the next port:\n"+
		wireKinds)
	f.StringVar(&o.device, "device", "82599", "the card")
	f.BoolVar(&o.strict, "strict", false, "exit with status 3 when a card saw a breach of its contract")
	f.StringVar(&o.record, "record", "", "pcapng `FILE` of what was on the wires, with the breaches as comments")
	f.StringVar(&o.report, "report", "", "JSON `FILE` of what the cards saw, at the end")
	f.StringVar(&o.control, "control", "", "unix `SOCKET` for commands: link PORT up|down, fault PORT NAME:N, report")
	f.IntVar(&o.cpu, "cpu", -1, "CPU that the cards run on; the program should be kept off it")
	f.StringArrayVar(faults, "fault", nil, "something that goes wrong, NAME:N; again for more:\n"+strings.Join(silicon.FaultNames(), " "))
	f.StringArrayVar(settings, "set", nil, "behaviour that no document tells, NAME=VALUE; again for more:\n"+strings.Join(silicon.SettingNames(), " "))
	f.BoolVar(&o.noTrap, "no-trap", false, "only look at the registers: for a COMMAND that a debugger is to be attached to")
	f.BoolVar(&o.quiet, "quiet", false, "no summary at the end")
	return f
}

const usageHead = `nicmodel: DPDK's ixgbe driver, and a program on it, without a card

Usage: nicmodel [OPTIONS] -- COMMAND [ARGUMENT]...

Runs COMMAND with models of Intel 82599 cards on its PCI bus. COMMAND needs huge pages
of 2 MiB, and root. Its exit status is passed on; 1: nicmodel failed, 3: --strict.

Options:
`

func usage() string {
	var faults, settings []string
	return usageHead + newFlags(new(options), &faults, &settings).FlagUsages()
}

func parseOptions(args []string) (*options, error) {
	o := &options{settings: silicon.DefaultSettings()}
	var faults, settings []string
	f := newFlags(o, &faults, &settings)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.command = f.Args()
	if len(o.command) == 0 {
		return nil, fmt.Errorf("no command: nicmodel [OPTIONS] -- COMMAND")
	}
	if o.ports < 1 || o.ports > bus.MaxDevices {
		return nil, fmt.Errorf("--ports %d: there can be 1 to %d", o.ports, bus.MaxDevices)
	}
	if len(o.wires) > o.ports {
		return nil, fmt.Errorf("%d wires for %d ports", len(o.wires), o.ports)
	}
	if _, known := deviceIDs[o.device]; !known {
		return nil, fmt.Errorf("--device %s: there is only the 82599", o.device)
	}
	for _, text := range faults {
		if err := o.faults.Set(text); err != nil {
			return nil, fmt.Errorf("--fault: %w", err)
		}
	}
	for _, text := range settings {
		if err := o.settings.Set(text); err != nil {
			return nil, fmt.Errorf("--set: %w", err)
		}
	}
	return o, nil
}
