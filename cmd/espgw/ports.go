package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"espgw/ipsec"
	"espgw/pmd"
)

// ports are the opened ports of all pairs, the pool behind them and the plan of
// their queues.
type ports struct {
	pairs []ipsec.Pair
	plan  *ipsec.Plan
	pool  *pmd.Pool
	all   []*openPort

	emulation emulation
	log       *slog.Logger
}

type openPort struct {
	*pmd.Port
	name        string
	unprotected bool
	applied     pmd.Applied
	started     bool
}

// Offloads of a port whose device is to seal and open: never receive coalescing or a
// kept CRC beside them, which ixgbe does not start with (ixgbe_ipsec.c:
// ixgbe_crypto_enable_ipsec).
const (
	inlineRx = pmd.RxSecurity
	inlineTx = pmd.TxSecurity | pmd.TxIPv4Checksum
)

// openPorts finds, configures and starts the ports that the pairs name.
func openPorts(eal *pmd.EAL, o *options, log *slog.Logger) (_ *ports, err error) {
	p := &ports{log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	planned, err := p.find(o)
	if err != nil {
		return nil, err
	}
	if err := p.emulate(o); err != nil {
		return nil, err
	}
	if p.plan, err = ipsec.MakePlan(planned, workerLcores(eal), o.queueMap); err != nil {
		return nil, usagef("queues: %w", err)
	}
	if err := p.makePool(eal, o); err != nil {
		return nil, err
	}
	for _, port := range p.all {
		if err := p.start(port, o); err != nil {
			return nil, fmt.Errorf("port %d (%s): %w", port.Info().ID, port.name, err)
		}
	}
	p.makePairs()
	return p, nil
}

// find opens the ports of the pairs by number or device name.
func (p *ports) find(o *options) ([][2]ipsec.PlanPort, error) {
	var planned [][2]ipsec.PlanPort
	var names []string
	for _, pair := range o.pairs {
		var row [2]ipsec.PlanPort
		for i, side := range []sideOption{pair.protected, pair.unprotected} {
			port, err := pmd.FindPort(side.port)
			if err != nil {
				return nil, usagef("--pair: %w", err)
			}
			info := port.Info()
			for _, other := range p.all {
				if other.Info().ID == info.ID {
					return nil, usagef("--pair: port %d (%s) is named twice", info.ID, info.Device)
				}
			}
			name := side.name
			if name == "" {
				name = info.Device
			}
			if slices.Contains(names, name) {
				return nil, usagef("--pair: the name %s is given twice", name)
			}
			names = append(names, name)
			p.all = append(p.all, &openPort{Port: port, name: name, unprotected: i == 1})
			row[i] = ipsec.PlanPort{ID: info.ID, MaxRxQueues: info.MaxRxQueues, MaxTxQueues: info.MaxTxQueues}
		}
		planned = append(planned, row)
	}
	if unknown := o.mtus.unknownNames(names); unknown != nil {
		return nil, usagef("--mtu: no port is named %v; named are %v", unknown, names)
	}
	return planned, nil
}

// workerLcores are EAL's worker lcores, or the main lcore where it is alone.
func workerLcores(eal *pmd.EAL) []int {
	lcores := eal.Lcores()
	if len(lcores) == 1 {
		return lcores
	}
	return slices.DeleteFunc(slices.Clone(lcores), func(l int) bool { return l == eal.MainLcore() })
}

// frameOverhead is what a frame has around the IP packet: Ethernet, two tags
// and the checksum.
const frameOverhead = 14 + 2*4 + 4

// espOverhead is the most that ESP adds to a packet: UDP, header, IV, padding,
// trailer and ICV.
const espOverhead = 8 + 8 + 8 + 3 + 2 + 16

// wantedMTU is what --mtu says of a port, else that of the kernel's interface
// behind it, else what the port has.
func wantedMTU(o *options, port *openPort) (mtu int, asked bool) {
	if n, ok := o.mtus.byName[port.name]; ok {
		return n, true
	}
	if o.mtus.all != 0 {
		return o.mtus.all, true
	}
	info := port.Info()
	if info.KernelInterface != "" {
		if n, err := pmd.KernelMTU(info.KernelInterface); err == nil {
			return n, false
		}
	}
	return info.MTU, false
}

func (p *ports) makePool(eal *pmd.EAL, o *options) error {
	largest, rings, least := 0, 0, 0
	for _, port := range p.all {
		id := port.ID()
		wanted, _ := wantedMTU(o, port)
		largest = max(largest, wanted)
		least = max(least, port.Info().MinDataRoom)
		rings += p.plan.RxQueues[id]*o.rxDesc + p.plan.TxQueues[id]*o.txDesc
	}
	room := max(largest+frameOverhead+espOverhead, least)
	if o.mbufSize != 0 {
		if o.mbufSize < room {
			return usagef("--mbuf-size %d: an MTU of %d and these drivers need at least %d", o.mbufSize, largest, room)
		}
		room = o.mbufSize
	}
	count := o.mbufs
	if count == 0 {
		count = max(8191, rings+4*len(p.all)*o.burst+512*len(eal.Lcores()))
	}
	var err error
	p.pool, err = pmd.NewPool(pmd.PoolConfig{Name: "espgw", Mbufs: count, Cache: 256, DataRoom: room, Socket: pmd.SocketAny})
	if err != nil {
		return fmt.Errorf("%d packet buffers of %d octets: %w (give EAL more memory, or set --mbufs)", count, room, err)
	}
	return nil
}

func (p *ports) start(port *openPort, o *options) error {
	info := port.Info()
	id := info.ID
	wanted, asked := wantedMTU(o, port)
	if wanted > info.MaxMTU || wanted < info.MinMTU {
		return usagef("MTU %d: the device takes %d to %d", wanted, info.MinMTU, info.MaxMTU)
	}
	config := pmd.PortConfig{
		RxQueues: p.plan.RxQueues[id], TxQueues: max(1, p.plan.TxQueues[id]),
		RxDesc: o.rxDesc, TxDesc: o.txDesc, MTU: wanted, RSS: p.plan.RxQueues[id] > 1, Pool: p.pool,
	}
	if port.unprotected && o.offload != ipsec.OffloadOff && ipsec.InlineFits(info, wanted) {
		config.RxOffloads, config.TxOffloads = inlineRx&info.RxOffloads, inlineTx&info.TxOffloads
	}
	applied, without, err := configureAndStart(port, config, o.offload == ipsec.OffloadRequire || o.inlineOnly)
	if err != nil {
		return err
	}
	if without != nil {
		p.log.Warn("the port does not start with inline IPsec, so it goes without", "port", id, "name", port.name, "error", without)
	}
	port.applied, port.started = applied, true
	// A driver without an MTU to set carries what its device carries.
	masked := slices.DeleteFunc(applied.Masked, func(what string) bool { return what == "MTU" && !asked })
	if len(masked) > 0 {
		p.log.Info("not on this port", "port", id, "name", port.name, "masked", masked)
	}
	// A bump in the wire takes every frame, whoever it is addressed to.
	if err := port.SetPromiscuous(true); err != nil {
		p.log.Warn("no promiscuous mode: frames to other addresses may not arrive", "port", id, "name", port.name, "error", err)
	}
	return nil
}

// starter is what configureAndStart needs of a port.
type starter interface {
	Configure(pmd.PortConfig) (pmd.Applied, error)
	Start() error
}

// configureAndStart starts a port. Where that fails with inline IPsec switched on, and
// it need not be, the port is started without, and without is why. A part whose block
// is fused off for one direction is such a case (ixgbe_ipsec.c: ixgbe_crypto_capable
// asks for the other only).
func configureAndStart(port starter, config pmd.PortConfig, must bool) (applied pmd.Applied, without, err error) {
	start := func() (pmd.Applied, error) {
		applied, err := port.Configure(config)
		if err != nil {
			return applied, err
		}
		return applied, port.Start()
	}
	applied, err = start()
	if err == nil || must || config.RxOffloads&inlineRx == 0 && config.TxOffloads&inlineTx == 0 {
		return applied, nil, err
	}
	without = err
	config.RxOffloads &^= inlineRx
	config.TxOffloads &^= inlineTx
	applied, err = start()
	return applied, without, err
}

func (p *ports) makePairs() {
	for i := 0; i < len(p.all); i += 2 {
		side := func(port *openPort) ipsec.PortConfig {
			return ipsec.PortConfig{Port: port.Port, Name: port.name, MTU: port.applied.MTU}
		}
		p.pairs = append(p.pairs, ipsec.Pair{Protected: side(p.all[i]), Unprotected: side(p.all[i+1])})
	}
}

// waitLinks waits until every link is up, for at most limit: what enters one
// port while the other is down would be lost.
func (p *ports) waitLinks(ctx context.Context, limit time.Duration, log *slog.Logger) {
	deadline := time.Now().Add(limit)
	said := false
	for {
		var down []string
		for _, port := range p.all {
			if link, err := port.Link(); err != nil || !link.Up {
				down = append(down, port.name)
			}
		}
		if len(down) == 0 {
			return
		}
		if time.Now().After(deadline) {
			log.Warn("starting although links are down", "ports", down)
			return
		}
		if !said {
			log.Info("waiting for links", "ports", down)
			said = true
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// close stops and closes what openPorts opened.
func (p *ports) close() error {
	var errs []error
	for _, port := range p.all {
		if port.started {
			errs = append(errs, port.Stop())
		}
		errs = append(errs, port.Close())
	}
	if p.pool != nil {
		errs = append(errs, p.pool.Close())
	}
	// Only now, because what stopped and closed the ports could have been wrong, too.
	errs = append(errs, p.emulation.verdict(p.log), p.emulation.close())
	return errors.Join(errs...)
}
