package esp

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hexBytes is hex text in JSON; null is nil.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// vectorSA is an SA of testdata/scapy.
type vectorSA struct {
	Name       string
	SPI        uint32
	Alg        string
	Key, Salt  hexBytes
	ICVLen     int  `json:"icv_len"`
	ESN        bool `json:"esn"`
	UDPEncap   bool `json:"udp_encap"`
	ImplicitIV bool `json:"implicit_iv"`
}

// vector is one case of testdata/scapy.
type vector struct {
	Name            string
	SA              string
	Seq             uint64
	ESNHi           *uint64  `json:"esn_hi"`
	IV              hexBytes `json:"iv"`
	ExpectIn        string   `json:"expect_in"`
	ExpectOut       string   `json:"expect_out"`
	Reason          string
	PlaintextPacket hexBytes `json:"plaintext_packet"`
	ESPPacket       hexBytes `json:"esp_packet"`
	ESPFrame        int      `json:"esp_frame"`
	PlainFrame      int      `json:"plain_frame"`
	ByteExactOut    *bool    `json:"byte_exact_out"`
	Payload         hexBytes
}

func (v *vector) seq() uint64 {
	if v.ESNHi != nil {
		return *v.ESNHi<<32 | v.Seq
	}
	return v.Seq
}

type vectorFile struct {
	SAs       []vectorSA
	Tests     []vector
	ESPPcap   string `json:"esp_pcap"`
	PlainPcap string `json:"plain_pcap"`

	esp, plain [][]byte
	byName     map[string]*vectorSA
}

func readVectors(t testing.TB, name string) *vectorFile {
	t.Helper()
	dir := filepath.Join("testdata", "scapy")
	var f vectorFile
	readJSON(t, filepath.Join(dir, name+".json"), &f)
	f.esp, f.plain = readPcap(t, dir, f.ESPPcap), readPcap(t, dir, f.PlainPcap)
	f.byName = map[string]*vectorSA{}
	for i := range f.SAs {
		f.byName[f.SAs[i].Name] = &f.SAs[i]
	}
	require.NotEmpty(t, f.Tests)
	return &f
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, into), path)
}

// readPcap returns the frames of a classic little-endian pcap file.
func readPcap(t testing.TB, dir, name string) (frames [][]byte) {
	t.Helper()
	if name == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	require.Equal(t, uint32(0xa1b2c3d4), binary.LittleEndian.Uint32(b))
	for b = b[24:]; len(b) > 0; {
		n := binary.LittleEndian.Uint32(b[8:])
		frames = append(frames, b[16:16+n])
		b = b[16+n:]
	}
	return frames
}

// newAEAD returns the AEAD of an SA, or the reason why this package has none.
func (s *vectorSA) newAEAD(t testing.TB) (a *AEAD, unsupported string) {
	t.Helper()
	var err error
	switch {
	case s.ImplicitIV:
		return nil, "implicit IVs (RFC 8750) are not supported"
	case strings.HasPrefix(s.Alg, "aes-gmac"):
		return nil, "AES-GMAC (RFC 4543) is not supported"
	case strings.HasPrefix(s.Alg, "aes-gcm"):
		a, err = New(AESGCM, s.Key, s.Salt, s.ICVLen)
	default:
		a, err = New(ChaCha20Poly1305, s.Key, s.Salt, s.ICVLen)
	}
	require.NoError(t, err)
	return a, ""
}

func (s *vectorSA) transform() Transform {
	tr := Transform{SPI: s.SPI, ICVLen: s.ICVLen, ESN: s.ESN, Encap: s.UDPEncap}
	if tr.Encap {
		tr.EncapSrc, tr.EncapDst = 4500, 4500
	}
	return tr
}

// sharedVectors is a folder of published vectors that are not part of this
// repository, or skips the test.
func sharedVectors(t *testing.T, elem ...string) string {
	t.Helper()
	root := os.Getenv("ESPGW_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(append([]string{root, "vectors"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("published vectors are not here (set ESPGW_SHARED to the folder that has vectors/): %v", err)
	}
	return path
}
