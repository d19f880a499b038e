package silicon_test

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// esp is what is in an ESP packet with AES-128-GCM (RFC 4303, RFC 4106).
type esp struct {
	sa      sa
	seq     uint32
	iv      uint64
	payload []byte
	next    byte
	padding int // beyond what is needed to end at a multiple of 4; itself one of 4
}

// padLen is the number of octets of padding.
func (e esp) padLen() int { return (4-(len(e.payload)+2)%4)%4 + e.padding }

// header is SPI, sequence number and IV.
func (e esp) header() []byte {
	h := binary.BigEndian.AppendUint32(nil, e.sa.spi)
	h = binary.BigEndian.AppendUint32(h, e.seq)
	return binary.BigEndian.AppendUint64(h, e.iv)
}

// text is payload, padding, pad length, next header.
func (e esp) text() []byte {
	n := e.padLen()
	return slices.Concat(e.payload, counting(n), []byte{byte(n), e.next})
}

// open is the packet as a driver hands it to the card: in clear text, with 16 zeros where
// the ICV will be.
func (e esp) open() []byte { return slices.Concat(e.header(), e.text(), make([]byte, 16)) }

func (s sa) gcm() cipher.AEAD {
	block, err := aes.NewCipher(s.key[:])
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return gcm
}

// sealed is the packet as it must be on the wire, made with Go's own AES-GCM: the nonce is
// salt and IV, SPI and sequence number are authenticated.
func (e esp) sealed() []byte {
	h := e.header()
	return e.sa.gcm().Seal(h, slices.Concat(e.sa.salt[:], h[8:]), e.text(), h[:8])
}

// authentic is the packet with AES-GMAC (RFC 4543): all is authenticated, nothing is
// enciphered.
func (e esp) authentic() []byte {
	all := slices.Concat(e.header(), e.text())
	return e.sa.gcm().Seal(all, slices.Concat(e.sa.salt[:], all[8:16]), nil, all)
}

// opened is the packet as a receiver must find it: as it came, with plain text in place of
// the ciphertext. The ICV stays.
func (e esp) opened() []byte {
	s := e.sealed()
	return slices.Concat(e.header(), e.text(), s[len(s)-16:])
}

// toPeer is a frame with ESP from the host of an address's version.
func toPeer(version string, payload []byte, tags ...uint16) []byte {
	ends := versions[version]
	return ethernet(peerMAC, ipOf(ends[0], ends[1], 50, payload), tags...)
}

// asks is the packet that asks for SA number index.
func (e esp) asks(version string, index int, tags ...uint16) packet {
	return packet{
		frame: toPeer(version, e.open(), tags...), options: txIPSEC,
		context: &context{
			macLen: 14 + 4*len(tags), v6: version == "IPv6", sa: index, espLen: e.padLen() + 18, l4: 3,
		},
	}
}

// sealRig is a rig with its engines and lookups on, SA 1 programmed, and a transmit queue.
func sealRig(t testing.TB, change ...func(*silicon.Config)) (*rig, *txRing) {
	t.Helper()
	r := newRig(t, change...)
	r.engines()
	r.txSA(1, saOf(1))
	return r, r.txQueue(0, 64)
}

// vector is a published ESP packet: octets from SPI to ICV, and what was sealed in them.
type vector struct{ name, key, salt, text, esp string }

// vectors are the first two cases with 128-bit keys and without ESN of "Test Cases for the
// use of GCM and GMAC in IPsec ESP" (draft-mcgrew-gcm-test-01, section 4).
var vectors = []vector{
	{
		"draft-mcgrew-gcm-test-01, case 2", "feffe9928665731c6d6a8f9467308308", "cafebabe",
		"4500003e698f000080114dccc0a80102c0a801010a980035002a2343b2d0010000010000000000000373697009637962" +
			"65726369747902646b00000100010001",
		"0000a5f80000000afacedbaddecaf888deb22cd9b07c72c16e3a65beeb8df304a5a5897d33ae530f1ba76d5d114d2a5c" +
			"3de81827c10e9a4f51330d0eec416642cfbb85a5b47e48a4ec3b9ba95d918bd183b70d3aa8bc6ee4c309e9d85a41ad4a",
	},
	{
		"draft-mcgrew-gcm-test-01, case 12", "7d773d00c144c525ac619d18c84a3f47", "d9664267", "01020201",
		"335467aeffffffff43457e9182443bc6437f866bcb3f699fe9b0822bac961c4504bef270",
	},
}

// gmacVector is case 15 of that draft, with AES-GMAC.
var gmacVector = vector{
	"draft-mcgrew-gcm-test-01, case 15", "4c80cdefbb5d10da906ac73c3613a634", "22433c64",
	"45000030da3a00008001df3bc0a80005c0a800010800c6cd020007006162636465666768696a6b6c6d6e6f7071727374" +
		"01020201",
	"0000432100000007000000000000000045000030da3a00008001df3bc0a80005c0a800010800c6cd0200070061626364" +
		"65666768696a6b6c6d6e6f707172737401020201f2a9a836e155106aa8dcd618e4099aaa",
}

// read is the vector's SA, text, and packet.
func (v vector) read(t *testing.T) (s sa, text, packet []byte) {
	t.Helper()
	octets := func(text string) []byte {
		b, err := hex.DecodeString(text)
		require.NoError(t, err)
		return b
	}
	text, packet = octets(v.text), octets(v.esp)
	copy(s.key[:], octets(v.key))
	copy(s.salt[:], octets(v.salt))
	s.spi = binary.BigEndian.Uint32(packet)
	return s, text, packet
}

// fromPeerESP is a frame to the card with ESP for an address.
func fromPeerESP(dst netip.Addr, payload []byte, tags ...uint16) []byte {
	src := peer4
	if dst.Is6() {
		src = peer6
	}
	return toCard(ipOf(src, dst, 50, payload), tags...)
}
