package ipsec

import (
	"strings"
	"sync/atomic"

	"espgw/pmd"
)

// Side names a port's side of its pair (RFC 4301, 3.1).
type Side string

// The sides.
const (
	Protected   Side = "protected"
	Unprotected Side = "unprotected"
)

// PortConfig is one port of a pair.
type PortConfig struct {
	Port *pmd.Port // configured and started by the caller
	Name string    // what `offload dev NAME` and listings call it
	MTU  int       // largest IP packet, in octets
}

// Pair is a protected and an unprotected port, joined by the gateway.
type Pair struct{ Protected, Unprotected PortConfig }

// port is the gateway's view of a port.
type port struct {
	PortConfig
	side         Side
	mtu          int
	kernelBacked bool // a kernel behind it may leave transport checksums unfinished
	up           atomic.Bool
	state        atomic.Uint32 // portRuns and others
	ipChecksum   bool          // its device fills in IPv4 header checksums of what it seals
	// inline is what the device has of our SAs; nil, and why, where there is nothing
	// of that kind.
	inline       *inlinePort
	whyNotInline string
}

// kernelDrivers are the drivers behind which a kernel, or a capture of one,
// may be: there checksums that the kernel left to hardware are finished.
var kernelDrivers = []string{"net_af_packet", "net_af_xdp", "net_tap", "net_pcap", "net_vhost", "net_virtio"}

func newPort(c PortConfig, side Side) *port {
	p := &port{PortConfig: c, side: side, mtu: c.MTU}
	info := c.Port.Info()
	p.kernelBacked = info.UnmarkedChecksums
	for _, name := range kernelDrivers {
		if strings.HasPrefix(info.Driver, name) {
			p.kernelBacked = true
		}
	}
	_, tx := c.Port.Offloads()
	p.ipChecksum = tx&pmd.TxIPv4Checksum != 0
	p.refreshLink()
	return p
}

// refreshLink reads the link state; it reports whether it changed.
func (p *port) refreshLink() bool {
	up := p.linkUp()
	return p.up.Swap(up) != up
}

// linkUp asks the device.
func (p *port) linkUp() bool {
	link, err := p.Port.Link()
	return err == nil && link.Up
}

// unsendable returns why nothing can leave by this port now, or ReasonNone.
func (p *port) unsendable() Reason {
	switch {
	case p.state.Load() == portRestarting:
		return TxPortRestarting
	case p.state.Load() == portGone || !p.up.Load():
		return TxLinkDown
	}
	return ReasonNone
}

// reasonUnsent is the reason of packets that the port would not take.
func (p *port) reasonUnsent() Reason {
	if r := p.unsendable(); r != ReasonNone {
		return r
	}
	return TxFull
}
