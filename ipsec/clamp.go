package ipsec

import (
	"espgw/ipsec/packet"
	"espgw/sa"
)

// The values of Config.MSSClamp that are not a segment size.
const (
	ClampAuto = 0  // from the MTU of the ports and the SA
	ClampOff  = -1 // segment sizes are left alone
)

const tcpHeaderLen = 20 // options count as data (RFC 9293, 3.7.1)

// clampOutbound lowers the segment size that a SYN of a protected host announces:
// what the peer sends has to fit when it comes back sealed, and the peer's SA and
// link are taken to be like this side's.
func (w *worker) clampOutbound(l *lane, frame []byte, m *packet.Meta, s *session) {
	switch c := w.gateway.config.MSSClamp; c {
	case ClampOff:
	case ClampAuto:
		clampTo(frame, m, min(s.innerMTU(l.tx.mtu, m, w.now), l.rx.mtu))
	default:
		packet.ClampMSS(frame, m, uint16(c))
	}
}

// clampInbound lowers the segment size that an opened SYN announces to a protected
// host: what that sends has to fit with the ESP of the SA that will carry it.
func (w *worker) clampInbound(l *lane, frame []byte, m *packet.Meta) {
	switch c := w.gateway.config.MSSClamp; c {
	case ClampOff:
	case ClampAuto:
		f := &m.Flow
		back := sa.Flow{Src: f.Dst, Dst: f.Src, SrcPort: f.DstPort, DstPort: f.SrcPort, Proto: f.Proto, V6: f.V6}
		inner := l.rx.mtu
		if d := w.gen.table.Outbound(&back); d.Verdict == sa.Protect {
			inner = w.gateway.session(d.SA).innerMTU(l.rx.mtu, m, w.now)
		}
		clampTo(frame, m, min(inner, l.tx.mtu))
	default:
		packet.ClampMSS(frame, m, uint16(c))
	}
}

// clampTo makes segments fit into IP packets of mtu octets with the headers of m.
func clampTo(frame []byte, m *packet.Meta, mtu int) {
	if mss := mtu - int(m.Upper-m.L3) - tcpHeaderLen; mss > 0 {
		packet.ClampMSS(frame, m, uint16(min(mss, 0xffff)))
	}
}

// isSYN says whether a whole TCP packet opens a connection.
func isSYN(frame []byte, m *packet.Meta) bool {
	at := int(m.Upper) + 13
	return m.Flow.Proto == packet.ProtoTCP && m.Flow.Frag == sa.FragNone && at < int(m.End) && frame[at]&2 != 0
}
