package esp

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

// These tests read what other people published, where it is (see
// sharedVectors); none of it is part of this repository.

// aeadCase is one known answer for an AEAD alone.
type aeadCase struct {
	name                            string
	key, nonce, aad, plain, ct, tag []byte
	refused                         bool // the tag is wrong
}

// run seals and opens the case with memory that ends where the packet would.
func (c *aeadCase) run(t *testing.T, s *Scratch, cipher Cipher) {
	t.Helper()
	a, err := New(cipher, c.key, c.nonce[:saltLen], len(c.tag))
	require.NoError(t, err, c.name)
	n := len(c.ct)
	room := make([]byte, n+len(c.tag))
	s.nonce = [nonceLen]byte(c.nonce)

	copy(room, c.ct)
	copy(room[n:], c.tag)
	err = a.open(s, room, n, c.aad)
	if c.refused {
		require.ErrorIs(t, err, ErrAuth, c.name)
		require.Contains(t, []string{string(c.ct), string(make([]byte, n))}, string(room[:n]), "%s: text after a wrong ICV", c.name)
		return
	}
	require.NoError(t, err, c.name)
	require.Equal(t, string(c.plain), string(room[:n]), c.name)
	require.Equal(t, string(c.tag), string(room[n:]), c.name)

	clear(room[n:])
	a.seal(s, room, n, c.aad)
	require.Equal(t, string(c.ct)+string(c.tag), string(room), c.name)
}

func TestWycheproof(t *testing.T) {
	dir := sharedVectors(t, "aead", "wycheproof")
	for file, cipher := range map[string]Cipher{
		"aes_gcm_test.json":           AESGCM,
		"aes_gmac_test.json":          AESGCM,
		"chacha20_poly1305_test.json": ChaCha20Poly1305,
	} {
		t.Run(file, func(t *testing.T) {
			var f struct {
				TestGroups []struct {
					IVSize int `json:"ivSize"`
					Tests  []struct {
						TCID                       int `json:"tcId"`
						Key, IV, AAD, Msg, CT, Tag hexBytes
						Result                     string
					}
				}
			}
			readJSON(t, filepath.Join(dir, file), &f)
			s, count := NewScratch(0), 0
			for _, g := range f.TestGroups {
				if g.IVSize != nonceLen*8 {
					continue // ESP has no other
				}
				for _, v := range g.Tests {
					c := aeadCase{
						name: fmt.Sprintf("%s %d", file, v.TCID), key: v.Key, nonce: v.IV,
						aad: v.AAD, plain: v.Msg, ct: v.CT, tag: v.Tag, refused: v.Result == "invalid",
					}
					if strings.Contains(file, "gmac") {
						c.aad, c.plain = v.Msg, nil
					}
					c.run(t, s, cipher)
					count++
				}
			}
			t.Logf("%d cases", count)
			require.Greater(t, count, 100)
		})
	}
}

func TestNIST(t *testing.T) {
	var f struct {
		Tests []struct {
			File                      string
			Count                     int
			Key, IV, AAD, CT, Tag, PT hexBytes
			Fail                      bool
		}
	}
	readJSON(t, sharedVectors(t, "aead", "nist-cavp-gcm-decrypt.json"), &f)
	s, refused := NewScratch(0), 0
	for _, v := range f.Tests {
		c := aeadCase{
			name: fmt.Sprintf("%s %d, tag of %d", v.File, v.Count, len(v.Tag)), key: v.Key, nonce: v.IV,
			aad: v.AAD, plain: v.PT, ct: v.CT, tag: v.Tag, refused: v.Fail,
		}
		if v.Fail {
			refused++
		}
		c.run(t, s, AESGCM)
	}
	require.Len(t, f.Tests, 3375)
	require.Equal(t, 1694, refused)
}

func TestStrongSwanAEAD(t *testing.T) {
	var f struct {
		Tests []struct {
			Name, Alg                       string
			Key, Salt, IV, AAD, CT, Tag, PT hexBytes
			ICVLen                          int `json:"icv_len"`
		}
	}
	readJSON(t, sharedVectors(t, "aead", "strongswan-aead.json"), &f)
	require.NotEmpty(t, f.Tests)
	s := NewScratch(0)
	for _, v := range f.Tests {
		cipher := AESGCM
		if strings.HasPrefix(v.Alg, "chacha") {
			cipher = ChaCha20Poly1305
		}
		require.Len(t, v.Tag, v.ICVLen)
		c := aeadCase{
			name: v.Name, key: v.Key, nonce: append(append([]byte(nil), v.Salt...), v.IV...),
			aad: v.AAD, plain: v.PT, ct: v.CT, tag: v.Tag,
		}
		c.run(t, s, cipher)
	}
}

