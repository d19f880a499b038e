package ipsec

import (
	"encoding/binary"
	"errors"

	"espgw/ipsec/esp"
	"espgw/ipsec/packet"
	"espgw/pmd"
	"espgw/sa"
)

// inbound takes a burst from the unprotected side:
//
//  1. classify: parse; ESP is looked up in the SAD and its sequence number
//     checked, everything else is put to the inbound policies;
//  2. open: the engine verifies and decrypts all ESP of the burst that a device has
//     not;
//  3. accept: what was authentic moves the window, loses its ESP header and
//     trailer, and is put to the policies with what was inside;
//  4. finish: send or drop, in the order of arrival.
//
// Nothing of an SA changes before the ICV was found right (RFC 4303, 3.4.3).
func (w *worker) inbound(l *lane, burst []*pmd.Mbuf) {
	packets := w.begin(burst)
	for i := range packets {
		w.classifyInbound(l, &packets[i])
	}
	if len(w.jobs) > 0 {
		w.engine.open(w.jobs)
	}
	if len(w.jobs)+len(w.opened) > 0 {
		for i := range packets {
			if p := &packets[i]; p.fate == fateCrypt {
				w.accept(l, p)
			}
		}
		w.flushAccepted()
	}
	w.finish(l)
}

// classifyInbound decides what one packet is; ESP for an SA becomes a job.
func (w *worker) classifyInbound(l *lane, p *packetState) {
	frame, ip := w.parse(l, p, &inboundReasons)
	m := &p.meta
	switch {
	case !ip:
	case p.flags&marked != 0 && m.Flow.Proto != sa.ProtoESP && l.rx.inline != nil:
		w.fromDevice(l, p)
	case m.Flow.Proto == sa.ProtoESP:
		w.classifyESP(l, p, false)
	case m.Flow.Proto == packet.ProtoICMP || m.Flow.Proto == packet.ProtoICMPv6:
		w.classifyICMP(l, p, frame)
	case m.Flow.Proto == packet.ProtoUDP && w.gen.encapPorts.has(m.Flow.DstPort) && m.Flow.Frag == sa.FragNone:
		w.classifyEncapsulated(l, p, frame)
	default:
		w.clear(l, p)
	}
}

// classifyEncapsulated tells what UDP on a port of RFC 3948 carries.
func (w *worker) classifyEncapsulated(l *lane, p *packetState, frame []byte) {
	switch esp.Encapsulated(frame, &p.meta) {
	case esp.Keepalive:
		p.reason = Keepalive
	case esp.ESP:
		w.classifyESP(l, p, true)
	case esp.Malformed:
		w.unlessAllowed(l, p, InMalformed)
	default: // IKE
		w.clear(l, p)
	}
}

// classifyESP finds the SA and checks what can be checked before the ICV.
func (w *worker) classifyESP(l *lane, p *packetState, encapsulated bool) {
	m := &p.meta
	buf := p.mbuf.Buffer()
	if m.Flow.Frag != sa.FragNone {
		w.unlessAllowed(l, p, InFragment)
		return
	}
	spi, ok := esp.SPIAt(buf[p.start:p.end], m, encapsulated)
	if !ok {
		p.reason = InMalformed
		return
	}
	s := w.inboundSession(&m.Flow, spi)
	if s == nil {
		w.unlessAllowed(l, p, InNoState)
		return
	}
	state := s.sa
	p.sess = s
	if !opens(state.Dir()) || s.transform.Encap != encapsulated {
		p.reason = InStateMismatch
		return
	}
	if is := s.place.inline.Load(); is != nil && is.protocol {
		p.reason = InEngineFailed // the device did not process it, and nobody else may
		return
	}
	offsets, seqLow, err := s.transform.Locate(buf, p.start, m)
	if err != nil {
		p.reason = InMalformed
		return
	}
	if s.reflected(binary.BigEndian.Uint64(buf[offsets.ESP+esp.HeaderLen:]), seqLow) {
		p.reason = InStateMismatch
		return
	}
	seq, admission := state.CheckIn(seqLow)
	if p.reason = inboundReason(admission); p.reason != ReasonNone {
		return
	}
	if w.openedByDevice(l, p, s, &offsets, seq) {
		return
	}
	p.fate = fateCrypt
	w.addJob(p, s, buf, &offsets, seq)
}

// foundSA is the SA that the last ESP packet of a burst was for.
type foundSA struct {
	session *session
	dst     sa.Addr
	spi     uint32
	v6      bool
}

// inboundSession finds the SA of an ESP packet: mostly that of the one before.
func (w *worker) inboundSession(f *sa.Flow, spi uint32) *session {
	found := &w.found
	if found.session != nil && found.spi == spi && found.dst == f.Dst && found.v6 == f.V6 {
		return found.session
	}
	state := w.gen.table.Inbound(f.Dst, f.V6, spi)
	if state == nil {
		return nil
	}
	*found = foundSA{w.gateway.session(state), f.Dst, spi, f.V6}
	return found.session
}

