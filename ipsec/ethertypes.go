package ipsec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"espgw/ipsec/packet"
)

// etherTypeNames are the non-IP protocols that --pass-ethertypes knows by name
// (IEEE 802 numbers). Spanning tree has no EtherType: its frames are LLC with
// DSAP 0x42 (IEEE 802.1D, 9.3).
var etherTypeNames = map[string]uint16{
	"arp":   0x0806,
	"rarp":  0x8035,
	"lldp":  0x88cc,
	"lacp":  0x8809,
	"eapol": 0x888e,
	"ptp":   0x88f7,
	"cfm":   0x8902,
	"stp":   spanningTree,
}

// spanningTree stands for LLC frames of spanning tree in a PassList. It lies
// below 0x600, where no EtherType can be.
const spanningTree = 0x0042

// llcSpanningTree is the LLC address of spanning tree (IEEE 802.1D, 9.3).
const llcSpanningTree = 0x42

// DefaultPassEthertypes is what --pass-ethertypes is when not given.
const DefaultPassEthertypes = "arp,lldp,lacp,eapol,ptp,stp"

// PassList says which non-IP frames pass unchanged.
type PassList struct{ types []uint16 }

// ParsePassList reads a comma-separated list of names (arp, rarp, lldp, lacp,
// eapol, ptp, cfm, stp) and EtherTypes in hex (0x88cc); "none" is the empty
// list. Types that could carry IP past the policies are refused.
func ParsePassList(text string) (PassList, error) {
	var list PassList
	if strings.TrimSpace(text) == "none" {
		return list, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		value, ok := etherTypeNames[word]
		if !ok {
			n, err := strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 16)
			if err != nil || !strings.HasPrefix(word, "0x") || n < 0x600 {
				return list, fmt.Errorf("%q is no EtherType; accepted: %s, none, or 0x0600 to 0xffff", word, strings.Join(knownEtherTypes(), ", "))
			}
			value = uint16(n)
		}
		if why, ok := carriesIP[value]; ok {
			return list, fmt.Errorf("EtherType 0x%04x (%s) could carry traffic past the policies and cannot be passed", value, why)
		}
		if !slices.Contains(list.types, value) {
			list.types = append(list.types, value)
		}
	}
	return list, nil
}

// carriesIP are types that hide IP packets from the policies.
var carriesIP = map[uint16]string{
	0x0800: "IPv4", 0x86dd: "IPv6", 0x8847: "MPLS", 0x8848: "MPLS", 0x8863: "PPPoE discovery", 0x8864: "PPPoE",
	0x8100: "VLAN tag", 0x88a8: "VLAN tag", 0x9100: "VLAN tag", 0x6558: "bridged Ethernet", 0x894f: "NSH", 0x88e5: "MACsec",
}

func knownEtherTypes() []string {
	names := make([]string, 0, len(etherTypeNames))
	for name := range etherTypeNames {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// passes says whether a frame that is not IP may go on unchanged.
func (l *PassList) passes(m *packet.Meta) bool {
	t := m.EtherType
	if t < 0x600 {
		if m.LLC != llcSpanningTree {
			return false
		}
		t = spanningTree
	}
	for _, allowed := range l.types {
		if allowed == t {
			return true
		}
	}
	return false
}
