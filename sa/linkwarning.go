package sa

// warnLinks names the policies that this Tx has added and that also catch what
// links need to come up (neighbour discovery over IPv6, DHCP over IPv4), unless
// a policy in front of them lets that through.
func (tx *Tx) warnLinks(t *Table) {
	tx.warnings.forget(warnPolicy)
	for _, p := range tx.policies {
		if tx.db.policies.byKey[p.key()] == p && p.protects() {
			tx.warnLink(t, p)
		}
	}
}

// Protocol numbers, ports and types of what links need (RFC 4861, RFC 2131).
const (
	protoUDP           = 17
	protoICMPv6        = 58
	typeNeighbourSolic = 135
	portDHCPServer     = 67
	portDHCPClient     = 68
)

func (tx *Tx) warnLink(t *Table, p *PolicyState) {
	s := &p.policy.Sel
	f := Flow{Src: AddrFrom(s.Src.Masked().Addr()), Dst: AddrFrom(s.Dst.Masked().Addr()), V6: p.match.v6}
	text := ""
	switch {
	case f.V6:
		f.Proto, f.SrcPort = protoICMPv6, typeNeighbourSolic
		text = "neighbour discovery, MLD and DHCPv6 too: the hosts' links may not come up"
	case s.Src.Bits() == 0 || s.Dst.Bits() == 0:
		f.Proto, f.SrcPort, f.DstPort = protoUDP, portDHCPClient, portDHCPServer
		if p.policy.Dir != DirOut {
			f.SrcPort, f.DstPort = portDHCPServer, portDHCPClient
		}
		text = "DHCP too: the hosts may get no address"
	default:
		return
	}
	direction := &t.in
	if p.policy.Dir == DirOut {
		direction = &t.out
	}
	if first := direction.of(&f).first(&f); first == nil || first.state != p {
		return // it does not catch that, or another policy decides about it
	}
	tx.warnings.add(warnPolicy, "policy dir %v src %v dst %v protects %s; bypass lines are in docs/xfrm.md", p.policy.Dir, s.Src, s.Dst, text)
}