// unlessAllowed drops ESP that is not for an SA here, unless a policy lets the
// hosts' own ESP through by name.
func (w *worker) unlessAllowed(l *lane, p *packetState, r Reason) {
	if w.gen.table.AllowsClearESP(&p.meta.Flow) {
		w.clear(l, p)
		return
	}
	p.reason = r
}

// opens says whether the unprotected port opens ESP of SAs of this direction. An
// outbound SA is not opened: that would accept our own packets when an attacker
// reflects them.
func opens(d sa.Direction) bool { return d == sa.DirIn || d == sa.DirNone }

func inboundReason(a sa.Admission) Reason {
	switch a {
	case sa.OK:
		return ReasonNone
	case sa.ReplayOld:
		return InReplayOld
	case sa.ReplayDuplicate:
		return InReplayDuplicate
	case sa.StateExpired:
		return InStateExpired
	default:
		return InStateMismatch
	}
}

// accept finishes one packet that the engine has looked at.
func (w *worker) accept(l *lane, p *packetState) {
	j := w.jobOf(p)
	s := p.sess
	p.fate = fateDrop
	if j.err != nil {
		p.reason = InEngineFailed
		if errors.Is(j.err, esp.ErrAuth) {
			p.reason = InAuthFailed
		}
		return
	}
	start, end, nextHeader, unwrapErr := s.transform.Unwrap(j.buf, p.start, &p.meta, j.offsets)
	bytes := 0
	if unwrapErr == nil {
		bytes = end - start - int(p.meta.L3)
	}
	// Authentic: the window moves whatever is inside, dummies included.
	if p.reason = inboundReason(w.commit(s, j.seq, uint64(bytes))); p.reason != ReasonNone {
		return
	}
	if unwrapErr != nil {
		p.reason = InBadTrailer
		if errors.Is(unwrapErr, esp.ErrDummy) {
			p.reason = InDummy
		}
		return
	}
	p.start, p.end = start, end
	w.admitInner(l, p, s, nextHeader)
}

// commit moves the window and counts the packet. Without limits, neighbours of
// one SA are counted together at the end of their run.
func (w *worker) commit(s *session, seq, bytes uint64) sa.Admission {
	if s.sa.Limited() {
		return s.sa.CommitIn(seq, bytes, w.now)
	}
	if s.sa.Expired() {
		return sa.StateExpired
	}
	if why := s.sa.MarkIn(seq); why != sa.OK {
		return why
	}
	if s != w.accepted.session {
		w.flushAccepted()
		w.accepted.session = s
	}
	w.accepted.packets++
	w.accepted.bytes += bytes
	return sa.OK
}

func (w *worker) flushAccepted() {
	if o := &w.accepted; o.session != nil {
		o.session.sa.CountIn(o.packets, o.bytes, w.now)
		*o = acceptedRun{}
	}
}

// acceptedRun is a run of accepted packets of one SA that are not counted yet.
type acceptedRun struct {
	session *session
	packets int
	bytes   uint64
}

// admitInner puts what was inside to the SA's selector and the policies.
func (w *worker) admitInner(l *lane, p *packetState, s *session, nextHeader uint8) {
	m := &p.meta
	frame := p.mbuf.Buffer()[p.start:p.end]
	m.End = int32(p.end - p.start)
	packet.ParseUpper(frame, nextHeader, m)
	if m.Fault != packet.OK {
		p.reason = InMalformed
		return
	}
	if s.transform.Encap {
		packet.MendChecksum(frame, m)
	}
	w.admit(l, p, w.gen.table.InboundESPMemo(&m.Flow, s.sa, &w.memo), fateCrypt)
	if p.fate == fateCrypt && isSYN(frame, m) {
		w.clampInbound(l, frame, m)
	}
}

// clear puts a packet that is no ESP of ours to the inbound policies.
func (w *worker) clear(l *lane, p *packetState) {
	w.admit(l, p, w.gen.table.InboundClear(&p.meta.Flow), fatePass)
}

// admit carries out what the inbound policies decided.
func (w *worker) admit(l *lane, p *packetState, d sa.Decision, passed fate) {
	w.match(d.Policy)
	switch d.Verdict {
	case sa.Pass:
		if p.meta.IPLen() > l.tx.mtu {
			p.reason = InTooBig
			return
		}
		p.fate = passed
	case sa.StateMismatch:
		p.reason = InStateMismatch
	case sa.Block:
		p.reason = InPolicyBlock
	case sa.Fragmented:
		p.reason = InFragment
	default:
		p.reason = InPolicyMismatch
	}
}
