package sa

import "net/netip"

// Matches reports whether f is about a packet that the selector covers. The
// ports of f are compared whatever f.Frag says; callers that see fragments look
// at f.Frag first.
func (s *Selector) Matches(f *Flow) bool {
	m := compile(s)
	return m.matches(f)
}

// matcher is a Selector in the form that the packet path compares: masks
// instead of prefix lengths, no method calls.
type matcher struct {
	src, dst         Addr
	srcMask, dstMask Addr
	srcPort, dstPort uint16 // already masked
	srcPortMask      uint16
	dstPortMask      uint16
	proto            uint8
	v6               bool
}

func compile(s *Selector) matcher {
	m := matcher{
		proto:       s.Proto,
		v6:          s.Src.Addr().Is6(),
		srcPortMask: s.SrcMask, srcPort: s.SrcPort & s.SrcMask,
		dstPortMask: s.DstMask, dstPort: s.DstPort & s.DstMask,
	}
	m.src, m.srcMask = addrAndMask(s.Src)
	m.dst, m.dstMask = addrAndMask(s.Dst)
	return m
}

func addrAndMask(p netip.Prefix) (addr, mask Addr) {
	mask = prefixMask(p)
	return AddrFrom(p.Addr()).and(mask), mask
}

// prefixMask gives the mask of p over the 128 bits of an Addr. The 96 bits in
// front of an IPv4 address are part of the mask.
func prefixMask(p netip.Prefix) Addr { return maskOf(prefixBits(p)) }

// prefixBits is the length of p over the 128 bits of an Addr.
func prefixBits(p netip.Prefix) uint8 {
	if p.Addr().Is4() {
		return uint8(p.Bits() + 96)
	}
	return uint8(p.Bits())
}

func maskOf(n uint8) Addr {
	if n <= 64 {
		return Addr{^(^uint64(0) >> n), 0}
	}
	return Addr{^uint64(0), ^(^uint64(0) >> (n - 64))}
}

func (a Addr) and(m Addr) Addr { return Addr{a.Hi & m.Hi, a.Lo & m.Lo} }

// matches is the whole comparison, xfrm_selector_match of the kernel.
func (m *matcher) matches(f *Flow) bool {
	return m.matchesAddrs(f) && m.matchesPorts(f)
}

// matchesAddrs compares family, addresses and protocol.
func (m *matcher) matchesAddrs(f *Flow) bool {
	return m.v6 == f.V6 && m.covers(f.Src, f.Dst) && (m.proto == 0 || m.proto == f.Proto)
}

func (m *matcher) covers(src, dst Addr) bool {
	return (src.Hi^m.src.Hi)&m.srcMask.Hi|(src.Lo^m.src.Lo)&m.srcMask.Lo|
		(dst.Hi^m.dst.Hi)&m.dstMask.Hi|(dst.Lo^m.dst.Lo)&m.dstMask.Lo == 0
}

func (m *matcher) matchesPorts(f *Flow) bool {
	return (f.SrcPort^m.srcPort)&m.srcPortMask|(f.DstPort^m.dstPort)&m.dstPortMask == 0
}

// hasPorts says whether the ports of a packet matter at all.
func (m *matcher) hasPorts() bool { return m.srcPortMask|m.dstPortMask != 0 }
