package pmd

// #include <stdlib.h>
// #include "pmd.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// frameOverhead is what a frame has around its MTU at most, in octets: Ethernet
// header, two VLAN tags, FCS.
const frameOverhead = 14 + 2*4 + 4

// Defaults of a port's configuration.
const defaultDescriptors = 1024

// PortConfig is how a port is set up; zeros are defaults.
type PortConfig struct {
	// RxQueues and TxQueues are the numbers of queues; default 1.
	RxQueues, TxQueues int
	// RxDesc and TxDesc are descriptors per queue; default 1024. The driver may
	// adjust them.
	RxDesc, TxDesc int
	// MTU in octets (of the IP packet); 0 leaves the port's own.
	MTU int
	// RSS spreads what is received over the receive queues by hash.
	RSS bool
	// Pool is where received packets are stored.
	Pool *Pool
	// RxOffloads and TxOffloads are wanted; what the port has not is left out.
	RxOffloads, TxOffloads Offload
}

// Applied is what a port made of its configuration.
type Applied struct {
	RxDesc, TxDesc         int
	MTU                    int
	RxOffloads, TxOffloads Offload
	RSS                    []string // hash types in use, none with one queue
	rss                    uint64
	// Masked names what was asked for and is not there: offloads, "RSS", "MTU".
	Masked []string
}

// Configure sets up a stopped port and its queues. It fails with ErrConfig when
// the port has too few queues or the MTU is out of its range or does not fit the
// pool's buffers.
func (p *Port) Configure(cfg PortConfig) (Applied, error) {
	applied, err := p.configure(cfg)
	if err != nil {
		return Applied{}, fmt.Errorf("configuring port %s: %w", p, err)
	}
	return applied, nil
}

