package xfrm

import "strconv"

// protocol is one line of Debian's /etc/protocols: iproute2 reads and prints
// protocols by these names.
type protocol struct {
	number      uint8
	name, alias string
}

var protocols = []protocol{
	{0, "ip", "IP"},
	{0, "hopopt", "HOPOPT"},
	{1, "icmp", "ICMP"},
	{2, "igmp", "IGMP"},
	{3, "ggp", "GGP"},
	{4, "ipencap", "IP-ENCAP"},
	{5, "st", "ST"},
	{6, "tcp", "TCP"},
	{8, "egp", "EGP"},
	{9, "igp", "IGP"},
	{12, "pup", "PUP"},
	{17, "udp", "UDP"},
	{20, "hmp", "HMP"},
	{22, "xns-idp", "XNS-IDP"},
	{27, "rdp", "RDP"},
	{29, "iso-tp4", "ISO-TP4"},
	{33, "dccp", "DCCP"},
	{36, "xtp", "XTP"},
	{37, "ddp", "DDP"},
	{38, "idpr-cmtp", "IDPR-CMTP"},
	{41, "ipv6", "IPv6"},
	{43, "ipv6-route", "IPv6-Route"},
	{44, "ipv6-frag", "IPv6-Frag"},
	{45, "idrp", "IDRP"},
	{46, "rsvp", "RSVP"},
	{47, "gre", "GRE"},
	{50, "esp", "IPSEC-ESP"},
	{51, "ah", "IPSEC-AH"},
	{57, "skip", "SKIP"},
	{58, "ipv6-icmp", "IPv6-ICMP"},
	{59, "ipv6-nonxt", "IPv6-NoNxt"},
	{60, "ipv6-opts", "IPv6-Opts"},
	{73, "rspf", "RSPF"},
	{81, "vmtp", "VMTP"},
	{88, "eigrp", "EIGRP"},
	{89, "ospf", "OSPFIGP"},
	{93, "ax.25", "AX.25"},
	{94, "ipip", "IPIP"},
	{97, "etherip", "ETHERIP"},
	{98, "encap", "ENCAP"},
	{103, "pim", "PIM"},
	{108, "ipcomp", "IPCOMP"},
	{112, "vrrp", "VRRP"},
	{115, "l2tp", "L2TP"},
	{124, "isis", "ISIS"},
	{132, "sctp", "SCTP"},
	{133, "fc", "FC"},
	{135, "mobility-header", "Mobility-Header"},
	{136, "udplite", "UDPLite"},
	{137, "mpls-in-ip", "MPLS-in-IP"},
	{138, "manet", ""},
	{139, "hip", "HIP"},
	{140, "shim6", "Shim6"},
	{141, "wesp", "WESP"},
	{142, "rohc", "ROHC"},
	{143, "ethernet", "Ethernet"},
}

var (
	protocolByName   = map[string]uint8{"any": 0}
	protocolByNumber = map[uint8]string{}
)

func init() {
	for _, p := range protocols {
		protocolByName[p.name] = p.number
		if p.alias != "" {
			protocolByName[p.alias] = p.number
		}
		if _, taken := protocolByNumber[p.number]; !taken {
			protocolByNumber[p.number] = p.name
		}
	}
}

// protocolName is the name of an upper-layer protocol, or its number.
func protocolName(n uint8) string {
	if name, ok := protocolByNumber[n]; ok {
		return name
	}
	return strconv.Itoa(int(n))
}

// parseProtocol reads a protocol by name or number; `any` is 0.
func parseProtocol(s string) (uint8, bool) {
	if n, ok := protocolByName[s]; ok {
		return n, true
	}
	n, ok := parseUint(s, 8)
	return uint8(n), ok
}

// The protocols whose selectors iproute2 treats specially.
const (
	protoICMP     = 1
	protoTCP      = 6
	protoUDP      = 17
	protoDCCP     = 33
	protoGRE      = 47
	protoICMPv6   = 58
	protoSCTP     = 132
	protoMobility = 135
)