// TestPublishedESP seals and opens ESP packets from RFCs, drafts and other
// people's programs.
func TestPublishedESP(t *testing.T) {
	dir := sharedVectors(t, "esp")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	done := 0
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".json" {
			continue
		}
		var f struct{ Tests []publishedESP }
		readJSON(t, filepath.Join(dir, file.Name()), &f)
		for _, v := range f.Tests {
			t.Run(file.Name()+" "+v.Name, func(t *testing.T) {
				v.run(t)
				done++
			})
		}
	}
	require.Greater(t, done, 40)
}

type publishedESP struct {
	Name, Alg, Mode, Expect string
	Key, Salt, ESP          hexBytes
	Seq                     uint64
	ESNHi                   *uint64  `json:"esn_hi"`
	ICVLen                  int      `json:"icv_len"`
	ESPPacket               hexBytes `json:"esp_packet"`
	PlaintextPacket         hexBytes `json:"plaintext_packet"`
	ESPPlaintext            hexBytes `json:"esp_plaintext"`
	TrailerValid            bool     `json:"trailer_valid"`
	UDPEncap                bool     `json:"udp_encap"`
}

func (v *publishedESP) run(t *testing.T) {
	sa := vectorSA{Alg: v.Alg, Key: v.Key, Salt: v.Salt, ICVLen: v.ICVLen, ESN: v.ESNHi != nil}
	a, unsupported := sa.newAEAD(t)
	if a == nil {
		t.Skip(unsupported)
	}
	seq := v.Seq
	if v.ESNHi != nil {
		seq |= *v.ESNHi << 32
	}
	s := NewScratch(0)
	o := Offsets{ESP: 3, Text: 3 + 16, TextLen: len(v.ESP) - 16 - v.ICVLen}
	o.ICV = o.Text + o.TextLen
	buf := append([]byte{1, 2, 3}, v.ESP...)
	err := a.Open(s, buf, o, seq, sa.ESN)
	if v.Expect == "drop" {
		require.ErrorIs(t, err, ErrAuth)
		return
	}
	require.NoError(t, err)
	require.Equal(t, []byte(v.ESPPlaintext), buf[o.Text:o.ICV])
	clear(buf[o.ICV:])
	require.NoError(t, a.Seal(s, buf, o, seq, sa.ESN))
	require.Equal(t, []byte(v.ESP), buf[3:])
	if v.ESPPacket != nil && v.TrailerValid && v.PlaintextPacket != nil {
		v.runPacket(t, s, a, seq)
	}
}

// runPacket puts the whole IP packet into an Ethernet frame and opens that. What
// was sealed in tunnel mode comes out as a packet whose payload is a packet.
func (v *publishedESP) runPacket(t *testing.T, s *Scratch, a *AEAD, seq uint64) {
	frame := append([]byte{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0}, v.ESPPacket...)
	if v.ESPPacket[0]>>4 == 6 {
		frame[12], frame[13] = 0x86, 0xdd
	} else {
		// Some sources leave the outer checksum wrong.
		frame[24], frame[25] = 0, 0
		binary.BigEndian.PutUint16(frame[24:], ^packet.Sum(frame[14:34]))
	}
	r := newRoom(frame)
	require.Equal(t, packet.OK, r.meta.Fault)
	tr := Transform{ICVLen: v.ICVLen, ESN: v.ESNHi != nil}
	err := r.open(s, &tr, a, seq>>32)
	trailer := v.ESPPlaintext[len(v.ESPPlaintext)-1]
	if trailer == packet.ProtoNone {
		require.ErrorIs(t, err, ErrDummy)
		return
	}
	require.NoError(t, err)
	require.Equal(t, packet.OK, r.meta.Fault)
	if v.Mode == "transport" {
		require.Equal(t, []byte(v.PlaintextPacket), r.ip())
		return
	}
	require.Equal(t, trailer, r.meta.Flow.Proto)
	require.Equal(t, []byte(v.PlaintextPacket), r.frame()[r.meta.Upper:r.meta.End])
}
