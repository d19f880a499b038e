package ipsec

import (
	"errors"

	"espgw/ipsec/esp"
	"espgw/ipsec/packet"
	"espgw/pmd"
	"espgw/sa"
)

// outbound takes a burst from the protected side:
//
//  1. classify: parse, finish the transport checksum, ask the SPD;
//  2. frame: neighbours of one SA form a run that takes its sequence numbers
//     together, then each packet gets its ESP header and trailer;
//  3. seal: the engine encrypts all of them that no device will;
//  4. finish: send or drop, in the order of arrival.
func (w *worker) outbound(l *lane, burst []*pmd.Mbuf) {
	packets := w.begin(burst)
	for i := range packets {
		w.classifyOutbound(l, &packets[i])
	}
	for i := 0; i < len(packets); {
		if packets[i].fate != fateCrypt {
			i++
			continue
		}
		end := runEnd(packets, i)
		w.frame(l, packets[i:end])
		i = end
	}
	if len(w.jobs) > 0 {
		w.engine.seal(w.jobs)
		for i := range packets {
			if p := &packets[i]; p.fate == fateCrypt && p.inline == nil {
				w.finishSealed(p)
			}
		}
	}
	w.finish(l)
}

// classifyOutbound decides what becomes of one packet; a protected one has its
// session set.
func (w *worker) classifyOutbound(l *lane, p *packetState) {
	frame, ip := w.parse(l, p, &outboundReasons)
	if !ip {
		return
	}
	m := &p.meta
	if l.rx.kernelBacked && m.Flow.Frag == sa.FragNone && !packet.FinishChecksum(frame, m) {
		p.reason = OutUnfinishedChecksum
		return
	}
	p.length = m.IPLen()
	d := w.gen.table.OutboundMemo(&m.Flow, &w.memo)
	w.match(d.Policy)
	switch d.Verdict {
	case sa.Pass:
		if p.length > l.tx.mtu {
			p.tooBig(l.tx.mtu)
			return
		}
		p.fate = fatePass
	case sa.Protect:
		s := w.gateway.session(d.SA)
		p.sess = s
		if p.length+s.transform.Overhead(m) > s.pathMTU.limit(l.tx.mtu, w.now) {
			p.tooBig(min(s.innerMTU(l.tx.mtu, m, w.now), l.rx.mtu))
			return
		}
		p.fate = fateCrypt
		if isSYN(frame, m) {
			w.clampOutbound(l, frame, m, s)
		}
	case sa.Block:
		p.reason = OutPolicyBlock
	case sa.Expired:
		p.reason = OutStateExpired
	case sa.Fragmented:
		p.reason = OutFragment
	default:
		p.reason = OutNoState
	}
}

// runEnd returns the end of the run that starts at i: neighbours of one SA.
// Packets of an SA with byte or packet limits go one by one, so that the limit
// is exact.
func runEnd(packets []packetState, i int) int {
	s := packets[i].sess
	end := i + 1
	if s.sa.Limited() {
		return end
	}
	for end < len(packets) && packets[end].fate == fateCrypt && packets[end].sess == s {
		end++
	}
	return end
}

// frame reserves the sequence numbers of a run and frames its packets.
func (w *worker) frame(l *lane, run []packetState) {
	s := run[0].sess
	is, ok := s.egressOn(l.tx)
	if !ok {
		refuse(run, OutEngineFailed)
		return
	}
	bytes := uint64(0)
	for i := range run {
		bytes += uint64(run[i].length)
	}
	first, admitted, why := s.sa.ReserveOut(len(run), bytes, w.now)
	if 0 < admitted && admitted < len(run) {
		bytes = 0
		for i := range run[:admitted] {
			bytes += uint64(run[i].length)
		}
		s.sa.AddBytes(bytes)
	}
	for i := range run {
		p := &run[i]
		if i >= admitted {
			p.fate, p.reason = fateDrop, outboundReason(why)
			continue
		}
		if is != nil && is.protocol {
			p.leaveToDevice(is, first+uint64(i))
			continue
		}
		w.frameOne(p, s, is, first+uint64(i))
	}
}

// refuse drops a run.
func refuse(run []packetState, r Reason) {
	for i := range run {
		run[i].fate, run[i].reason = fateDrop, r
	}
}

func outboundReason(why sa.Admission) Reason {
	switch why {
	case sa.StateExpired:
		return OutStateExpired
	case sa.NoReserve:
		return OutNoReserve
	default:
		return OutSequenceExhausted
	}
}

// finishSealed does what can only be done with the ciphertext there.
func (w *worker) finishSealed(p *packetState) {
	j := &w.jobs[p.job]
	if j.err != nil {
		p.fate, p.reason = fateDrop, OutEngineFailed
		return
	}
	if t := &p.sess.transform; t.NeedsChecksum(&p.meta) {
		t.PutChecksum(j.buf, p.start, &p.meta, j.offsets)
	}
}

// frameOne frames a packet and gives it to the engine, or leaves it to the device
// where is is not nil and it takes such packets.
func (w *worker) frameOne(p *packetState, s *session, is *inlineSession, seq uint64) {
	buf := p.mbuf.Buffer()
	start, end, offsets, err := s.transform.Wrap(buf, p.start, p.end, &p.meta, seq)
	if err != nil {
		p.fate, p.reason = fateDrop, OutTooBig
		if !errors.Is(err, esp.ErrNoRoom) && !errors.Is(err, esp.ErrTooLong) {
			p.reason = OutMalformed
		}
		return
	}
	p.start, p.end = start, end
	if is != nil && is.takes(&p.meta) && !s.transform.NeedsChecksum(&p.meta) {
		p.prepareInline(is, buf, &offsets, seq)
		return
	}
	w.addJob(p, s, buf, &offsets, seq)
}
