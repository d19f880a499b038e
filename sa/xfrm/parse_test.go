package xfrm

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// classic are the four commands that every guide to hardware ESP shows.
const classic = `
ip x p add dir out src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp tmpl \
   proto esp src 14.0.0.52 dst 14.0.0.70 spi 0x07 mode transport reqid 0x07
ip x p add dir in src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp tmpl \
   proto esp dst 14.0.0.52 src 14.0.0.70 spi 0x07 mode transport reqid 0x07
ip x s add proto esp src 14.0.0.52 dst 14.0.0.70 spi 0x07 mode transport \
   reqid 0x07 replay-window 32 \
   aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 \
   sel src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp offload dev eth4 dir out
ip x s add proto esp dst 14.0.0.52 src 14.0.0.70 spi 0x07 mode transport \
   reqid 0x07 replay-window 32 \
   aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 \
   sel src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp offload dev eth4 dir in
`

func TestClassicCommands(t *testing.T) {
	commands, err := ParseFile(strings.NewReader(classic), "classic.xfrm")
	require.NoError(t, err)
	require.Len(t, commands, 4)

	a, b := netip.MustParseAddr("14.0.0.52"), netip.MustParseAddr("14.0.0.70")
	sel := func(src, dst netip.Addr) sa.Selector {
		return sa.Selector{Src: netip.PrefixFrom(src, 24), Dst: netip.PrefixFrom(dst, 24), Proto: 6}
	}
	policy := func(dir sa.Direction, src, dst netip.Addr) *sa.Policy {
		return &sa.Policy{
			Dir: dir, Sel: sel(src, dst), Limits: sa.Unlimited(),
			Templates: []sa.Template{{Src: src, Dst: dst, Proto: 50, SPI: 7, ReqID: 7}},
		}
	}
	require.Equal(t, policy(sa.DirOut, a, b), commands[0].Policy)
	require.Equal(t, policy(sa.DirIn, b, a), commands[1].Policy)
	key := []byte{0x44, 0x43, 0x42, 0x41, 0x34, 0x33, 0x32, 0x31, 0x24, 0x23, 0x22, 0x21, 0x14, 0x13, 0x12, 0x11, 0xf4, 0xf3, 0xf2, 0xf1}
	state := func(dir sa.Direction, src, dst netip.Addr) *sa.Params {
		s := sel(src, dst)
		return &sa.Params{
			ID: sa.ID{Dst: dst, Proto: 50, SPI: 7}, Src: src, ReqID: 7, Algorithm: sa.AlgAESGCM, Key: sa.NewKey(key), ICVBits: 128,
			ReplayWindow: 32, ReplayWindowSet: true, Sel: &s, Limits: sa.Unlimited(), Offload: &sa.Offload{Dev: "eth4", Dir: dir},
		}
	}
	require.Equal(t, state(sa.DirOut, a, b), commands[2].State)
	require.Equal(t, state(sa.DirIn, b, a), commands[3].State)
	require.Equal(t, []int{2, 4, 6, 10}, []int{commands[0].Line, commands[1].Line, commands[2].Line, commands[3].Line})
	for i, c := range commands {
		require.Equal(t, VerbAdd, c.Verb)
		require.Equal(t, i >= 2, c.Object == ObjectState)
		require.True(t, c.Mutates())
	}
}
