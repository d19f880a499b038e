package sa

import "net/netip"

// Selector says which packets an SA or a policy is about (RFC 4301, 4.4.1.1).
// Both prefixes are valid and of one family; bits behind a prefix are kept for
// listings and mean nothing when packets are matched. Port values are host
// order; a packet matches when its port equals the value under the mask, so
// mask 0 matches every port. For ICMP and ICMPv6 the source port is the type
// and the destination port the code, as in the kernel.
type Selector struct {
	Src, Dst         netip.Prefix
	Proto            uint8 // 0 matches every protocol
	SrcPort, DstPort uint16
	SrcMask, DstMask uint16
}

// Action is what a policy does with a packet that it matches.
type Action uint8

// The actions. An ActionAllow policy with templates protects.
const (
	ActionAllow Action = iota
	ActionBlock
)

// Level says whether a template must be satisfied.
type Level uint8

// The levels of iproute2's `level`.
const (
	LevelRequired Level = iota
	LevelUse
)

// Template names the SAs that a policy demands. Addresses that are not valid
// and a zero SPI match everything.
type Template struct {
	Src, Dst netip.Addr
	Proto    uint8
	SPI      uint32
	Mode     Mode
	ReqID    uint32
	Level    Level
}

// Policy is one entry of the SPD. A smaller Priority wins; among equals the
// older entry.
type Policy struct {
	Dir       Direction
	Sel       Selector
	Priority  uint32
	Action    Action
	Index     uint32 // 0 on add: the DB chooses one
	Templates []Template
	Limits    Limits
	Flags     PolicyFlags
}

// PolicyFlags are the flags of iproute2's policy `flag` list, carried for
// listings.
type PolicyFlags uint8

// The policy flags, with the kernel's bit values (linux/xfrm.h, XFRM_POLICY_*).
const (
	PolicyLocalOK PolicyFlags = 1 << 0
	PolicyICMP    PolicyFlags = 1 << 1
)
