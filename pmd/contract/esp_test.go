package contract_test

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

// Addresses of the port under test and of its peer.
const (
	near, far   = "14.0.0.52", "14.0.0.70"
	near6, far6 = "2001:db8:14::52", "2001:db8:14::70"
)

// keyOf is key and salt number i.
func keyOf(i int) (key, salt []byte) {
	key, salt = make([]byte, 32), make([]byte, 4)
	for j := range key {
		key[j] = byte(i*7 + i>>8*31 + j)
	}
	binary.BigEndian.PutUint32(salt, uint32(i)*0x01010101+0x1234)
	return key, salt
}

// conf is an SA of SPI 0x5000+i, with a key of its own, from the port to its peer or the
// other way.
func conf(i int, egress bool, change ...func(*pmd.SessionConf)) pmd.SessionConf {
	key, salt := keyOf(i)
	c := pmd.SessionConf{
		Action: pmd.InlineCrypto, Egress: egress, SPI: spiOf(i),
		Src: netip.MustParseAddr(near), Dst: netip.MustParseAddr(far),
		Algorithm: pmd.AEADAESGCM, Key: key[:16], Salt: salt, ICVLen: 16,
	}
	if !egress {
		c.Src, c.Dst = c.Dst, c.Src
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func spiOf(i int) uint32 { return 0x5000 + uint32(i) }

// v6 makes it an SA of IPv6.
func v6(c *pmd.SessionConf) {
	c.Src, c.Dst = netip.MustParseAddr(near6), netip.MustParseAddr(far6)
	if !c.Egress {
		c.Src, c.Dst = c.Dst, c.Src
	}
}

// to changes the destination.
func to(address string) func(*pmd.SessionConf) {
	return func(c *pmd.SessionConf) { c.Dst = netip.MustParseAddr(address) }
}

// aead is Go's AES-GCM with the SA's key.
func aead(t *testing.T, key []byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(key)
	require.NoError(t, err)
	a, err := cipher.NewGCM(block)
	require.NoError(t, err)
	return a
}

// ESP's sizes in octets (RFC 4303, RFC 4106).
const (
	espHeader, espIV, espICV = 8, 8, 16
	protocolESP              = 50
	protocolUDP              = 17
)

// espFrame is a whole ESP packet in clear text, with zeros for ICV and header checksum:
// what goes to a device that does inline crypto. Padding is RFC 4303's least.
func espFrame(c *pmd.SessionConf, seq uint32, payload []byte) []byte {
	return paddedFrame(c, seq, payload, -(len(payload)+2)&3)
}

// paddedFrame is espFrame with so much padding.
func paddedFrame(c *pmd.SessionConf, seq uint32, payload []byte, pad int) []byte {
	esp := binary.BigEndian.AppendUint32(nil, c.SPI)
	esp = binary.BigEndian.AppendUint32(esp, seq)
	esp = binary.BigEndian.AppendUint64(esp, uint64(seq)|0xabcd<<32)
	esp = append(esp, payload...)
	for i := range pad {
		esp = append(esp, byte(i+1))
	}
	esp = append(esp, byte(pad), protocolUDP)
	return ipFrame(c.Src, c.Dst, protocolESP, append(esp, make([]byte, espICV)...))
}

// ipFrame is an IP packet in Ethernet; IPv4's header checksum is zero.
func ipFrame(from, to netip.Addr, protocol byte, payload []byte) []byte {
	frame := []byte{2, 0, 0, 0, 0, 0x70, 2, 0, 0, 0, 0, 0x52}
	if to.Is6() {
		frame = append(frame, 0x86, 0xdd, 0x60, 0, 0, 0)
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(payload)))
		frame = append(frame, protocol, 64)
	} else {
		frame = append(frame, 8, 0, 0x45, 0)
		frame = binary.BigEndian.AppendUint16(frame, uint16(20+len(payload)))
		frame = append(frame, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0)
	}
	frame = append(frame, from.AsSlice()...)
	frame = append(frame, to.AsSlice()...)
	return append(frame, payload...)
}

// sum is the Internet checksum (RFC 1071).
func sum(b []byte) uint16 {
	s := uint32(0)
	for ; len(b) > 1; b = b[2:] {
		s += uint32(binary.BigEndian.Uint16(b))
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}

// summed fills in IPv4's header checksum, of 20 octets.
func summed(frame []byte) []byte {
	if frame[12] == 8 && frame[13] == 0 {
		frame[24], frame[25] = 0, 0
		binary.BigEndian.PutUint16(frame[24:], sum(frame[14:34]))
	}
	return frame
}

// espAt is where ESP begins in an untagged frame.
func espAt(frame []byte) int {
	if frame[12] == 0x86 {
		return 14 + 40
	}
	return 14 + 20
}

func nonce(salt, esp []byte) []byte {
	return append(append([]byte(nil), salt...), esp[espHeader:espHeader+espIV]...)
}

// sealed is what becomes of espFrame's on the wire, octet for octet.
func sealed(t *testing.T, c *pmd.SessionConf, clear []byte) []byte {
	t.Helper()
	frame := append([]byte(nil), clear...)
	esp := frame[espAt(frame):]
	text := esp[espHeader+espIV : len(esp)-espICV]
	copy(esp[espHeader+espIV:], aead(t, c.Key[:16]).Seal(nil, nonce(c.Salt, esp), text, esp[:espHeader]))
	return summed(frame)
}

// wireFrame is a packet of an SA on the wire.
func wireFrame(t *testing.T, c *pmd.SessionConf, seq uint32, payload []byte) []byte {
	t.Helper()
	return sealed(t, c, espFrame(c, seq, payload))
}

// opened verifies and deciphers a frame from the wire under key and salt.
func opened(t *testing.T, key, salt, frame []byte) ([]byte, error) {
	t.Helper()
	esp := frame[espAt(frame):]
	return aead(t, key[:16]).Open(nil, nonce(salt, esp), esp[espHeader+espIV:], esp[:espHeader])
}

// counting is n octets that are not alike.
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + i>>8)
	}
	return b
}

// put is a copy of a frame with octets changed at an offset.
func put(frame []byte, at int, octets ...byte) []byte {
	f := append([]byte(nil), frame...)
	copy(f[at:], octets)
	return f
}

// insert is a copy of a frame with octets put in.
func insert(frame []byte, at int, octets ...byte) []byte {
	f := append([]byte(nil), frame[:at]...)
	return append(append(f, octets...), frame[at:]...)
}
