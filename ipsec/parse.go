package ipsec

import "espgw/ipsec/packet"

// parseReasons are the names, by direction, of what is wrong with a frame before
// any policy was asked.
type parseReasons struct{ malformed, unparsed, tooBig Reason }

var (
	outboundReasons = parseReasons{OutMalformed, OutUnparsed, OutTooBig}
	inboundReasons  = parseReasons{InMalformed, InUnparsed, InTooBig}
)

// parse parses the packet's frame. Where it is no sound IP packet, ip is false and
// the packet's fate is decided: a listed non-IP frame passes, all others are
// dropped. Frames of several buffers are larger than any MTU, to which the
// buffers are made.
func (w *worker) parse(l *lane, p *packetState, r *parseReasons) (frame []byte, ip bool) {
	if p.mbuf.Segments() > 1 {
		p.reason = r.tooBig
		return nil, false
	}
	m := &p.meta
	frame = p.mbuf.Buffer()[p.start:p.end]
	packet.Parse(frame, m)
	switch {
	case m.Fault == packet.OK && m.Kind != packet.Other:
		return frame, true
	case m.Fault == packet.Malformed:
		p.reason = r.malformed
	case m.Fault == packet.Unparsed || !w.gateway.config.Pass.passes(m):
		p.reason = r.unparsed
	case p.end-p.start-int(m.L3) > l.tx.mtu:
		p.reason = r.tooBig
	default:
		p.fate = fatePass
	}
	return frame, false
}
