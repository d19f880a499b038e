package silicon

import "encoding/binary"

// RSS types of a descriptor, and the bits of MRQC that enable them.
const (
	rssTCPv4 = 1
	rssIPv4  = 2
	rssTCPv6 = 3
	rssIPv6  = 5
	rssUDPv4 = 7
	rssUDPv6 = 8

	mrqcRSS   = 1
	mrqcTCPv4 = 1 << 16
	mrqcIPv4  = 1 << 17
	mrqcIPv6  = 1 << 20
	mrqcTCPv6 = 1 << 21
	mrqcUDPv4 = 1 << 22
	mrqcUDPv6 = 1 << 23
)

// rss is the Toeplitz hash of the card's present key, as tables.
type rss struct {
	key    [10]uint32
	ready  bool
	tables [36][256]uint32
}

// renew makes the tables, if the key has changed.
func (h *rss) renew(r Registers) {
	var key [10]uint32
	for i := range key {
		key[i] = r.load(regRSSRK + 4*uint32(i))
	}
	if h.ready && key == h.key {
		return
	}
	h.key, h.ready = key, true
	var octets [44]byte
	for i, w := range key {
		binary.LittleEndian.PutUint32(octets[4*i:], w)
	}
	for at := range h.tables {
		window := binary.BigEndian.Uint64(octets[at:]) // the 32 bits under each bit of the octet
		for v := range 256 {
			var x uint32
			for bit := range 8 {
				if v>>(7-bit)&1 == 1 {
					x ^= uint32(window >> (32 - bit))
				}
			}
			h.tables[at][v] = x
		}
	}
}

func (h *rss) hash(parts ...[]byte) (x uint32) {
	at := 0
	for _, part := range parts {
		for _, octet := range part {
			x ^= h.tables[at][octet]
			at++
		}
	}
	return x
}

// steer chooses a frame's queue: by its hash where RSS is on, else queue 0.
func (c *Card) steer(frame []byte, v *frameView) (queue int, kind, hash uint32) {
	mrqc := c.reg.load(regMRQC)
	if mrqc&0xf != mrqcRSS || v.l3 == 0 {
		return 0, 0, 0
	}
	src, dst := v.addresses(frame)
	var ports []byte
	tcp, udp, ip := [2]uint32{mrqcTCPv4, rssTCPv4}, [2]uint32{mrqcUDPv4, rssUDPv4}, [2]uint32{mrqcIPv4, rssIPv4}
	if v.v6 {
		tcp, udp, ip = [2]uint32{mrqcTCPv6, rssTCPv6}, [2]uint32{mrqcUDPv6, rssUDPv6}, [2]uint32{mrqcIPv6, rssIPv6}
	}
	switch {
	case v.plainL4() && v.protocol == protocolTCP && mrqc&tcp[0] != 0:
		kind, ports = tcp[1], frame[v.l4:v.l4+4]
	case v.plainL4() && v.protocol == protocolUDP && mrqc&udp[0] != 0:
		kind, ports = udp[1], frame[v.l4:v.l4+4]
	case mrqc&ip[0] != 0:
		kind = ip[1]
	default:
		return 0, 0, 0
	}
	c.rss.renew(c.reg)
	hash = c.rss.hash(src, dst, ports)
	entry := hash & 127
	return int(c.reg.load(regRETA+entry&^3) >> (8 * (entry & 3)) & 0xf), kind, hash
}
