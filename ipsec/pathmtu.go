package ipsec

import (
	"sync/atomic"
	"time"

	"espgw/ipsec/esp"
	"espgw/ipsec/packet"
	"espgw/sa"
)

// The least that hosts are told that a path carries, whatever an ICMP error says:
// what every host takes over IPv4 (RFC 791, 3.1; Linux goes no lower than 552), and
// below what no host goes over IPv6 (RFC 8201, section 4).
const (
	leastInner4 = 576
	leastInner6 = 1280
)

// pathMTULife is how long a learnt path MTU holds (RFC 1191, 6.3).
const pathMTULife = 10 * time.Minute

// believedTime is how old the packet that an ICMP error quotes may be, and up to
// twice that: who makes one up has to know the sequence numbers of now.
const believedTime = 10 * time.Second

// pathMTU is what an SA's packets have met on their way, by ICMP errors about
// them. SAs that replace each other share it.
type pathMTU struct {
	octets atomic.Int64 // of the sealed IP packet; 0: nothing learnt
	until  atomic.Int64 // Unix nanoseconds
	news   atomic.Bool  // not logged yet
	least  int          // octets: what is not believed to be too big for any path
	// The last sequence numbers sent one believedTime ago, or less, and two.
	recent, old atomic.Uint64
}

// newPathMTU is that of an SA which a transaction adds.
func newPathMTU(state *sa.SA, t *esp.Transform) *pathMTU {
	headers, inner := 20, leastInner4
	if state.V6() {
		headers, inner = 40, leastInner6
	}
	p := &pathMTU{least: inner}
	for t.InnerMTU(p.least, headers) < inner {
		p.least++
	}
	p.recent.Store(state.ResumesAfter())
	p.old.Store(state.ResumesAfter())
	return p
}

// limit is the largest sealed packet that may leave by a link of that MTU.
func (p *pathMTU) limit(linkMTU int, now int64) int {
	n := int(p.octets.Load())
	if n == 0 || n >= linkMTU || now >= p.until.Load() {
		return linkMTU
	}
	return n
}

// learn takes in an MTU; it reports whether that lowers what was known.
func (p *pathMTU) learn(octets, linkMTU int, now int64) bool {
	octets = max(octets, p.least)
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
// Nobody has authenticated it. It is believed only where it quotes a packet that an
// SA sent lately, never below what any path carries, and never for long (RFC 4301,
// section 8.2; RFC 5927, section 7). What is about other ESP is put to the policies.
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
		if w.gateway.config.LearnPathMTU && s.pathMTU.learn(q.MTU, l.rx.mtu, w.now) {
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
	lag := uint32(last) - sequence // the high half is not in the packet
	return uint64(lag) < last-min(s.pathMTU.old.Load(), last)
}

// agePathMTUs moves on what counts as lately.
func (g *Gateway) agePathMTUs() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.sessions {
		if s := g.sessions[i].Load(); s != nil && s.sa.Dir() == sa.DirOut {
			s.pathMTU.old.Store(s.pathMTU.recent.Load())
			s.pathMTU.recent.Store(s.sa.LastSent())
		}
	}
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
