package packet

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// mtuVectors is testdata/mtu.json, which testdata/gen-mtu.py makes with scapy.
type mtuVectors struct {
	MSS []struct {
		Name, Before, After string
		MSS                 uint16
	}
	TooBig []struct {
		Name, Headers, Answer string // without the pattern
		Pattern, MTU, Quoted  int
	} `json:"too_big"`
	AboutESP []struct {
		Name, Frame, Kind string
		Quoted            struct {
			V6, Encap     bool
			SPort, DPort  uint16
			SPI, Sequence uint32
			MTU           int
		}
	} `json:"about_esp"`
}

func readMTUVectors(t testing.TB) (v mtuVectors) {
	t.Helper()
	text, err := os.ReadFile("testdata/mtu.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &v))
	require.NotEmpty(t, v.MSS)
	require.NotEmpty(t, v.TooBig)
	require.NotEmpty(t, v.AboutESP)
	return v
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	require.NoError(t, err)
	return b[:len(b):len(b)]
}

// pattern is n octets that differ from their neighbours.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// checksumOf sums the upper layer of the whole packet in frame and its pseudo header:
// 0xffff where the checksum is right. Not for what is behind a routing header.
func checksumOf(frame []byte, m *Meta) uint16 {
	u := frame[m.Upper:m.End]
	h := frame[m.L3:]
	switch n := len(u); {
	case m.Flow.Proto == ProtoICMP:
		return naiveSum(u)
	case m.Kind == IPv4:
		return naiveSum(concat(h[12:20], []byte{0, m.Flow.Proto, byte(n >> 8), byte(n)}, u))
	default:
		return naiveSum(concat(h[8:40], []byte{0, 0, byte(n >> 8), byte(n), 0, 0, 0, m.Flow.Proto}, u))
	}
}
