package silicon_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// wrong is a packet with one octet changed.
func wrong(ip []byte, at int) []byte {
	ip = slices.Clone(ip)
	ip[at] ^= 0x40
	return ip
}

// halved is a packet with 1 in one of the octets of its checksum, and 0 in the other.
func halved(ip []byte, at int) []byte {
	ip = slices.Clone(ip)
	ip[at] = 1
	return ip
}

// TestTypeAndChecksums: dword 0's packet type, and what dword 2 says of checksums
// (reference 3.4).
func TestTypeAndChecksums(t *testing.T) {
	const done, l3, l34 = rxDD | rxEOP, rxDD | rxEOP | rxIPCS, rxDD | rxEOP | rxIPCS | rxL4CS
	ports := counting(20)
	u4, t4, u6, t6 := udp(peer4, host4, 1, 2, ports), tcp(peer4, host4, 1, 2, ports),
		udp(peer6, host6, 1, 2, ports), tcp(peer6, host6, 1, 2, ports)
	unsummed := slices.Clone(u4)
	unsummed[26], unsummed[27] = 0, 0
	unsummed6 := slices.Clone(u6)
	unsummed6[46], unsummed6[47] = 0, 0
	for _, test := range []struct {
		name   string
		frame  []byte
		kind   uint32
		status uint32
	}{
		{"UDP over IPv4", toCard(u4), ptIPv4 | ptUDP, l34},
		{"TCP over IPv4", toCard(t4), ptIPv4 | ptTCP, l34},
		{"UDP over IPv6", toCard(u6), ptIPv6 | ptUDP, done | rxL4CS},
		{"TCP over IPv6", toCard(t6), ptIPv6 | ptTCP, done | rxL4CS},
		{"with a tag", toCard(t6, 5), ptIPv6 | ptTCP, done | rxL4CS},
		{"with two tags", toCard(t4, 5, 6), ptIPv4 | ptTCP, l34},
		{"padding behind the packet", append(toCard(t4), 1, 2, 3), ptIPv4 | ptTCP, l34},
		{"UDP without a checksum", toCard(unsummed), ptIPv4 | ptUDP, l3},
		{"UDP with half a checksum", toCard(halved(unsummed, 26)), ptIPv4 | ptUDP, l34 | rxL4E},
		{"UDP with the other half", toCard(halved(unsummed, 27)), ptIPv4 | ptUDP, l34 | rxL4E},
		{"UDP over IPv6 must have one", toCard(unsummed6), ptIPv6 | ptUDP, done | rxL4CS | rxL4E},
		{"IPv4 header wrong", toCard(wrong(t4, 8)), ptIPv4 | ptTCP, l3 | rxIPE},
		{"TCP wrong", toCard(wrong(t4, 39)), ptIPv4 | ptTCP, l34 | rxL4E},
		{"TCP address wrong over IPv6", toCard(wrong(t6, 20)), ptIPv6 | ptTCP, done | rxL4CS | rxL4E},
		{"UDP wrong", toCard(wrong(u4, 45)), ptIPv4 | ptUDP, l34 | rxL4E},
		{"SCTP", toCard(packet4(peer4, host4, 132, ports)), ptIPv4 | ptSCTP, l3},
		{"ICMP", toCard(packet4(peer4, host4, 1, ports)), ptIPv4, l3},
		{"options", toCard(packet4Options(peer4, host4, 1, counting(8), ports)), ptIPv4 | ptOptions, l3},
		{"a fragment", toCard(fragment4(t4, 0x2000)), ptIPv4, l3},
		{"hop-by-hop options", toCard(packet6(peer6, host6, 0, counting(24))), ptIPv6 | ptIPv6Ext, done},
		{"routing header", toCard(packet6(peer6, host6, 43, counting(24))), ptIPv6 | ptIPv6Ext, done},
		{"destination options", toCard(packet6(peer6, host6, 60, counting(24))), ptIPv6 | ptIPv6Ext, done},
		{"mobility header", toCard(packet6(peer6, host6, 135, counting(24))), ptIPv6 | ptIPv6Ext, done},
		{"IPv4 header alone", toCard(packet4(peer4, host4, 59, nil)), ptIPv4, l3},
		{"ESP over IPv4", toCard(packet4(peer4, host4, 50, counting(48))), ptIPv4 | ptESP, l3},
		{"AH over IPv4", toCard(packet4(peer4, host4, 51, counting(48))), ptIPv4 | ptAH, l3},
		{"ESP over IPv6", toCard(packet6(peer6, host6, 50, counting(48))), ptIPv6 | ptESP, done},
		{"ESP, a fragment", toCard(fragment4(packet4(peer4, host4, 50, counting(48)), 0x2000)), ptIPv4 | ptESP, l3},
		{
			"ESP behind options", toCard(packet4Options(peer4, host4, 50, counting(4), counting(48))),
			ptIPv4 | ptOptions | ptESP, l3,
		},
		{"ARP", append(slices.Concat(cardMAC[:], peerMAC, []byte{8, 6}), make([]byte, 46)...), 0, done},
		{"SNAP", append(slices.Concat(cardMAC[:], peerMAC, []byte{0, 46, 0xaa, 0xaa}), make([]byte, 44)...), 0, done},
		{"total length beyond the frame", toCard(wrong(t4, 2)), 0, done},
		{"payload length beyond the frame", toCard(wrong(t6, 5)), 0, done},
		{"a fragment of IPv6", toCard(packet6(peer6, host6, 44, counting(24))), ptIPv6 | ptIPv6Ext, done},
		{"header length of 16", toCard(append([]byte{0x44}, t4[1:]...)), 0, done},
		{"version 5", toCard(append([]byte{0x55}, t4[1:]...)), 0, done},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			q := r.rxQueue(0, 64, 2)
			got := q.receive(test.frame)
			require.Len(t, got, 1)
			require.Equal(t, pad(test.frame), got[0].data)
			require.Equalf(t, test.kind, got[0].kind(), "%#x", got[0].kind())
			require.Equalf(t, test.status, got[0].status(), "%#x", got[0].status())
			require.Zero(t, got[0].tag())
			r.breached()
		})
	}
}

// TestVLANStrip: with RXDCTL.VME the outer tag stands in the descriptor, with VP, and not
// in the frame.
func TestVLANStrip(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	ip := udp(peer4, host4, 1, 2, counting(60))
	for _, tag := range []uint16{0, 1, 0xe064, 0xffff} {
		r.put(rxBlock(0)+queueCtrl, queueOn)
		got := q.receive(toCard(ip, tag))
		require.Equal(t, toCard(ip, tag), got[0].data, "the tag stays")
		r.put(rxBlock(0)+queueCtrl, queueOn|stripVLAN)
		got = q.receive(toCard(ip, tag), toCard(ip, tag, 77), toCard(ip))
		require.Equal(t, toCard(ip), got[0].data)
		require.Equal(t, toCard(ip, 77), got[1].data, "the outer of two")
		require.Equal(t, toCard(ip), got[2].data)
		for _, d := range got[:2] {
			require.Equal(t, tag, d.tag())
			require.EqualValues(t, rxVP, d.status()&rxVP)
		}
		require.Zero(t, got[2].tag())
		require.Zero(t, got[2].status()&rxVP)
	}
}

// TestVLANStripIsTheQueues own switch.
func TestVLANStripIsTheQueues(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	r.rxQueue(1, 64, 2)
	r.setBits(rxBlock(1)+queueCtrl, stripVLAN)
	frame := toCard(udp(peer4, host4, 1, 2, counting(60)), 7)
	require.Equal(t, frame, q.receive(frame)[0].data)
}
