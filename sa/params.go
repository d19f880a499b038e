package sa

import (
	"net/netip"
	"time"
)

// ProtoESP is the IP protocol number of ESP, the only IPsec protocol espgw
// speaks (RFC 4303).
const ProtoESP = 50

// Direction says which way an SA or a policy works.
type Direction uint8

// The directions. DirNone is the direction of an SA that nothing has decided
// yet: it opens inbound and never sends. DirForward exists for policies only and
// shares DirIn's table. DirAmbiguous is that of an SA which policies of both
// directions claim: it is used in neither.
const (
	DirNone Direction = iota
	DirIn
	DirOut
	DirForward
	DirAmbiguous
)

// Mode is the IPsec mode of an SA or a template (RFC 4301, 4.1).
type Mode uint8

// The modes. Tunnel mode is known by name so that it can be refused by name.
const (
	ModeTransport Mode = iota
	ModeTunnel
)

// ID identifies an SA as the kernel does: destination, protocol, SPI.
type ID struct {
	Dst   netip.Addr
	Proto uint8
	SPI   uint32 // host order, as written in configuration
}

// Algorithm names an AEAD as `ip xfrm` spells it.
type Algorithm uint8

// The algorithms. Zero is no algorithm and never valid in an SA.
const (
	AlgNone             Algorithm = iota
	AlgAESGCM                     // rfc4106(gcm(aes)), RFC 4106
	AlgChaCha20Poly1305           // rfc7539esp(chacha20,poly1305), RFC 7634
)

// Flags are the SA flags of iproute2's `flag` list that have a meaning here or
// are carried for listings.
type Flags uint32

// The flags, with the kernel's bit values (linux/xfrm.h, XFRM_STATE_*).
const (
	FlagNoECN      Flags = 1 << 0
	FlagDecapDSCP  Flags = 1 << 1
	FlagNoPMTUDisc Flags = 1 << 2
	FlagICMP       Flags = 1 << 4
	FlagAFUnspec   Flags = 1 << 5
	FlagAlign4     Flags = 1 << 6
	FlagESN        Flags = 1 << 7
)

// OffloadDepth is how much of ESP an SA asks the NIC to do.
type OffloadDepth uint8

// The depths: `offload [crypto]` and `offload packet`.
const (
	OffloadCrypto OffloadDepth = iota
	OffloadPacket
)

// Offload is an SA's wish for inline crypto.
type Offload struct {
	Dev   string // port name, as in --pair NAME=PORT
	Dir   Direction
	Depth OffloadDepth
}

// Encap is UDP encapsulation of ESP (RFC 3948, `encap espinudp`).
type Encap struct {
	SrcPort, DstPort uint16 // host order
	OriginalAddr     netip.Addr
}

// NoLimit is the value of a byte or packet limit that is not set.
const NoLimit = ^uint64(0)

// Limits are soft and hard lifetimes (RFC 4301, 4.4.2.1). Byte and packet
// limits are NoLimit when not set; times are 0 when not set.
type Limits struct {
	SoftBytes, HardBytes     uint64
	SoftPackets, HardPackets uint64
	SoftAdd, HardAdd         time.Duration // since the SA was added
	SoftUse, HardUse         time.Duration // since its first use
}

// Unlimited returns limits of which none is set.
func Unlimited() Limits {
	return Limits{SoftBytes: NoLimit, HardBytes: NoLimit, SoftPackets: NoLimit, HardPackets: NoLimit}
}

// Params are the settings of one SA, as an operator writes them. They do not
// change while the SA lives, but for Limits on an update.
type Params struct {
	ID
	Src       netip.Addr
	Mode      Mode
	ReqID     uint32
	Flags     Flags
	Algorithm Algorithm
	Key       Key // cipher key and the 4 octets of salt behind it
	ICVBits   int // 64, 96 or 128
	// ReplayWindow is the anti-replay window in packets; 0 switches the check
	// off. It is only meaningful where ReplayWindowSet is true; otherwise the
	// DB's default applies to inbound SAs.
	ReplayWindow    uint32
	ReplayWindowSet bool
	// Sequence numbers to start from (`replay-seq`, `replay-oseq` and their
	// -hi halves): the highest received, and the last sent.
	ReplaySeq, ReplayOSeq uint64
	Encap                 *Encap
	Sel                   *Selector // nil: the SA carries its own addresses only
	Limits                Limits
	Offload               *Offload
	Dir                   Direction // from `dir in|out`; DirNone if not written
}
