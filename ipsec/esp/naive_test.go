package esp

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"espgw/ipsec/packet"
)

// naive is ESP as the RFCs tell it, built by appending, with no thought for
// speed and no code of this package. It checks the fast one.
type naive struct {
	spi       uint32
	key, salt []byte
	chacha    bool
	icvLen    int
	esn       bool
	ports     []uint16 // of UDP encapsulation, or nil
}

func (n *naive) aead() cipher.AEAD {
	if n.chacha {
		c, err := chacha20poly1305.New(n.key)
		if err != nil {
			panic(err)
		}
		return c
	}
	b, err := aes.NewCipher(n.key)
	if err != nil {
		panic(err)
	}
	g, err := cipher.NewGCM(b)
	if err != nil {
		panic(err)
	}
	return g
}

// seal makes the ESP packet of an IP packet whose first head octets stay in
// front of ESP; the octet at name names the payload.
func (n *naive) seal(ip []byte, head, name int, seq uint64, iv []byte) []byte {
	text := append([]byte(nil), ip[head:]...)
	pad := byte(0)
	for (len(text)+2)%4 != 0 {
		pad++
		text = append(text, pad)
	}
	text = append(text, pad, ip[name])

	esp := binary.BigEndian.AppendUint32(nil, n.spi)
	aad := append([]byte(nil), esp...)
	if n.esn {
		aad = binary.BigEndian.AppendUint32(aad, uint32(seq>>32))
	}
	aad = binary.BigEndian.AppendUint32(aad, uint32(seq))
	esp = binary.BigEndian.AppendUint32(esp, uint32(seq))
	esp = append(esp, iv...)
	nonce := append(append([]byte(nil), n.salt...), iv...)
	sealed := n.aead().Seal(nil, nonce, text, aad)
	esp = append(esp, sealed[:len(text)+n.icvLen]...)

	out := append([]byte(nil), ip[:head]...)
	out[name] = 50
	if n.ports != nil {
		out[name] = 17
		out = binary.BigEndian.AppendUint16(out, n.ports[0])
		out = binary.BigEndian.AppendUint16(out, n.ports[1])
		out = binary.BigEndian.AppendUint16(out, uint16(8+len(esp)))
		out = append(out, 0, 0)
	}
	out = naiveLength(append(out, esp...))
	if n.ports != nil && out[0]>>4 == 6 {
		naiveUDPSum(out, head)
	}
	return out
}

// naiveUDPSum fills in the checksum of the UDP header at at of an IPv6 packet.
func naiveUDPSum(ip []byte, at int) {
	n := len(ip) - at
	sum := 17 + n
	for i, v := range concat(ip[8:40], ip[at:]) {
		if i%2 == 0 {
			sum += int(v) << 8
		} else {
			sum += int(v)
		}
	}
	for sum > 0xffff {
		sum = sum%0x10000 + sum/0x10000
	}
	if sum == 0xffff {
		sum = 0 // a zero means none, so its other form is sent
	}
	binary.BigEndian.PutUint16(ip[at+6:], uint16(0xffff-sum))
}

// naiveLength fills in the lengths and the checksum of an IP packet.
func naiveLength(ip []byte) []byte {
	if ip[0]>>4 == 6 {
		binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-40))
		return ip
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	ip[10], ip[11] = 0, 0
	sum := 0
	for i := 0; i < int(ip[0]&15)*4; i += 2 {
		sum += int(ip[i])<<8 | int(ip[i+1])
	}
	for sum > 0xffff {
		sum = sum%0x10000 + sum/0x10000
	}
	binary.BigEndian.PutUint16(ip[10:], uint16(0xffff-sum))
	return ip
}

// shape is a kind of packet: what is in front of the payload.
type shape struct {
	name       string
	link       []byte // Ethernet header
	ip         []byte // IP header and what stays in front of ESP
	next       int    // offset in ip of the octet that names the payload
	encap, esn bool
}

var (
	macs   = []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}
	head4  = []byte{0x45, 0xb8, 0, 0, 0x12, 0x34, 0x40, 0, 63, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2}
	head4o = append(append([]byte{0x48}, head4[1:]...), 7, 11, 4, 192, 0, 2, 9, 1, 1, 1, 1, 0)
	head6  = []byte{
		0x6b, 0x91, 0x23, 0x45, 0, 0, 17, 64,
		0x20, 1, 0xd, 0xb8, 0, 0xa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0x20, 1, 0xd, 0xb8, 0, 0xb, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	}
	// hop-by-hop, destination options, routing (type 2), atomic fragment
	head6x = concat(head6[:6], []byte{0, 64}, head6[8:],
		[]byte{60, 0, 5, 2, 0, 0, 1, 0}, []byte{43, 0, 1, 4, 0, 0, 0, 0},
		[]byte{44, 2, 2, 0, 0, 0, 0, 0}, head6[24:40], []byte{17, 0, 0, 0, 0, 0, 0, 9})
)

