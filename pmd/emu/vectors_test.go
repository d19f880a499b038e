package emu_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

// vector is a published ESP packet: octets from SPI to ICV and what was sealed in them.
type vector struct {
	Name      string  `json:"name"`
	Alg       string  `json:"alg"`
	Key       octets  `json:"key"`
	Salt      octets  `json:"salt"`
	ESNHigh   *uint32 `json:"esn_hi"`
	ICVLen    int     `json:"icv_len"`
	Expect    string  `json:"expect"`
	ESP       octets  `json:"esp"`
	Plaintext octets  `json:"esp_plaintext"`
	Trailer   *bool   `json:"trailer_valid"`
}

// octets are hexadecimal in JSON.
type octets []byte

func (o *octets) UnmarshalText(text []byte) (err error) {
	*o, err = hex.DecodeString(string(text))
	return err
}

func vectors(t *testing.T, name string) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../shared/vectors/esp", name))
	if os.IsNotExist(err) {
		t.Skip("the vectors are not beside the repository: ../shared/vectors/esp/" + name)
	}
	require.NoError(t, err)
	var file struct {
		Tests []vector `json:"tests"`
	}
	require.NoError(t, json.Unmarshal(text, &file))
	return file.Tests
}

// Packets that others published are sealed and opened octet for octet: those of
// draft-mcgrew-gcm-test-01, of Linux's testmgr.h, of DPDK's and of ODP's own tests.
func TestVectors(t *testing.T) {
	for name, want := range map[string]struct{ crypto, ixgbe int }{
		"mcgrew-gcm-test-01.json": {16, 3},
		"linux-testmgr.json":      {22, 9},
		"dpdk-ipsec.json":         {5, 2},
		"odp-ipsec.json":          {4, 3},
	} {
		t.Run(name, func(t *testing.T) {
			list := vectors(t, name)
			ran := map[string]int{}
			for _, v := range list {
				high := uint64(0)
				if v.ESNHigh != nil {
					high = uint64(*v.ESNHigh)
				}
				if !strings.HasPrefix(v.Alg, "aes-gcm-") || v.ICVLen != 16 || v.Expect != "decrypt" || v.Trailer == nil || !*v.Trailer {
					continue
				}
				run := func(options string) {
					ran[options]++
					t.Run(options+" "+v.Name, func(t *testing.T) { v.run(t, options, high) })
				}
				run("crypto")
				if len(v.Key) == 16 && v.ESNHigh == nil {
					run("ixgbe")
				}
			}
			require.Equal(t, map[string]int{"crypto": want.crypto, "ixgbe": want.ixgbe}, ran)
		})
	}
}

func (v *vector) run(t *testing.T, options string, high uint64) {
	r := newRig(t, options)
	seq := high<<32 | uint64(v.ESP[4])<<24 | uint64(v.ESP[5])<<16 | uint64(v.ESP[6])<<8 | uint64(v.ESP[7])
	c := probe.Conf{
		SPI: uint32(v.ESP[0])<<24 | uint32(v.ESP[1])<<16 | uint32(v.ESP[2])<<8 | uint32(v.ESP[3]), KeyLen: len(v.Key), ICVLen: 16,
		ESN: v.ESNHigh != nil, Sequence: seq, Salt: v.Salt, Key: append(append([]byte(nil), v.Key...), v.Salt...), Egress: true,
	}
	esp := append(append(append([]byte(nil), v.ESP[:16]...), v.Plaintext...), make([]byte, 16)...)
	wire := r.sendRaw(r.marked(ipFrame(src, dst, 50, esp), r.raw(c), seq))
	require.Equal(t, []byte(v.ESP), wire[0][34:])

	c.Egress = false
	s := r.raw(c)
	_, err := s.Flow(rule(src))
	require.NoError(t, err)
	g := r.receive(ipFrame(dst, src, 50, v.ESP))[0]
	require.Equal(t, goodMark, g.marks())
	require.Equal(t, []byte(v.Plaintext), g.frame[50:len(g.frame)-16])
	bad := put(v.ESP, len(v.ESP)-1, v.ESP[len(v.ESP)-1]^1)
	require.EqualValues(t, pmd.FlagRxSecOffloadFailed, r.receive(ipFrame(dst, src, 50, bad))[0].flags&pmd.FlagRxSecOffloadFailed)
	r.kept()
}