func (p *Port) configure(cfg PortConfig) (Applied, error) {
	p.life.RLock()
	defer p.life.RUnlock()
	if err := p.usable(); err != nil {
		return Applied{}, err
	}
	info, err := portInfo(p.id)
	if err != nil {
		return Applied{}, err
	}
	own := info
	p.standInInfo(&info)
	cfg.defaults()
	if err := cfg.check(info); err != nil {
		return Applied{}, err
	}
	applied := cfg.mask(info)
	c := C.struct_pmd_port_conf{
		pool:        cfg.Pool.c,
		rx_offloads: C.uint64_t(applied.RxOffloads & own.RxOffloads),
		tx_offloads: C.uint64_t(applied.TxOffloads & own.TxOffloads),
		rss:         C.uint64_t(applied.rss),
		rx_queues:   C.uint16_t(cfg.RxQueues),
		tx_queues:   C.uint16_t(cfg.TxQueues),
		rx_desc:     C.uint16_t(cfg.RxDesc),
		tx_desc:     C.uint16_t(cfg.TxDesc),
		mtu:         C.uint16_t(deviceMTU(info, cfg.MTU)),
	}
	if rc := C.pmd_port_configure(C.uint16_t(p.id), &c); rc < 0 {
		return Applied{}, Errno(-rc)
	}
	applied.RxDesc, applied.TxDesc, applied.MTU = int(c.rx_desc), int(c.tx_desc), int(c.mtu)
	if c.mtu_unset != 0 {
		applied.Masked = append(applied.Masked, "MTU")
	}
	if deviceMTU(info, cfg.MTU) != cfg.MTU {
		if applied.MTU, err = setInterfaceMTU(info, cfg.MTU); err != nil {
			return Applied{}, err
		}
	}
	if err := p.standInConfigured(cfg, applied); err != nil {
		return Applied{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rx, p.tx, p.pool, p.config = cfg.RxQueues, cfg.TxQueues, cfg.Pool, cfg
	p.rxOn, p.txOn = applied.RxOffloads, applied.TxOffloads
	if p.secCtx == nil {
		p.secCtx = (*unsafe.Pointer)(C.calloc(1, C.size_t(unsafe.Sizeof(unsafe.Pointer(nil)))))
	}
	return applied, nil
}

func (cfg *PortConfig) defaults() {
	for _, queues := range []*int{&cfg.RxQueues, &cfg.TxQueues} {
		if *queues == 0 {
			*queues = 1
		}
	}
	for _, desc := range []*int{&cfg.RxDesc, &cfg.TxDesc} {
		if *desc == 0 {
			*desc = defaultDescriptors
		}
	}
}

func (cfg *PortConfig) check(info PortInfo) error {
	mtu := cfg.MTU
	if mtu == 0 {
		mtu = info.MTU
	}
	switch {
	case cfg.Pool == nil || cfg.Pool.c == nil:
		return fmt.Errorf("%w: no pool to receive into", ErrConfig)
	case cfg.RxQueues < 1 || cfg.RxQueues > info.MaxRxQueues:
		return fmt.Errorf("%w: %d receive queues, it has %d", ErrConfig, cfg.RxQueues, info.MaxRxQueues)
	case cfg.TxQueues < 1 || cfg.TxQueues > info.MaxTxQueues:
		return fmt.Errorf("%w: %d transmit queues, it has %d", ErrConfig, cfg.TxQueues, info.MaxTxQueues)
	case cfg.RxDesc < 1 || cfg.RxDesc > 65535 || cfg.TxDesc < 1 || cfg.TxDesc > 65535:
		return fmt.Errorf("%w: %d and %d descriptors, 1 to 65535 are possible", ErrConfig, cfg.RxDesc, cfg.TxDesc)
	case cfg.MTU != 0 && (cfg.MTU < max(info.MinMTU, 68) || cfg.MTU > info.MaxMTU):
		return fmt.Errorf("%w: MTU of %d octets, %d to %d are possible", ErrConfig, cfg.MTU, max(info.MinMTU, 68), info.MaxMTU)
	case cfg.Pool.DataRoom() < info.MinDataRoom:
		return fmt.Errorf("%w: buffers of %d octets (pool %s), the driver wants %d at least", ErrConfig, cfg.Pool.DataRoom(), cfg.Pool.Name(), info.MinDataRoom)
	case cfg.RxOffloads&RxScatter == 0 && cfg.Pool.DataRoom() < mtu+frameOverhead:
		return fmt.Errorf("%w: buffers of %d octets (pool %s) for an MTU of %d, which needs %d",
			ErrConfig, cfg.Pool.DataRoom(), cfg.Pool.Name(), mtu, mtu+frameOverhead)
	}
	return nil
}

// mask keeps what the port has of what is wanted, and names the rest.
func (cfg *PortConfig) mask(info PortInfo) Applied {
	a := Applied{
		RxOffloads: cfg.RxOffloads & info.RxOffloads,
		TxOffloads: cfg.TxOffloads & info.TxOffloads,
	}
	for _, name := range (cfg.RxOffloads &^ info.RxOffloads).RxNames() {
		a.Masked = append(a.Masked, "receive offload "+name)
	}
	for _, name := range (cfg.TxOffloads &^ info.TxOffloads).TxNames() {
		a.Masked = append(a.Masked, "transmit offload "+name)
	}
	if cfg.RSS && cfg.RxQueues > 1 {
		a.rss = info.rss & rssWanted
		a.RSS = rssNames(a.rss)
		if a.rss == 0 {
			a.Masked = append(a.Masked, "RSS")
		}
	}
	return a
}

// SetMTU sets the MTU in octets. Many drivers want the port stopped, and some
// cannot (ErrNotSupported).
func (p *Port) SetMTU(octets int) error {
	if octets < 68 || octets > 65535 {
		return fmt.Errorf("setting the MTU of port %s: %w: %d octets, 68 to 65535 are possible", p, ErrConfig, octets)
	}
	return p.call("setting the MTU of", func(id C.uint16_t) C.int {
		return C.pmd_port_set_mtu(id, C.uint16_t(octets))
	})
}

// MTU reads the port's MTU in octets.
func (p *Port) MTU() (int, error) {
	var mtu int
	err := p.call("reading the MTU of", func(id C.uint16_t) C.int {
		rc := C.pmd_port_mtu(id)
		mtu = int(rc)
		return rc
	})
	return mtu, err
}
