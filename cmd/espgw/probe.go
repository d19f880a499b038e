package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"

	"espgw/ipsec"
	"espgw/pmd"
	"espgw/pmd/emu"
)

// probe prints what all ports can do and what espgw would do with them. It starts
// none of them and changes nothing.
func probe(ealArgs []string, o *options, stdout, stderr io.Writer) (err error) {
	log := newLogger(o, stderr)
	eal, err := pmd.StartEAL(pmd.EALConfig{Program: "espgw", Args: ealArgs, Log: slog.New(quieter{log.Handler()})})
	if err != nil {
		return usageError{err}
	}
	defer closing(&err, "close EAL", eal.Close)
	infos := pmd.Ports()
	fmt.Fprintf(stdout, "espgw %s on %s: %d ports\n", version, pmd.Version(), len(infos))
	if len(infos) == 0 {
		return usagef("no port: name devices with -a or --vdev in front of the --")
	}
	pool, err := pmd.NewPool(pmd.PoolConfig{Name: "probe", Mbufs: 4095, DataRoom: 16384 + 128, Socket: pmd.SocketAny})
	if err != nil {
		return err
	}
	defer closing(&err, "close the pool", pool.Close)
	for _, info := range infos {
		if e := probePort(info, pool, o, stdout); e != nil {
			err = errors.Join(err, fmt.Errorf("port %d (%s): %w", info.ID, info.Device, e))
		}
	}
	return err
}

// probePort prints what one port can do. It is configured, which opens its security
// context, and closed.
func probePort(info pmd.PortInfo, pool *pmd.Pool, o *options, w io.Writer) (err error) {
	port, err := pmd.FindPort(info.Device)
	if err != nil {
		return err
	}
	var nic *emu.NIC
	for _, e := range o.emulate {
		if e.name == info.Device || e.name == fmt.Sprint(info.ID) || o.portNamed(e.name) == info.Device {
			if nic, err = emu.Attach(port, e.options); err != nil {
				return err
			}
		}
	}
	defer func() {
		err = errors.Join(err, port.Close())
		if nic != nil {
			err = errors.Join(err, nic.Close())
		}
	}()
	_, err = port.Configure(pmd.PortConfig{Pool: pool, RxOffloads: inlineRx, TxOffloads: inlineTx})
	if err != nil {
		return err
	}
	info = port.Info()
	r := ipsec.ProbeInline(port, info.MTU)
	printProbe(w, info, &r)
	return nil
}

// portNamed is the device or number that --pair gives a name, "" if none.
func (o *options) portNamed(name string) string {
	for _, pair := range o.pairs {
		for _, side := range []sideOption{pair.protected, pair.unprotected} {
			if side.name == name {
				return side.port
			}
		}
	}
	return ""
}

func printProbe(w io.Writer, info pmd.PortInfo, r *ipsec.InlineReport) {
	fmt.Fprintf(w, "\nport %d: %s, %s", info.ID, info.Device, r.Driver)
	if info.PCIDevice != 0 {
		fmt.Fprintf(w, ", PCI device 0x%04x (%s)", info.PCIDevice, r.Family)
	}
	fmt.Fprintf(w, ", MAC %v, %d receive and %d transmit queues, MTU %d\n", info.MAC, info.MaxRxQueues, info.MaxTxQueues, info.MTU)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(t, "  %s\t%s\n", name, text) }
	row("receive offloads", list(info.RxOffloads.RxNames()))
	row("transmit offloads", list(info.TxOffloads.TxNames()))
	row("RSS", list(info.RSS))
	for _, c := range r.Caps {
		row("security capability", capabilityText(&c))
	}
	row("inline IPsec", r.Depth)
	if r.Reason != "" {
		row("why", r.Reason)
	}
	for _, s := range r.Sources {
		row("limit", s)
	}
	row("espgw would", r.Summary+"; all other SAs in software")
	t.Flush()
}

func list(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}

func capabilityText(c *pmd.SecurityCapability) string {
	way, mode, protocol := "in", "tunnel", "ESP"
	if c.Egress {
		way = "out"
	}
	if c.Transport {
		mode = "transport"
	}
	if !c.ESP {
		protocol = "not ESP"
	}
	words := []string{fmt.Sprintf("%v, %s, %s mode, %s", c.Action, protocol, mode, way)}
	for _, a := range c.AEADs {
		words = append(words, fmt.Sprintf("%v key %s ICV %s", a.Algorithm, sizes(a.Key), sizes(a.ICV)))
	}
	flag := func(on bool, text string) {
		if on {
			words = append(words, text)
		}
	}
	flag(c.ESN, "ESN")
	flag(c.UDPEncap, "ESP in UDP")
	flag(c.Stats, "counters")
	flag(c.Metadata, "metadata a packet")
	flag(c.ReplayMax > 0, fmt.Sprintf("window up to %d", c.ReplayMax))
	return strings.Join(words, ", ")
}

func sizes(r pmd.SizeRange) string {
	if r.Step == 0 || r.Min == r.Max {
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d-%d", r.Min, r.Max)
}
