package ipsec

import (
	"fmt"
	"time"

	"espgw/pmd"
	"espgw/sa"
)

// With INLINE_PROTOCOL ("packet offload") the device does all of ESP, and sequence
// numbers, IVs and the anti-replay window are its own. rte_security has no way to
// read them back, so espgw keeps bounds:
//
// Outbound, every packet that is given to the device takes a number here as it does
// there, so ours is never behind the device's. The device's hard limit keeps it
// within a reserve, which is extended before it is used up; whatever takes the SA
// over later goes on above the whole reserve.
//
// Inbound, the highest number that the device accepted is at least as many above the
// one it began with as packets came out of it. When the SA leaves the device,
// everything up to that and a window more counts as received: so many numbers may
// be lost, and are counted as the SA's window gap. What the network had lost beyond
// a window's length could be replayed once.
//
// Nothing of such an SA ever takes the way through software while the device has it:
// an attacker could make the device pass over a captured packet and software accept
// it again, and a packet sealed in software would repeat the device's nonce.

// reserveStep is how many sequence numbers a device may use before it needs more. Tests
// make it small.
var reserveStep uint64 = 1 << 22

// protocolConf completes the terms of an SA for INLINE_PROTOCOL.
func protocolConf(c *pmd.SessionConf, s *session, is *inlineSession) {
	c.Action = pmd.InlineProtocol
	c.UserData = userData(s)
	c.Stats = is.port.inline.device.counts(is.egress)
	if is.egress {
		is.base = s.sa.LastSent()
		is.end.Store(reserveEnd(s.sa))
		c.HardPackets = is.end.Load() - is.base
		c.SoftPackets = c.HardPackets - c.HardPackets/4
	} else {
		window := uint64(s.sa.Window())
		if !s.sa.Fresh() {
			// None of the numbers that the device's window begins with was accepted before.
			is.base = s.sa.Highest() + window
		}
		c.ReplayWindow = uint32(window)
	}
	c.Sequence = is.base
}

// reserveEnd is how far a device may number an SA's packets for now.
func reserveEnd(s *sa.SA) uint64 { return min(s.LastSent()+reserveStep, s.SendableTo()) }

// userData identifies a session in what a device delivers: its slot, and its place's
// number, so that a slot's next SA is not taken for it.
func userData(s *session) uint64 { return uint64(s.place.serial)<<32 | uint64(s.sa.Slot()) }

// leaveToDevice gives a packet with sequence number seq to the device, as it came.
func (p *packetState) leaveToDevice(is *inlineSession, seq uint64) {
	if !is.takes(&p.meta) || seq > is.end.Load() {
		p.fate, p.reason = fateDrop, OutEngineFailed
		return
	}
	p.end = p.start + int(p.meta.End)
	p.inline, p.seq = is, seq
}

// fromDevice deals with a packet that a device marks as one of ours, opened and
// without ESP, and that is no ESP any more.
func (w *worker) fromDevice(l *lane, p *packetState) {
	s, is := w.sessionMarked(l, p)
	if s == nil {
		p.reason = InEngineFailed
		return
	}
	p.sess = s
	if p.flags&marked != markedOpened {
		p.reason = InEngineFailed
		return
	}
	if p.reason = inboundReason(s.sa.CountIn(1, uint64(p.meta.IPLen()), w.now)); p.reason != ReasonNone {
		return
	}
	is.accepted.Add(1)
	w.admitInner(l, p, s, w.protocolOf(p))
}

// protocolOf is what stands behind the packet's headers.
func (w *worker) protocolOf(p *packetState) uint8 {
	return p.mbuf.Buffer()[p.start+int(p.meta.UpperNext)]
}

