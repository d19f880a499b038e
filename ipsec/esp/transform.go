package esp

import "espgw/ipsec/packet"

// Sizes in octets (RFC 4303, section 2; RFC 4106, section 3; RFC 768).
const (
	HeaderLen    = 8 // SPI and sequence number
	IVLen        = 8
	UDPHeaderLen = 8

	trailerLen = 2 // pad length and next header
	alignment  = 4
	maxPad     = alignment - 1
	maxLength  = 0xffff // of IPv4's total length and IPv6's payload length
)

// Room that Wrap needs in front of and behind a packet, at most, in octets.
const (
	MaxHead = UDPHeaderLen + HeaderLen + IVLen
	MaxTail = maxPad + trailerLen + 16
)

// Transform is what framing needs to know of an SA. It does not change while
// the SA lives.
type Transform struct {
	SPI    uint32 // host order, as written in configuration
	ICVLen int    // octets: 8, 12 or 16
	ESN    bool   // 64-bit sequence numbers (RFC 4303, 2.2.1); matters to AEAD only
	// Encap says that ESP travels in UDP (RFC 3948), sent from EncapSrc to
	// EncapDst. Received ports are not compared: a NAT may have changed them.
	Encap              bool
	EncapSrc, EncapDst uint16 // host order
	// IVMask makes the IV: sequence number XOR IVMask.
	IVMask uint64
}

// Offsets says where the parts of one ESP packet are, counted in octets from
// the start of the buffer that Wrap or Locate was given. The header's 8 octets
// are at ESP, the IV's 8 behind them, then the text (payload, padding, pad
// length, next header; a multiple of 4), and the ICV right behind the text.
type Offsets struct{ ESP, Text, TextLen, ICV int }

// Overhead is the number of octets by which Wrap makes the IP packet longer. It
// depends on the packet's length, for the padding.
func (t *Transform) Overhead(m *packet.Meta) int {
	return t.headLen() + padLen(int(m.End)-int(m.Insert)) + trailerLen + t.ICVLen
}

// headLen is what goes in front of the payload.
func (t *Transform) headLen() int {
	if t.Encap {
		return UDPHeaderLen + HeaderLen + IVLen
	}
	return HeaderLen + IVLen
}

// padLen is the number of pad octets for a payload of n octets.
func padLen(n int) int { return -(n + trailerLen) & (alignment - 1) }
