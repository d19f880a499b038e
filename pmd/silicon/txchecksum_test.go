package silicon_test

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// l4Kind is a protocol whose checksum the card fills in.
type l4Kind struct {
	name     string
	protocol byte
	l4t, at  int // of the context; of the checksum field
	make     func(src, dst netip.Addr, from, to uint16, payload []byte) []byte
}

var l4Kinds = []l4Kind{{"UDP", 17, 0, 6, udp}, {"TCP", 6, 1, 16, tcp}}

// versions are IP's, with addresses of the host and its peer.
var versions = map[string][2]netip.Addr{"IPv4": {host4, peer4}, "IPv6": {host6, peer6}}

// TestL4Checksum: the card finishes what the driver began with the pseudo header's sum,
// over one buffer or several, cut at odd places, too.
func TestL4Checksum(t *testing.T) {
	for version, ends := range versions {
		for _, l4 := range l4Kinds {
			t.Run(version+" "+l4.name, func(t *testing.T) {
				r := newRig(t)
				q := r.txQueue(0, 64)
				for _, n := range []int{0, 1, 2, 7, 8, 9, 100, 101, 1440} {
					want := l4.make(ends[0], ends[1], 53, 0xabcd, counting(n))
					frame := ethernet(peerMAC, forOffload(want, l4.protocol, l4.at))
					wire := pad(ethernet(peerMAC, want))
					c := &context{l4: l4.l4t, v6: version == "IPv6"}
					for _, cuts := range [][]int{nil, {14}, {13, 37}, {len(frame) - 1}} {
						sent := q.send(packet{frame: frame, context: c, options: txTXSM, cuts: cuts})
						require.Equal(t, [][]byte{wire}, sent, "%d octets, cut at %v", n, cuts)
					}
				}
				r.breached()
			})
		}
	}
}

// pad is what Ethernet makes of a short frame.
func pad(frame []byte) []byte {
	return append(slices.Clone(frame), make([]byte, max(0, 60-len(frame)))...)
}

// TestUDPChecksumOfZero: it is sent as 0xffff, for 0 means that there is none (RFC 768).
func TestUDPChecksumOfZero(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	none := udp(host4, peer4, 1, 2, []byte{0, 0})
	want := udp(host4, peer4, 1, 2, none[26:28]) // its own checksum as payload makes the sum 0xffff
	require.Equal(t, []byte{0xff, 0xff}, want[26:28])
	sent := q.send(packet{frame: ethernet(peerMAC, forOffload(want, 17, 6)), context: &context{}, options: txTXSM})
	require.Equal(t, [][]byte{pad(ethernet(peerMAC, want))}, sent)
}

// TestIPv4Checksum: whatever stood in the field, with options, tags in the frame and tags
// that are inserted.
func TestIPv4Checksum(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	for options := 0; options <= 40; options += 4 {
		for _, tags := range [][]uint16{nil, {5}, {5, 6}} {
			for _, vle := range []bool{false, true} {
				ip := packet4Options(host4, peer4, 17, counting(options), counting(60))
				want := ethernet(peerMAC, ip, tags...)
				frame := slices.Clone(want)
				binary.BigEndian.PutUint16(frame[14+4*len(tags)+10:], 0xdead)
				c := &context{macLen: 14 + 4*len(tags), ipLen: 20 + options}
				p := packet{frame: frame, context: c, options: txIXSM}
				if vle {
					p.options |= txVLE
					p.context.tag = 99
					want = tagged(want, 99)
				}
				require.Equal(t, [][]byte{want}, q.send(p), "options of %d, tags %v, VLE %v", options, tags, vle)
			}
		}
	}
	r.breached()
}

// TestIPv4ChecksumOfAHeaderAlone: there may be nothing behind it.
func TestIPv4ChecksumOfAHeaderAlone(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	want := ethernet(peerMAC, packet4(host4, peer4, 59, nil))
	frame := slices.Clone(want)
	frame[24], frame[25] = 0, 0
	require.Equal(t, [][]byte{pad(want)}, q.send(packet{frame: frame, context: &context{}, options: txIXSM}))
	r.breached()
}

func TestBothChecksums(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	want := tcp(host4, peer4, 80, 1024, counting(700))
	frame := ethernet(peerMAC, forOffload(want, 6, 16))
	frame[24], frame[25] = 0, 0
	sent := q.send(packet{frame: frame, context: &context{l4: 1}, options: txTXSM | txIXSM, cuts: []int{54}})
	require.Equal(t, [][]byte{ethernet(peerMAC, want)}, sent)
	r.breached()
}

// TestChecksumsThatCannotBe: a context that contradicts the packet is told, and the
// packet leaves as it is.
func TestChecksumsThatCannotBe(t *testing.T) {
	frame := fromHost(100)
	v6 := ethernet(peerMAC, udp(host6, peer6, 1, 2, counting(60)))
	for name, p := range map[string]packet{
		"IPLEN below 20":         {frame: frame, context: &context{ipLen: 16}, options: txIXSM},
		"IPLEN is not the IHL":   {frame: frame, context: &context{ipLen: 24}, options: txIXSM},
		"MACLEN wrong":           {frame: frame, context: &context{macLen: 18}, options: txIXSM},
		"beyond the frame":       {frame: frame, context: &context{macLen: 100}, options: txIXSM},
		"IXSM of IPv6":           {frame: v6, context: &context{v6: true}, options: txIXSM},
		"L4T reserved":           {frame: frame, context: &context{l4: 3}, options: txTXSM},
		"UDP field beyond":       {frame: frame, context: &context{macLen: 14, ipLen: 100}, options: txTXSM},
		"TCP field beyond":       {frame: frame[:50], context: &context{l4: 1}, options: txTXSM},
		"SCTP is not made (CRC)": {frame: frame, context: &context{l4: 2}, options: txTXSM},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.txQueue(0, 64)
			require.Equal(t, [][]byte{pad(p.frame)}, q.send(p))
			r.breached("tx-header-lengths")
		})
	}
}
