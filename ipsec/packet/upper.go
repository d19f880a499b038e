package packet

import (
	"encoding/binary"

	"espgw/sa"
)

// Upper-layer protocols of which the SPD knows ports or type and code (IANA
// protocol numbers), and ESP.
const (
	ProtoICMP    = 1
	ProtoTCP     = 6
	ProtoUDP     = 17
	ProtoDCCP    = 33
	ProtoESP     = 50
	ProtoICMPv6  = 58
	ProtoNone    = 59 // no next header; inside ESP, a dummy packet
	ProtoSCTP    = 132
	ProtoUDPLite = 136
)

// ports fills the flow's ports from the header at m.Upper; p ends where the IP
// packet ends. A whole packet that is too short to have ports keeps zeros, as
// in the kernel: it carries nothing that a port policy could be about. A first
// fragment that is too short is malformed, since its ports follow in a later one.
func ports(p []byte, m *Meta) {
	if m.Flow.Frag == sa.FragLater {
		return
	}
	u := p[m.Upper:]
	switch m.Flow.Proto {
	case ProtoTCP, ProtoUDP, ProtoDCCP, ProtoSCTP, ProtoUDPLite:
		if len(u) >= 4 {
			m.Flow.SrcPort = binary.BigEndian.Uint16(u)
			m.Flow.DstPort = binary.BigEndian.Uint16(u[2:])
			return
		}
	case icmpOf(m.Kind):
		if len(u) >= 2 {
			m.Flow.SrcPort, m.Flow.DstPort = uint16(u[0]), uint16(u[1])
			return
		}
	default:
		return
	}
	if m.Flow.Frag == sa.FragFirst {
		m.Fault = Malformed
	}
}

func icmpOf(k Kind) uint8 {
	if k == IPv4 {
		return ProtoICMP
	}
	return ProtoICMPv6
}
