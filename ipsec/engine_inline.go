package ipsec

import (
	"espgw/ipsec/esp"
	"espgw/ipsec/packet"
	"espgw/pmd"
	"espgw/sa"
)

// The inline engine: the device seals what is sent and opens what is received.
// With inline crypto espgw makes the whole ESP packet, so numbers, windows and
// framing are those of the Go engine, and any packet of the SA can be sealed or
// opened by either.

// takes says whether the device processes a packet that looks like this; *m is
// what packet.Parse said about it.
func (is *inlineSession) takes(m *packet.Meta) bool {
	if m.Tags > 0 && is.noTagged {
		return false
	}
	if m.Kind == packet.IPv4 {
		return m.Insert == m.L3+ip4HeaderLen || !is.noOptions
	}
	return m.Insert == m.L3+ip6HeaderLen || !is.noExtensions
}

// Lengths of IP headers without options (RFC 791, 3.1; RFC 8200, section 3).
const (
	ip4HeaderLen = 20
	ip6HeaderLen = 40
)

// prepareInline leaves a framed packet to the device: its ICV is zero (Intel X550
// datasheet, 7.13.6.1), and so is the IPv4 header checksum where the device fills
// it in.
func (p *packetState) prepareInline(is *inlineSession, buf []byte, o *esp.Offsets, seq uint64) {
	p.inline, p.seq = is, seq
	clear(buf[o.ICV:p.end])
	if is.ipChecksum && p.meta.Kind == packet.IPv4 {
		at := p.start + int(p.meta.L3) + ip4ChecksumAt
		buf[at], buf[at+1] = 0, 0
	}
}

const ip4ChecksumAt = 10

// secured is how the lane has to mark a packet for the device.
func (p *packetState) secured() pmd.Secured {
	m := &p.meta
	return pmd.Secured{
		L2: int(m.L3), L3: int(m.Insert - m.L3),
		V6: m.Kind == packet.IPv6, IPChecksum: p.inline.ipChecksum,
	}
}

// The marks of a device on what it received.
const (
	marked       = pmd.FlagRxSecOffload | pmd.FlagRxSecOffloadFailed
	markedOpened = pmd.FlagRxSecOffload
)

// openedByDevice deals with an ESP packet that a device has marked: opened in
// place, or with a wrong ICV. It is false for a packet without marks, which is
// still encrypted: unknown to the device, or one that it leaves to software.
//
// Marks of a device that does not have the SA are not believed: they may be about
// another SA, which had this one's place before.
func (w *worker) openedByDevice(l *lane, p *packetState, s *session, offsets *esp.Offsets, seq uint64) bool {
	marks := p.flags & marked
	if marks == 0 {
		return false
	}
	switch {
	case s.place.marks.Load() != int32(l.rx.id())+1:
		p.reason = InEngineFailed
	case marks != markedOpened:
		p.reason = InAuthFailed
	default:
		p.fate, p.opened = fateCrypt, true
		p.job = addTo(&w.opened, s, p.mbuf.Buffer(), offsets, seq)
	}
	return true
}

// jobOf is the packet's job: the engine's, or one that the device had done.
func (w *worker) jobOf(p *packetState) *job {
	if p.opened {
		return &w.opened[p.job]
	}
	return &w.jobs[p.job]
}

// wishesInline says whether an SA is to be in a device, of which name (empty: any)
// and whether all of ESP is to be done there.
func (g *Gateway) wishesInline(s *sa.SA) (wish inlineWish, ok bool) {
	if g.config.Offload == OffloadOff {
		return inlineWish{}, false
	}
	if o := s.Params().Offload; o != nil {
		return inlineWish{dev: o.Dev, packet: o.Depth == sa.OffloadPacket, asked: true}, true
	}
	return inlineWish{}, g.config.Offload == OffloadAll
}

// inlineWish is what an SA asks of devices.
type inlineWish struct {
	dev    string // name of the port; empty: any
	packet bool   // INLINE_PROTOCOL, else INLINE_CRYPTO
	asked  bool   // by the SA itself, not by --offload all
	// sharesKey says that another SA has the same key.
	sharesKey bool
}