func concat(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func shapes() []shape {
	link4, link6 := concat(macs, []byte{8, 0}), concat(macs, []byte{0x86, 0xdd})
	return []shape{
		{"ipv4", link4, head4, 9, false, false},
		{"ipv4 with options, two tags, esn", concat(macs, []byte{0x88, 0xa8, 0, 200, 0x81, 0, 0, 3}, link4[12:]), head4o, 9, false, true},
		{"ipv4 in udp", link4, head4, 9, true, false},
		{"ipv6, tag", concat(macs, []byte{0x81, 0, 0xa0, 100}, link6[12:]), head6, 6, false, false},
		{"ipv6 with extension headers, esn", link6, head6x, len(head6x) - 8, false, true},
		{"ipv6 in udp", link6, head6, 6, true, true},
	}
}

// suites are all ciphers, key lengths and ICV lengths.
func suites() (all []naive) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	for _, keyLen := range []int{16, 24, 32} {
		for _, icvLen := range []int{8, 12, 16} {
			all = append(all, naive{spi: rng.Uint32(), key: random(keyLen), salt: random(4), icvLen: icvLen})
		}
	}
	return append(all, naive{spi: rng.Uint32(), key: random(32), salt: random(4), icvLen: 16, chacha: true})
}

func (n *naive) name() string {
	if n.chacha {
		return "chacha20-poly1305"
	}
	return fmt.Sprintf("aes-gcm-%d icv %d", len(n.key)*8, n.icvLen)
}

func (n *naive) fast(t testing.TB) *AEAD {
	t.Helper()
	c := AESGCM
	if n.chacha {
		c = ChaCha20Poly1305
	}
	a, err := New(c, n.key, n.salt, n.icvLen)
	require.NoError(t, err)
	return a
}

// lengths are payload lengths: all small ones, the pads around typical sizes,
// and jumbo frames.
func lengths() (all []int) {
	for n := range 65 {
		all = append(all, n)
	}
	return append(all, 127, 256, 511, 1400, 1446, 1447, 1448, 1449, 1480, 2048, 4095, 8000, 8951, 8952, 8953, 9000)
}

// TestAgainstNaive seals packets of every shape, suite and length, compares
// with the naive codec octet for octet, and opens them again.
func TestAgainstNaive(t *testing.T) {
	s := NewScratch(0)
	for _, n := range suites() {
		t.Run(n.name(), func(t *testing.T) {
			a := n.fast(t)
			for _, sh := range shapes() {
				for i, length := range lengths() {
					compare(t, s, n, a, sh, length, uint64(i)*0x1_2345_6789+1)
				}
			}
		})
	}
}

func compare(t *testing.T, s *Scratch, n naive, a *AEAD, sh shape, length int, seq uint64) {
	t.Helper()
	payload := make([]byte, length)
	for i := range payload {
		payload[i] = byte(i*7 + length)
	}
	plain := naiveLength(concat(sh.ip, payload))
	n.esn = sh.esn
	tr := Transform{SPI: n.spi, ICVLen: n.icvLen, ESN: sh.esn, Encap: sh.encap, EncapSrc: 4500, EncapDst: 30001, IVMask: 0xfedc_ba98_7654_3210}
	if sh.encap {
		n.ports = []uint16{4500, 30001}
	}
	where := fmt.Sprintf("%s, payload of %d", sh.name, length)
	padding := []byte{0xee, 0xee, 0xee} // Ethernet padding, which must go

	r := newRoom(concat(sh.link, plain, padding))
	require.Equal(t, packet.OK, r.meta.Fault, where)
	overhead := tr.Overhead(&r.meta)
	require.NoError(t, r.seal(s, &tr, a, seq), where)
	iv := binary.BigEndian.AppendUint64(nil, seq^tr.IVMask)
	want := n.seal(plain, len(sh.ip), sh.next, seq, iv)
	require.Equal(t, string(concat(sh.link, want)), string(r.frame()), where)
	require.Equal(t, len(want)-len(plain), overhead, where)
	r.checkAround(t, r.start, max(r.end, headroom+len(sh.link)+len(plain)+len(padding)))

	in := newRoom(concat(r.frame(), padding))
	require.NoError(t, in.open(s, &tr, a, seq>>32), where)
	require.Equal(t, string(concat(sh.link, plain)), string(in.frame()), where)
	require.Equal(t, packet.OK, in.meta.Fault, where)
	in.checkAround(t, headroom, headroom+len(r.frame())+len(padding))
	if length >= 4 {
		require.Equal(t, binary.BigEndian.Uint16(payload), in.meta.Flow.SrcPort, where)
	}
}
