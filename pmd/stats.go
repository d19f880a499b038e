package pmd

// #include <stdlib.h>
// #include "pmd.h"
import "C"

import (
	"unsafe"
)

// Stats are a port's own counters (rte_eth_stats); what a driver does not count
// stays 0, and whether octets include the FCS is the driver's choice.
type Stats struct {
	RxPackets, TxPackets uint64
	RxBytes, TxBytes     uint64
	RxMissed             uint64 // lost because a receive queue was full
	RxErrors, TxErrors   uint64
	RxNoBuffer           uint64 // lost because the pool was empty
}

// XStat is one of a driver's extended statistics.
type XStat struct {
	Name  string
	Value uint64
}

// Link is the state of a port's link.
type Link struct {
	Up         bool
	SpeedMbps  uint32 // 0 when it is down or has no speed, 4294967295 when not known
	FullDuplex bool
	Autoneg    bool
}

// Link reads the state of the link without waiting.
func (p *Port) Link() (Link, error) {
	var c C.struct_pmd_link
	err := p.call("reading the link of", func(id C.uint16_t) C.int { return C.pmd_port_link(id, &c) })
	return Link{Up: c.up != 0, SpeedMbps: uint32(c.speed), FullDuplex: c.full_duplex != 0, Autoneg: c.autoneg != 0}, err
}

// SetLink takes the link up or down; drivers of virtual ports often cannot
// (ErrNotSupported).
func (p *Port) SetLink(up bool) error {
	flag := C.int(0)
	if up {
		flag = 1
	}
	return p.call("setting the link of", func(id C.uint16_t) C.int { return C.pmd_port_set_link(id, flag) })
}

// Stats reads the port's counters; zeros when the port is closed or has none.
func (p *Port) Stats() (Stats, error) {
	var c C.struct_pmd_stats
	err := p.call("reading counters of", func(id C.uint16_t) C.int { return C.pmd_port_stats(id, &c) })
	return Stats{
		RxPackets:  uint64(c.rx_packets),
		TxPackets:  uint64(c.tx_packets),
		RxBytes:    uint64(c.rx_bytes),
		TxBytes:    uint64(c.tx_bytes),
		RxMissed:   uint64(c.rx_missed),
		RxErrors:   uint64(c.rx_errors),
		TxErrors:   uint64(c.tx_errors),
		RxNoBuffer: uint64(c.rx_no_buffer),
	}, err
}

// XStats reads the driver's extended statistics, in the driver's order.
func (p *Port) XStats() ([]XStat, error) {
	var list []XStat
	err := p.call("reading extended statistics of", func(id C.uint16_t) C.int {
		n := C.pmd_port_xstats_count(id)
		if n <= 0 {
			return n
		}
		names := (*[64]C.char)(C.calloc(C.size_t(n), 64))
		values := make([]C.uint64_t, n)
		defer C.free(unsafe.Pointer(names))
		n = C.pmd_port_xstats(id, n, names, &values[0])
		for i := range int(max(n, 0)) {
			name := &unsafe.Slice(names, n)[i][0]
			list = append(list, XStat{Name: C.GoString(name), Value: uint64(values[i])})
		}
		return n
	})
	return list, err
}

// ResetStats sets the port's counters to zero where the driver can.
func (p *Port) ResetStats() error {
	return p.call("resetting counters of", func(id C.uint16_t) C.int { return C.pmd_port_stats_reset(id) })
}
