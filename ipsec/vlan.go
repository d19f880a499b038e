package ipsec

import (
	"encoding/binary"

	"espgw/pmd"
)

// tagProtocol is the EtherType of a tag that a driver took out of the frame:
// drivers strip IEEE 802.1Q tags only.
const tagProtocol = 0x8100

// addressesLen is how much of a frame stands in front of its tags.
const addressesLen = 12

// tagLen is the length of a VLAN tag in octets.
const tagLen = 4

// restoreTags puts tags back into the frame that the driver has taken out and
// keeps beside it (af_packet does, because the kernel did). They count as
// present and have to survive.
func restoreTags(m *pmd.Mbuf) {
	if tci, stripped := m.VLAN(); stripped {
		pushTag(m, tci)
		if tci, stripped := m.OuterVLAN(); stripped {
			pushTag(m, tci)
		}
	}
}

// pushTag inserts a tag behind the addresses. Pools have the headroom for it; a
// frame that has no room, or is too short to have a tag, becomes an empty one,
// which is malformed: without its tag it would belong to another network.
func pushTag(m *pmd.Mbuf, tci uint16) {
	start, end := m.Start(), m.Start()+m.Len()
	if m.Segments() > 1 || start < tagLen || end-start < addressesLen {
		m.SetBounds(start, start)
		return
	}
	buf := m.Buffer()
	copy(buf[start-tagLen:], buf[start:start+addressesLen])
	at := start - tagLen + addressesLen
	binary.BigEndian.PutUint16(buf[at:], tagProtocol)
	binary.BigEndian.PutUint16(buf[at+2:], tci)
	m.SetBounds(start-tagLen, end)
}
