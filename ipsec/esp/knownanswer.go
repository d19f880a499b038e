package esp

import "encoding/hex"

// Cipher names the AEADs that ESP packets are sealed with.
type Cipher uint8

// The ciphers. Zero is none.
const (
	AESGCM           Cipher = iota + 1 // RFC 4106
	ChaCha20Poly1305                   // RFC 7634
)

// KnownAnswer is one published ESP packet. Every engine must pass those that it
// can carry before it gets traffic.
type KnownAnswer struct {
	Source    string // where it was published
	Cipher    Cipher
	Key, Salt []byte
	ICVLen    int // octets
	ESN       bool
	Seq       uint64
	// Text is what is encrypted: payload, padding, pad length, next header.
	Text []byte
	// Packet is the sealed packet, from the SPI to the end of the ICV.
	Packet []byte
}

// Offsets says where the parts are, for a buffer that holds the packet at
// offset at.
func (k *KnownAnswer) Offsets(at int) Offsets {
	o := Offsets{ESP: at, Text: at + HeaderLen + IVLen, TextLen: len(k.Text)}
	o.ICV = o.Text + o.TextLen
	return o
}

// KnownAnswers returns known answers for every cipher, key length, ICV length
// and with ESN, in memory of the caller's own. A GCM ICV of 8 or 12 octets is
// the start of that of 16 (NIST SP 800-38D, 7.1), so one packet gives three.
func KnownAnswers() []KnownAnswer {
	var all []KnownAnswer
	for _, p := range published {
		k := p.decode()
		for _, icvLen := range []int{16, 12, 8} {
			if icvLen < fullTag && k.Cipher != AESGCM {
				continue
			}
			k.ICVLen = icvLen
			k.Packet = unhex(p.packet)[:HeaderLen+IVLen+len(k.Text)+icvLen]
			all = append(all, k)
		}
	}
	return all
}

type publishedPacket struct {
	source       string
	cipher       Cipher
	esn          bool
	seq          uint64
	key, salt    string
	text, packet string
}

func (p *publishedPacket) decode() KnownAnswer {
	return KnownAnswer{
		Source: p.source, Cipher: p.cipher, Key: unhex(p.key), Salt: unhex(p.salt),
		ESN: p.esn, Seq: p.seq, Text: unhex(p.text), Packet: unhex(p.packet),
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic("esp: known answers: " + err.Error()) // a constant of this file
	}
	return b
}

// Numbers from draft-mcgrew-gcm-test-01 (D. McGrew, 2009), section 4, and RFC
// 7634, appendix A.
var published = []publishedPacket{
	{
		source: "draft-mcgrew-gcm-test-01, case 2", cipher: AESGCM, seq: 10,
		key: "feffe9928665731c6d6a8f9467308308", salt: "cafebabe",
		text: "4500003e698f000080114dccc0a80102c0a801010a980035002a2343b2d00100" +
			"0001000000000000037369700963796265726369747902646b00000100010001",
		packet: "0000a5f80000000afacedbaddecaf888" +
			"deb22cd9b07c72c16e3a65beeb8df304a5a5897d33ae530f1ba76d5d114d2a5c" +
			"3de81827c10e9a4f51330d0eec416642cfbb85a5b47e48a4ec3b9ba95d918bd1" +
			"83b70d3aa8bc6ee4c309e9d85a41ad4a",
	},
	{
		source: "draft-mcgrew-gcm-test-01, case 7", cipher: AESGCM, seq: 10,
		key: "feffe9928665731c6d6a8f9467308308feffe9928665731c", salt: "cafebabe",
		text: "45000028a4ad4000400678800a01038f0a010612802306b8cb712602dd6bb03e" +
			"501016d075680001",
		packet: "0000a5f80000000afacedbaddecaf888" +
			"a5b1f8066029aea40e598b8122de02420938b3ab33f828e687b8858b5bfbdbd0" +
			"315b27452144cc7795457b9652037f5318027b5b4cd7a636",
	},
	{
		source: "draft-mcgrew-gcm-test-01, case 3", cipher: AESGCM, seq: 2,
		key:  "abbccddef00112233445566778899aababbccddef00112233445566778899aab",
		salt: "11223344",
		text: "4500003069a6400080062690c0a801029389155e0a9e008b2dc57ee000000000" +
			"7002400020bf0000020405b40101040201020201",
		packet: "4a2cbfe3000000020102030405060708" +
			"ff425c9b724599df7a3bcd510194e00d6a78107f1b0b1cbf06efae9d65a5d763" +
			"748a637985771d347f0545659f14e99def842d8e" +
			"b335f4eecfdbf831824b4c4915956c96",
	},
	{
		source: "draft-mcgrew-gcm-test-01, case 17", cipher: AESGCM,
		esn: true, seq: 0x8765432100000007,
		key: "4c80cdefbb5d10da906ac73c3613a634", salt: "22433c64",
		text: "0800c6cd020007006162636465666768696a6b6c6d6e6f707172737401020201",
		packet: "00004321000000074855ec7d3a234bfd" +
			"74752e8aeb5d873cd7c0f4acc36c4bff84b7d7b98f0ca8b6acda6894bc619069" +
			"ef9cbc28fe1b56a7c4e0d58c86cd2bc0",
	},
	{
		source: "RFC 7634, appendix A", cipher: ChaCha20Poly1305, seq: 5,
		key:  "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
		salt: "a0a1a2a3",
		text: "45000054a6f200004001e778c6336405c000020508005b7a3a080000553bec10" +
			"0007362708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223" +
			"2425262728292a2b2c2d2e2f303132333435363701020204",
		packet: "01020304000000051011121314151617" +
			"24039428b97f417e3c13753a4f05087b67c352e6a7fab1b982d466ef407ae5c6" +
			"14ee8099d52844eb61aa95dfab4c02f72aa71e7c4c4f64c9befe2facc638e8f3" +
			"cbec163fac469b502773f6fb94e664da9165b82829f641e0" +
			"76aaa8266b7fb0f7b11b369907e1ad43",
	},
}
