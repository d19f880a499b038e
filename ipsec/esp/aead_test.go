package esp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

func TestNewAEADRefuses(t *testing.T) {
	key := make([]byte, 64)
	for _, tt := range []struct {
		name           string
		cipher         Cipher
		key, salt, icv int
		want           error
	}{
		{"aes, key with salt", AESGCM, 20, 4, 16, ErrKeyLength},
		{"aes, no key", AESGCM, 0, 4, 16, ErrKeyLength},
		{"aes, no salt", AESGCM, 16, 0, 16, ErrSaltLength},
		{"aes, icv of 4", AESGCM, 16, 4, 4, ErrICVLength},
		{"aes, icv of 13", AESGCM, 16, 4, 13, ErrICVLength},
		{"aes, icv in bits", AESGCM, 16, 4, 128, ErrICVLength},
		{"chacha, short key", ChaCha20Poly1305, 16, 4, 16, ErrKeyLength},
		{"chacha, long salt", ChaCha20Poly1305, 32, 8, 16, ErrSaltLength},
		{"chacha, short icv", ChaCha20Poly1305, 32, 4, 8, ErrICVLength},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := New(tt.cipher, key[:tt.key], key[:tt.salt], tt.icv)
			require.ErrorIs(t, err, tt.want)
			require.Nil(t, a)
		})
	}
}

// TestAEADNeverPrints: no way of printing shows key or salt.
func TestAEADNeverPrints(t *testing.T) {
	key, salt := bytes.Repeat([]byte{0xc7}, 32), bytes.Repeat([]byte{0x5b}, 4)
	for _, c := range []Cipher{AESGCM, ChaCha20Poly1305} {
		a, err := New(c, key, salt, 16)
		require.NoError(t, err)
		var log bytes.Buffer
		noTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, at slog.Attr) slog.Attr {
			if at.Key == slog.TimeKey {
				return slog.Attr{} // could hold the digits that are searched for
			}
			return at
		}}
		slog.New(slog.NewTextHandler(&log, noTime)).Info("x", "aead", a, "value", *a)
		slog.New(slog.NewJSONHandler(&log, noTime)).Info("x", "aead", a, "value", *a)
		encoded, err := json.Marshal(map[string]any{"aead": a})
		require.NoError(t, err)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
			fmt.Fprintf(&log, verb+verb, a, *a)
		}
		text := log.String() + string(encoded)
		for _, secret := range []string{"199", "91", "\xc7", "\x5b\x5b", "0xc7", hex.EncodeToString(key), hex.EncodeToString(salt)} {
			require.NotContains(t, text, secret)
		}
	}
}

// TestAEADKeepsNoKey: the caller may wipe its key.
func TestAEADKeepsNoKey(t *testing.T) {
	s := NewScratch(256)
	for _, k := range KnownAnswers() {
		key, salt := append([]byte(nil), k.Key...), append([]byte(nil), k.Salt...)
		a, err := New(k.Cipher, key, salt, k.ICVLen)
		require.NoError(t, err)
		clear(key)
		clear(salt)
		buf := append([]byte(nil), k.Packet...)
		require.NoError(t, a.Open(s, buf, k.Offsets(0), k.Seq, k.ESN))
	}
}

// TestOpenForged flips every bit of a short packet and every octet of a longer
// one. Nothing may open, nothing in clear may stay behind, and nothing but the
// text may change.
func TestOpenForged(t *testing.T) {
	s := NewScratch(0)
	for _, n := range suites() {
		t.Run(n.name(), func(t *testing.T) {
			a := n.fast(t)
			tr := Transform{SPI: n.spi, ICVLen: n.icvLen}
			frame := plainFrame(head4, 16)
			copy(frame[34:], "plain text, here")
			r := newRoom(frame)
			require.NoError(t, r.seal(s, &tr, a, 9))
			sealed := append([]byte(nil), r.frame()...)
			for bit := 34 * 8; bit < len(sealed)*8; bit++ {
				forged := append([]byte(nil), sealed...)
				forged[bit/8] ^= 1 << (bit % 8)
				in := newRoom(forged)
				require.ErrorIs(t, in.open(s, &tr, a, 0), ErrAuth)
				require.NotContains(t, string(in.buf), "plain")
				require.Equal(t, forged[:34+16], in.frame()[:34+16], "headers")
				require.Equal(t, forged[len(forged)-n.icvLen:], in.frame()[len(forged)-n.icvLen:], "ICV")
				in.checkAround(t, in.start, in.end)
			}
		})
	}
}

// TestOffsetsOutsideBuffer: offsets that do not fit the buffer are an error, not
// a panic.
func TestOffsetsOutsideBuffer(t *testing.T) {
	n := suites()[2]
	a, s, buf := n.fast(t), NewScratch(0), make([]byte, 100)
	for _, o := range []Offsets{
		{ESP: -1, Text: 15, TextLen: 8, ICV: 23},
		{ESP: 60, Text: 76, TextLen: 12, ICV: 88},
		{ESP: 0, Text: 16, TextLen: -4, ICV: 12},
		{ESP: 0, Text: 8, TextLen: 8, ICV: 16},
		{ESP: 0, Text: 16, TextLen: 8, ICV: 32},
		{ESP: 1 << 62, Text: 1<<62 + 16, TextLen: 8, ICV: 1<<62 + 24},
	} {
		require.ErrorIs(t, a.Seal(s, buf, o, 1, false), ErrNoRoom)
		require.ErrorIs(t, a.Open(s, buf, o, 1, true), ErrMalformed)
		require.Equal(t, make([]byte, 100), buf)
	}
}

// TestAEADConcurrently: one AEAD, many workers, a Scratch each.
func TestAEADConcurrently(t *testing.T) {
	for _, n := range []naive{suites()[0], suites()[2], suites()[9]} {
		a := n.fast(t)
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				s := NewScratch(0)
				tr := Transform{SPI: n.spi, ICVLen: n.icvLen}
				for i := range 200 {
					frame := plainFrame(head4, i)
					r := newRoom(frame)
					err := r.seal(s, &tr, a, uint64(w)<<20|uint64(i))
					if err == nil {
						packet.Parse(r.frame(), &r.meta)
						err = r.open(s, &tr, a, 0)
					}
					if err != nil || !bytes.Equal(frame, r.frame()) {
						t.Errorf("worker %d, packet %d: %v", w, i, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}
