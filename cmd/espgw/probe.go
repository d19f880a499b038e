package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
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
	if err := o.checkEmulated(infos); err != nil {
		return err
	}
	pool, err := pmd.NewPool(probePool(infos))
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

// probePool is the pool of the ports that are probed: large enough for their queues,
// which nothing is received into.
func probePool(infos []pmd.PortInfo) pmd.PoolConfig {
	room := 0
	for _, info := range infos {
		room = max(room, info.MTU+frameOverhead, info.MinDataRoom)
	}
	return pmd.PoolConfig{Name: "probe", Mbufs: 511, DataRoom: min(room, 65535-pmd.Headroom), Socket: pmd.SocketAny}
}

// checkEmulated says whether --emulate-inline names ports that there are, each once.
func (o *options) checkEmulated(infos []pmd.PortInfo) error {
	var names []string
	for _, info := range infos {
		names = append(names, info.Device)
	}
	seen := map[int]bool{}
	for _, e := range o.emulate {
		i := slices.IndexFunc(infos, func(info pmd.PortInfo) bool { return o.names(e.name, info) })
		switch {
		case i < 0:
			return usagef("--emulate-inline: no port is named %s; there are: %s", e.name, strings.Join(names, ", "))
		case seen[i]:
			return usagef("--emulate-inline: %s is named twice", names[i])
		}
		seen[i] = true
	}
	return nil
}

// probeDescriptors are those of a queue; drivers raise them to what they need.
const probeDescriptors = 128

// probePort prints what one port can do. It is configured, which opens its security
// context, and closed.
func probePort(info pmd.PortInfo, pool *pmd.Pool, o *options, w io.Writer) (err error) {
	port, err := pmd.FindPort(info.Device)
	if err != nil {
		return err
	}
	var nic *emu.NIC
	for _, e := range o.emulate {
		if o.names(e.name, info) {
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
	config := pmd.PortConfig{Pool: pool, RxDesc: probeDescriptors, TxDesc: probeDescriptors}
	name, protected := o.pairName(info)
	mtu, _ := wantedMTU(o, &openPort{Port: port, name: name})
	if ipsec.InlineFits(port.Info(), mtu) {
		config.RxOffloads, config.TxOffloads = inlineRx, inlineTx
	}
	_, unfit := port.Configure(config)
	r := ipsec.ProbeInline(port, mtu)
	switch {
	case unfit != nil: // what is known without that is worth printing, too
		r.Reason = unfit.Error()
	case protected:
		r.Summary = "all SAs in software: the other port of its pair is the unprotected one"
	case o.offload == ipsec.OffloadOff:
		r.Summary = "all SAs in software (--offload off)"
	}
	printProbe(w, port.Info(), mtu, &r)
	return nil
}

// names says whether a name is a port's: its device, its number, or what --pair calls
// it.
func (o *options) names(name string, info pmd.PortInfo) bool {
	called, _ := o.pairName(info)
	return name == called || isPort(name, info)
}

// pairName is what --pair calls a port, and whether it is a protected one; without a
// name, or a pair, it is called by its device.
func (o *options) pairName(info pmd.PortInfo) (name string, protected bool) {
	name = info.Device
	for _, pair := range o.pairs {
		for i, side := range []sideOption{pair.protected, pair.unprotected} {
			if isPort(side.port, info) {
				protected = i == 0
				if side.name != "" {
					name = side.name
				}
			}
		}
	}
	return name, protected
}

// isPort says whether a text is a port's number or device name.
func isPort(text string, info pmd.PortInfo) bool {
	return text == info.Device || text == fmt.Sprint(info.ID)
}

func printProbe(w io.Writer, info pmd.PortInfo, mtu int, r *ipsec.InlineReport) {
	fmt.Fprintf(w, "\nport %d: %s, %s", info.ID, info.Device, r.Driver)
	if info.PCIDevice != 0 {
		fmt.Fprintf(w, ", PCI device 0x%04x (%s)", info.PCIDevice, r.Family)
	}
	fmt.Fprintf(w, ", MAC %v, %d receive and %d transmit queues, MTU %d\n", info.MAC, info.MaxRxQueues, info.MaxTxQueues, mtu)
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
		row("known", s)
	}
	row("espgw would", r.Summary)
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
