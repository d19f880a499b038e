package ipsec

import (
	"sync/atomic"
	"time"

	"espgw/ipsec/packet"
	"espgw/sa"
)

// The least path MTU that is believed: below, nothing can be gained by an honest
// router (RFC 791 has hosts take 576 octets; RFC 8200, section 5).
const (
	leastPathMTU4 = 576
	leastPathMTU6 = 1280
)

// pathMTULife is how long a learnt path MTU holds (RFC 1191, 6.3).
const pathMTULife = 10 * time.Minute

// believedLag is how far behind the last packet sent a packet may be that an ICMP
// error quotes: who makes one up has to know the sequence numbers of now.
const believedLag = 1 << 20

// pathMTU is what an SA's packets have met on their way, by ICMP errors about
// them. SAs that replace each other share it.
type pathMTU struct {
	octets atomic.Int64 // of the sealed IP packet; 0: nothing learnt
	until  atomic.Int64 // Unix nanoseconds
	news   atomic.Bool  // not logged yet
}

// limit is the largest sealed packet that may leave by a link of that MTU.
func (p *pathMTU) limit(linkMTU int, now int64) int {
	n := int(p.octets.Load())
	if n == 0 || n >= linkMTU || now >= p.until.Load() {
		return linkMTU
	}
	return n
}

// learn takes in an MTU; it reports whether that changes anything.
func (p *pathMTU) learn(octets, linkMTU int, now int64) bool {
	if octets >= linkMTU {
		return false
	}
	lower := octets < p.limit(linkMTU, now)
	if lower {
		p.octets.Store(int64(octets))
	} else if octets > p.limit(linkMTU, now) {
		return false // an older packet, or another path
	}
	p.until.Store(now + int64(pathMTULife))
	if lower {
		p.news.Store(true)
	}
	return lower
}

// innerMTU is the largest IP packet with the headers of m that fits, sealed, a link
// of that MTU and what is known of the path.
func (s *session) innerMTU(linkMTU int, m *packet.Meta, now int64) int {
	return s.transform.InnerMTU(s.pathMTU.limit(linkMTU, now), int(m.Insert-m.L3))
}

// classifyICMP decides about an ICMP packet that came in clear. An error about our
// own ESP says nothing to the host, which never saw that packet, so it ends here:
// a path MTU is noted, so that hosts are told, and everything else is counted.
// Nobody has authenticated it. It is believed only where it quotes a packet of the
// last million of an SA that sends, never below what any path carries, and never
// for long (RFC 4301, section 8.2; RFC 5927, section 7). What is about other ESP is
// put to the policies.
func (w *worker) classifyICMP(l *lane, p *packetState, frame []byte) {
	q := &w.quoted
	kind := packet.AboutESP(frame, &p.meta, q)
	if kind == packet.NotAbout {
		w.clear(l, p)
		return
	}
	s := w.sessionQuoted(q)
	if s == nil {
		w.clear(l, p)
		return
	}
	switch {
	case kind == packet.BadChecksum:
		p.reason = InMalformed
	case kind != packet.PathMTU || q.MTU == 0 || !s.sentLately(q.Sequence):
		p.reason = InESPError
	default:
		p.reason = InPathMTU
		least := leastPathMTU4
		if q.V6 {
			least = leastPathMTU6
		}
		if w.gateway.config.LearnPathMTU && s.pathMTU.learn(max(q.MTU, least), l.rx.mtu, w.now) {
			w.gateway.pathMTUNews.Store(true)
		}
	}
}

// sessionQuoted is that of the SA which sent the quoted packet, if it is ours.
func (w *worker) sessionQuoted(q *packet.QuotedESP) *session {
	state := w.gen.table.Inbound(q.Dst, q.V6, q.SPI)
	if state == nil || state.Dir() != sa.DirOut || state.Source() != q.Src {
		return nil
	}
	s := w.gateway.session(state)
	t := &s.transform
	if t.Encap != q.Encap || t.Encap && (t.EncapSrc != q.SrcPort || t.EncapDst != q.DstPort) {
		return nil
	}
	return s
}

func (s *session) sentLately(sequence uint32) bool {
	last := s.sa.LastSent()
	lag := uint32(last) - sequence
	return uint64(lag) < min(last, believedLag)
}

// mtuOf is the largest IP packet, with no options, that leaves sealed by every
// unprotected port, and the path MTU that was learnt, or 0.
func (g *Gateway) mtuOf(s *session) (inner, path int) {
	now := time.Now().UnixNano()
	outer := 0
	for _, p := range g.ports {
		if p.side == Unprotected && (outer == 0 || p.mtu < outer) {
			outer = p.mtu
		}
	}
	limit := s.pathMTU.limit(outer, now)
	if limit < outer {
		path = limit
	}
	headers := 20
	if s.sa.V6() {
		headers = 40
	}
	return s.transform.InnerMTU(limit, headers), path
}
