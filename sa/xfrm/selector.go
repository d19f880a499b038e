package xfrm

import (
	"net/netip"

	"espgw/sa"
)

// selector is what a selector's words said, before a family is known for what
// they did not say.
type selector struct {
	sel              sa.Selector // prefixes may be invalid
	start            word
	src, dst         bool
	proto            bool
	srcPort, dstPort bool
}

var selectorWords = []string{"src", "dst", "proto", "sport", "dport", "type", "code"}

// parseSelector reads SELECTOR as iproute2 does: addresses in any order, and the
// upper-layer words (proto, sport, …) once, in one piece. It ends before the
// first word of another kind.
func parseSelector(in *words, family Family) (*selector, error) {
	if !in.more() {
		return nil, in.fail(in.last(), "needs a selector behind it", selectorWords...)
	}
	s := &selector{start: in.peek()}
	taken, upper := in.next, false
	for in.more() {
		w := in.peek()
		switch w.text {
		case "src", "dst":
			in.take()
			if err := s.parsePrefix(in, w, family); err != nil {
				return nil, err
			}
			continue
		case "dev":
			in.take()
			v, err := in.value(w, "a device")
			if err != nil {
				return nil, err
			}
			if v.text != "none" {
				return nil, in.fail(v, "policies are not bound to a device here", "none")
			}
			continue
		}
		if upper || !isUpperWord(w.text) {
			break
		}
		upper = true
		if err := s.parseUpper(in); err != nil {
			return nil, err
		}
	}
	if in.next == taken {
		return nil, in.fail(s.start, "is not expected here: a selector is", selectorWords...)
	}
	return s, nil
}

func (s *selector) parsePrefix(in *words, keyword word, family Family) error {
	v, err := in.value(keyword, "ADDRESS[/LENGTH]")
	if err != nil {
		return err
	}
	p, err := in.prefix(v, family)
	if err != nil {
		return err
	}
	own, other := &s.sel.Src, s.sel.Dst
	seen := &s.src
	if keyword.text == "dst" {
		own, other, seen = &s.sel.Dst, s.sel.Src, &s.dst
	}
	if *seen {
		return in.fail(keyword, "is given twice")
	}
	if other.IsValid() && other.Addr().Is4() != p.Addr().Is4() {
		return in.fail(v, "is not of the other address's family")
	}
	*own, *seen = p, true
	return nil
}

// prefix reads a prefix of the family; `any`, `all` and `default` are its whole
// space and need a family from -4 or -6, as with iproute2.
func (c *words) prefix(v word, family Family) (netip.Prefix, error) {
	const example = "10.0.0.0/8 or 2001:db8::/32"
	switch v.text {
	case "any", "all", "default":
		switch family {
		case FamilyIPv4:
			return netip.PrefixFrom(netip.IPv4Unspecified(), 0), nil
		case FamilyIPv6:
			return netip.PrefixFrom(netip.IPv6Unspecified(), 0), nil
		}
		return netip.Prefix{}, c.fail(v, "does not say of which family", "0.0.0.0/0", "::/0", "-4 or -6 in front of xfrm")
	}
	p, ok := parsePrefix(v.text)
	if !ok {
		return p, c.fail(v, "is not an address with an optional prefix length", example)
	}
	if !family.Has(p.Addr()) {
		return p, c.fail(v, "is not of the family that -4 or -6 asks for", example)
	}
	return p, nil
}

func isUpperWord(t string) bool {
	switch t {
	case "proto", "sport", "dport", "type", "code", "key":
		return true
	}
	return false
}

// parseUpper reads `proto P [sport N] [dport N] [type N] [code N]`, in any order.
func (s *selector) parseUpper(in *words) error {
	var ports, icmp *word
	for in.more() && isUpperWord(in.peek().text) {
		w := in.take()
		if err := s.parseUpperWord(in, w); err != nil {
			return err
		}
		switch w.text {
		case "sport", "dport":
			ports = &w
		case "type", "code":
			icmp = &w
		}
	}
	switch s.sel.Proto {
	case protoTCP, protoUDP, protoSCTP, protoDCCP, 0:
	default:
		if ports != nil {
			return in.fail(*ports, "goes with these protocols only", "proto tcp", "proto udp", "proto sctp", "proto dccp", "proto any")
		}
	}
	if icmp != nil && s.sel.Proto != protoICMP && s.sel.Proto != protoICMPv6 {
		return in.fail(*icmp, "goes with these protocols only", "proto icmp", "proto ipv6-icmp")
	}
	return nil
}

func (s *selector) parseUpperWord(in *words, w word) error {
	if w.text == "key" {
		return in.fail(w, "GRE keys are not looked at here", "proto gre without a key")
	}
	if w.text == "proto" {
		v, err := in.value(w, "a protocol", "tcp", "udp", "icmp", "0-255", "any")
		if err != nil {
			return err
		}
		p, ok := parseProtocol(v.text)
		if !ok {
			return in.fail(v, "is not a protocol", "a name such as tcp, udp, sctp, dccp, icmp, ipv6-icmp, gre", "0-255", "any")
		}
		s.sel.Proto, s.proto = p, true
		return nil
	}
	bits, what := 16, "a port"
	if w.text == "type" || w.text == "code" {
		bits, what = 8, "a number of 0 to 255"
	}
	v, err := in.value(w, what)
	if err != nil {
		return err
	}
	n, mask, ok := parsePort(v.text, bits)
	if !ok {
		return in.fail(v, "is not "+what)
	}
	switch w.text {
	case "sport", "type":
		s.sel.SrcPort, s.sel.SrcMask, s.srcPort = n, mask, true
	default:
		s.sel.DstPort, s.sel.DstMask, s.dstPort = n, mask, true
	}
	return nil
}

// resolve fills in what the words did not say: the whole address space of the
// family that the selector has, or else of fallback, or else IPv4.
func (s *selector) resolve(fallback Family) sa.Selector {
	whole := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	given := s.sel.Src
	if !given.IsValid() {
		given = s.sel.Dst
	}
	if given.IsValid() && given.Addr().Is6() || !given.IsValid() && fallback == FamilyIPv6 {
		whole = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	sel := s.sel
	if !sel.Src.IsValid() {
		sel.Src = whole
	}
	if !sel.Dst.IsValid() {
		sel.Dst = whole
	}
	return sel
}
