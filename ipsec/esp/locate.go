package esp

import (
	"encoding/binary"

	"espgw/ipsec/packet"
)

// Encapsulation is what a UDP datagram on a port of RFC 3948 carries.
type Encapsulation uint8

// What it may be (RFC 3948, 2.1 to 2.3).
const (
	// NotESP: no whole UDP datagram.
	NotESP Encapsulation = iota
	// ESP: an SPI that is not zero, so ESP for some SA.
	ESP
	// Keepalive: one octet 0xff.
	Keepalive
	// IKE: the non-ESP marker, four zero octets.
	IKE
	// Malformed: none of these, or a UDP length that the packet does not hold.
	Malformed
)

// Encapsulated tells what the UDP datagram of frame carries, of which *m is what
// packet.Parse said. The ports are the caller's to look at first; a fragment is
// NotESP.
func Encapsulated(frame []byte, m *packet.Meta) Encapsulation {
	if !m.IsIP() || !m.Whole() || m.Flow.Proto != packet.ProtoUDP {
		return NotESP
	}
	u, ok := datagram(frame[m.Upper:m.End])
	switch {
	case !ok:
		return Malformed
	case len(u) == 1 && u[0] == 0xff:
		return Keepalive
	case len(u) < 4:
		return Malformed
	case binary.BigEndian.Uint32(u) == 0:
		return IKE
	}
	return ESP
}

// SPIAt is the SPI of the ESP packet in frame, for the SA to be found by; behind
// a UDP header if encapsulated. It reports false where there is no room for SPI
// and sequence number. *m is what packet.Parse said about frame.
func SPIAt(frame []byte, m *packet.Meta, encapsulated bool) (spi uint32, ok bool) {
	if !m.IsIP() {
		return 0, false
	}
	p := frame[m.Upper:m.End]
	if encapsulated {
		if p, ok = datagram(p); !ok {
			return 0, false
		}
	}
	if len(p) < HeaderLen {
		return 0, false
	}
	return binary.BigEndian.Uint32(p), true
}

// Locate finds the parts of the ESP packet in the frame that starts at
// buf[start]; *m is what packet.Parse said about that frame. seqLow is the
// sequence number on the wire, the low half where the SA has ESN. Nothing is
// changed.
//
// It returns ErrEncapsulation where the packet is in UDP and the SA is not, or
// the other way round, and ErrMalformed for what cannot be a packet of this SA:
// a fragment, too short, text that is no multiple of 4 octets, a UDP length
// beyond the packet. A UDP length below the packet's end bounds the ESP packet.
func (t *Transform) Locate(buf []byte, start int, m *packet.Meta) (o Offsets, seqLow uint32, err error) {
	end := start + int(m.End)
	if !m.IsIP() || !m.Whole() || start < 0 || end > len(buf) {
		return o, 0, ErrMalformed
	}
	at := start + int(m.Upper)
	switch {
	case m.Flow.Proto == packet.ProtoUDP && t.Encap:
		u, ok := datagram(buf[at:end])
		if !ok {
			return o, 0, ErrMalformed
		}
		at += UDPHeaderLen
		end = at + len(u)
	case m.Flow.Proto != packet.ProtoESP || t.Encap:
		return o, 0, ErrEncapsulation
	}
	o.ESP, o.Text = at, at+HeaderLen+IVLen
	o.ICV = end - t.ICVLen
	o.TextLen = o.ICV - o.Text
	if o.TextLen < trailerLen || o.TextLen%alignment != 0 {
		return Offsets{}, 0, ErrMalformed
	}
	return o, binary.BigEndian.Uint32(buf[at+4:]), nil
}

// datagram is the payload of the UDP datagram at the start of p. The checksum
// is not looked at: an ICV protects more (RFC 3948, 2.1).
func datagram(p []byte) (payload []byte, ok bool) {
	if len(p) < UDPHeaderLen {
		return nil, false
	}
	n := int(binary.BigEndian.Uint16(p[4:]))
	if n < UDPHeaderLen || n > len(p) {
		return nil, false
	}
	return p[UDPHeaderLen:n], true
}
