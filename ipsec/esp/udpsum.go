package esp

import (
	"encoding/binary"

	"espgw/ipsec/packet"
)

// NeedsChecksum says that a sealed packet still wants PutChecksum: in UDP over
// IPv6 a zero checksum is for receivers that agreed to it (RFC 6935), and Linux
// drops it.
func (t *Transform) NeedsChecksum(m *packet.Meta) bool { return t.Encap && m.Kind == packet.IPv6 }

// PutChecksum computes the checksum of the UDP header in front of a sealed ESP
// packet over IPv6 (RFC 8200, 8.1). start, m and o are what Wrap returned and was
// given; behind a routing header the IPv6 header's destination is not the one
// that counts, and the checksum stays 0.
func (t *Transform) PutChecksum(buf []byte, start int, m *packet.Meta, o Offsets) {
	if m.Routed() {
		return
	}
	addresses := buf[start+int(m.L3)+8 : start+int(m.L3)+40]
	datagram := buf[o.ESP-UDPHeaderLen : o.ICV+t.ICVLen]
	datagram[6], datagram[7] = 0, 0
	sum := packet.AddSums(packet.ProtoUDP, uint16(len(datagram)))
	sum = packet.AddSums(sum, packet.Sum(addresses))
	sum = ^packet.AddSums(sum, packet.Sum(datagram))
	if sum == 0 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(datagram[6:], sum)
}