// sessionMarked is the session whose user data the device gave; nil where there is
// none that this device has.
func (w *worker) sessionMarked(l *lane, p *packetState) (*session, *inlineSession) {
	s := w.gateway.sessionOf(p.mbuf.SecurityUserData())
	if s == nil {
		return nil, nil
	}
	is := s.place.inline.Load()
	if is == nil || !is.protocol || is.egress || is.port != l.rx {
		return nil, nil
	}
	return s, is
}

// back makes it safe for anyone else to have the SA of a session.
func (is *inlineSession) back() {
	if !is.protocol {
		return
	}
	s := is.session
	if is.egress {
		s.sa.SkipOut(is.end.Load())
		return
	}
	n := is.accepted.Load()
	if n == 0 && is.base <= s.sa.Highest() {
		return // the device never accepted anything
	}
	window := uint64(s.sa.Window())
	s.place.gap.Add(window)
	s.sa.SkipIn(is.base + n + window)
}

// extend gives devices more sequence numbers where they have used half of theirs, and
// takes note of how far they have come inbound, so that a gateway that is killed does
// not begin below.
func (ip *inlinePort) extend() {
	ip.mu.Lock()
	defer ip.unlock()
	for _, is := range ip.tables[tableIngress].sessions {
		if is.protocol && is.session.place.inline.Load() == is {
			is.session.sa.SkipIn(is.base + is.accepted.Load())
		}
	}
	for _, is := range ip.tables[tableEgress].sessions {
		if !is.protocol || is.session.place.inline.Load() != is {
			continue
		}
		s := is.session.sa
		end := is.end.Load()
		next := reserveEnd(s)
		if end-min(end, s.LastSent()) > reserveStep/2 || next <= end {
			continue
		}
		hard := next - is.base
		if err := is.hw.UpdateLimits(hard-hard/4, hard, 0, 0); err != nil {
			ip.gateway.log.Warn("the device takes no more sequence numbers for an SA", "sa", s.String(), "error", err)
			ip.moveToSoftware(is, fmt.Sprintf("%s cannot extend its sequence numbers: %v", ip.port.Name, err))
			continue
		}
		is.end.Store(next)
	}
}

// countersPeriod is how often devices are asked what they have counted.
const countersPeriod = time.Second

// readCounters asks the device what it has counted for SAs of which it does all.
func (ip *inlinePort) readCounters() {
	if time.Since(ip.counted) < countersPeriod {
		return
	}
	ip.counted = time.Now()
	ip.mu.Lock()
	defer ip.unlock()
	for i := range ip.tables {
		for _, is := range ip.tables[i].sessions {
			if !is.protocol {
				continue
			}
			if s, err := is.hw.Stats(); err == nil {
				is.counters.Store(&s)
			}
		}
	}
}

// sessionOf finds the session that user data is of; nil where there is none.
func (g *Gateway) sessionOf(userData64 uint64) *session {
	slot := uint32(userData64)
	if int(slot) >= len(g.sessions) {
		return nil
	}
	if s := g.sessions[slot].Load(); s != nil && userData(s) == userData64 {
		return s
	}
	return nil
}

// partKeys takes SAs to software whose key has become another's, too: the device makes
// nonces of its own, which nobody compares with the other's.
func (ip *inlinePort) partKeys(shares func(*sa.SA) bool) {
	ip.mu.Lock()
	defer ip.unlock()
	for s, w := range ip.waiting {
		w.wish.sharesKey = w.wish.packet && shares(s.sa)
	}
	for i := range ip.tables {
		for _, is := range ip.tables[i].sessions {
			if is.protocol && is.session.place.inline.Load() == is && shares(is.session.sa) {
				ip.moveToSoftware(is, sharedKey)
			}
		}
	}
}

const sharedKey = "another SA has the same key, and the device makes nonces of its own"

// moveToSoftware takes an SA out of the device for good; ip.mu is held.
func (ip *inlinePort) moveToSoftware(is *inlineSession, why string) {
	is.back()
	is.session.place.software(why)
	ip.doomed = append(ip.doomed, is)
	ip.gateway.wakeInline()
}
