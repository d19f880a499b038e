package ipsec_test

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// Frames are built and ESP is opened here with nothing of the packages under
// test, so that a mistake in those cannot cancel itself.

const (
	protoICMP = 1
	protoTCP  = 6
	protoUDP  = 17
	protoESP  = 50
)

func sum16(b []byte, sum uint32) uint16 {
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

func ethernet(etherType uint16, payload []byte, tags ...uint16) []byte {
	frame := []byte{2, 0, 0, 0, 0, 0x70, 2, 0, 0, 0, 0, 0x52}
	for _, tag := range tags {
		frame = binary.BigEndian.AppendUint16(frame, 0x8100)
		frame = binary.BigEndian.AppendUint16(frame, tag)
	}
	frame = binary.BigEndian.AppendUint16(frame, etherType)
	return append(frame, payload...)
}

func ipv4(src, dst string, proto uint8, payload []byte) []byte {
	s, d := netip.MustParseAddr(src).As4(), netip.MustParseAddr(dst).As4()
	h := make([]byte, 20, 20+len(payload))
	h[0], h[8], h[9] = 0x45, 64, proto
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(payload)))
	binary.BigEndian.PutUint16(h[4:], 0x1234)
	copy(h[12:], s[:])
	copy(h[16:], d[:])
	binary.BigEndian.PutUint16(h[10:], sum16(h, 0))
	return append(h, payload...)
}

func ipv6(src, dst string, next uint8, payload []byte) []byte {
	s, d := netip.MustParseAddr(src).As16(), netip.MustParseAddr(dst).As16()
	h := make([]byte, 40, 40+len(payload))
	h[0], h[6], h[7] = 0x60, next, 64
	binary.BigEndian.PutUint16(h[4:], uint16(len(payload)))
	copy(h[8:], s[:])
	copy(h[24:], d[:])
	return append(h, payload...)
}

// udp has checksum 0, which IPv4 allows.
func udp(sport, dport uint16, data []byte) []byte {
	h := make([]byte, 8, 8+len(data))
	binary.BigEndian.PutUint16(h, sport)
	binary.BigEndian.PutUint16(h[2:], dport)
	binary.BigEndian.PutUint16(h[4:], uint16(8+len(data)))
	return append(h, data...)
}

func tcp(sport, dport uint16, data []byte) []byte {
	h := make([]byte, 20, 20+len(data))
	binary.BigEndian.PutUint16(h, sport)
	binary.BigEndian.PutUint16(h[2:], dport)
	h[12], h[13] = 5<<4, 0x18
	binary.BigEndian.PutUint16(h[16:], 0xbeef) // nobody on the path looks at it
	return append(h, data...)
}

func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

// openESP opens an ESP packet (from the SPI on) made with AES-GCM and a 16-octet
// ICV: RFC 4303 and RFC 4106 once more, by hand.
func openESP(t testing.TB, packet []byte, keyAndSalt string, high *uint32) (plain []byte, spi, seq uint32, iv [8]byte) {
	t.Helper()
	secret, err := hex.DecodeString(keyAndSalt)
	require.NoError(t, err)
	require.Greater(t, len(packet), 32)
	block, err := aes.NewCipher(secret[:len(secret)-4])
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	aad := append([]byte(nil), packet[:4]...)
	if high != nil {
		aad = binary.BigEndian.AppendUint32(aad, *high)
	}
	aad = append(aad, packet[4:8]...)
	copy(iv[:], packet[8:16])
	nonce := append(append([]byte(nil), secret[len(secret)-4:]...), iv[:]...)
	text, err := gcm.Open(nil, nonce, packet[16:], aad)
	require.NoError(t, err, "ICV")
	return text, binary.BigEndian.Uint32(packet), binary.BigEndian.Uint32(packet[4:]), iv
}

// sealESP makes an ESP packet (from the SPI on) for tests of the inbound side.
func sealESP(t testing.TB, keyAndSalt string, spi uint32, seq uint64, esn bool, next uint8, payload []byte) []byte {
	t.Helper()
	text := append([]byte(nil), payload...)
	for i := byte(1); (len(text)+2)%4 != 0; i++ {
		text = append(text, i)
	}
	text = append(text, byte(len(text)-len(payload)), next)
	return sealText(t, keyAndSalt, spi, seq, esn, text)
}

// sealText is sealESP with padding and trailer made by the caller.
func sealText(t testing.TB, keyAndSalt string, spi uint32, seq uint64, esn bool, text []byte) []byte {
	t.Helper()
	secret, err := hex.DecodeString(keyAndSalt)
	require.NoError(t, err)
	block, err := aes.NewCipher(secret[:len(secret)-4])
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	packet := binary.BigEndian.AppendUint32(nil, spi)
	aad := append([]byte(nil), packet...)
	if esn {
		aad = binary.BigEndian.AppendUint32(aad, uint32(seq>>32))
	}
	aad = binary.BigEndian.AppendUint32(aad, uint32(seq))
	packet = binary.BigEndian.AppendUint32(packet, uint32(seq))
	iv := binary.BigEndian.AppendUint64(nil, seq^0x5a5a_5a5a_0000_0000)
	nonce := append(append([]byte(nil), secret[len(secret)-4:]...), iv...)
	return gcm.Seal(append(packet, iv...), nonce, text, aad)
}
