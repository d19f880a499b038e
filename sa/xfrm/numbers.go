package xfrm

import (
	"net/netip"
	"strconv"
	"strings"
)

// parseUint reads a number as C's strtoul with base 0 does: decimal, 0x hex, or
// octal behind a leading 0. No sign, no blanks, no underscores.
func parseUint(s string, bits int) (uint64, bool) {
	base := 10
	switch {
	case len(s) > 2 && (strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X")):
		base, s = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, s = 8, s[1:]
	}
	if strings.ContainsAny(s, "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, bits)
	return n, err == nil
}

// parseAddr reads an address as iproute2 does: IPv6 if it has a colon, else
// IPv4 with one to four numbers, decimal, hex or octal, missing ones zero.
func parseAddr(s string) (netip.Addr, bool) {
	if strings.ContainsRune(s, ':') {
		a, err := netip.ParseAddr(s)
		return a, err == nil && a.Zone() == ""
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var b [4]byte
	for i, p := range parts {
		n, ok := parseUint(p, 8)
		if !ok {
			return netip.Addr{}, false
		}
		b[i] = byte(n)
	}
	return netip.AddrFrom4(b), true
}

// parsePrefix reads ADDR[/PLEN]; PLEN is a number or an IPv4 netmask. Bits
// behind the prefix are kept, as iproute2 and the kernel keep them.
func parsePrefix(s string) (netip.Prefix, bool) {
	text, length, slash := strings.Cut(s, "/")
	a, ok := parseAddr(text)
	if !ok {
		return netip.Prefix{}, false
	}
	bits := a.BitLen()
	if slash {
		n, ok := parseUint(length, 8)
		if !ok {
			n, ok = parseNetmask(length)
		}
		if !ok || int(n) > bits {
			return netip.Prefix{}, false
		}
		bits = int(n)
	}
	return netip.PrefixFrom(a, bits), true
}

// parseNetmask turns 255.255.255.0 into 24.
func parseNetmask(s string) (uint64, bool) {
	a, ok := parseAddr(s)
	if !ok || !a.Is4() {
		return 0, false
	}
	b := a.As4()
	mask := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	host := ^mask
	if host&(host+1) != 0 {
		return 0, false
	}
	bits := uint64(0)
	for ; mask != 0; mask <<= 1 {
		bits++
	}
	return bits, true
}

// parsePort reads a selector's PORT[/MASK] of 16 bits, or an ICMP type or code
// of 8. Port 0 matches every port, type 0 and code 0 are values, as with
// iproute2. The mask is this package's addition: the kernel has one, iproute2
// has no word for it.
func parsePort(s string, bits int) (port, mask uint16, ok bool) {
	text, maskText, slash := strings.Cut(s, "/")
	if slash && bits != 16 {
		return 0, 0, false
	}
	n, ok := parseUint(text, bits)
	if !ok {
		return 0, 0, false
	}
	mask = 0xffff
	if bits == 16 && n == 0 {
		mask = 0
	}
	if slash {
		m, ok := parseUint(maskText, 16)
		if !ok {
			return 0, 0, false
		}
		mask = uint16(m)
	}
	return uint16(n), mask, true
}

// formatAddr prints an address as glibc's inet_ntop does. It differs from
// netip's form for ::a.b.c.d only.
func formatAddr(a netip.Addr) string {
	if !a.Is6() || a.Is4In6() {
		return a.String()
	}
	b := a.As16()
	for _, x := range b[:12] {
		if x != 0 {
			return a.String()
		}
	}
	if b[12] == 0 && b[13] == 0 {
		return a.String()
	}
	return "::" + netip.AddrFrom4([4]byte(b[12:])).String()
}
