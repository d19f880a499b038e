package xfrm

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// TestSameState lists ways to write one state; all mean the first.
func TestSameState(t *testing.T) {
	want, err := Parse("ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x00000007 mode transport reqid 16 " + alg)
	require.NoError(t, err)
	const rest = " spi 7 mode transport reqid 16 "
	for _, line := range []string{
		"xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + alg,
		"/sbin/ip x s a " + alg + " spi 07 proto esp dst 10.0.0.2 src 10.0.0.1 reqid 0x10 mode t",
		"ip -s -o -d -h -c --oneline -Numeric x sa add mode trans reqid 020 src 10.0.0.1/32 dst 10.0.0.2/255.255.255.255 proto esp spi 0x7 " + alg,
		"ip -4 xf st ad src 10.1 src 10.0.0.1",
		"ip -family inet -- xfr sta add src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + alg,
		"\ufeff  ip\tx  s a src 10.0.0.1 \\\n\t dst 10.0.0.2 \\\r\n proto esp" + rest + alg + "   # and a comment",
		"# a comment\n\n  \t\nip x s a src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + alg + "\r\n",
		";; ip x s a src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + alg + " ;",
		`"ip" 'x' s a "src" 10.0.0.1 dst 10.0.0.2 'pro'to esp` + rest + alg,
		"ip x s a src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + `aead rfc4106\(gcm\(aes\)\) ` + keyHex + " 128",
		"ip x s a src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + "aead rfc4106(gcm(aes)) " + keyHex + " 0x80",
		"ip x s a src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + `aead "rfc4106(gcm(aes))" ` + strings.ToUpper(keyHex[:2]) + keyHex[2:] + " 128",
		"ip x s a src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + alg[:60] + "\\\n" + alg[60:],
		"ip x s a src 10.0.0.1 dst 10.0.0.2 proto esp" + rest + alg + " tfcpad 0 seq 0 limit byte-hard 18446744073709551615",
	} {
		c, err := Parse(line)
		if strings.Contains(line, "0X") || strings.Contains(line, "src 10.1 src") {
			require.Error(t, err, line) // keys want 0x, and addresses stand once
			continue
		}
		require.NoError(t, err, line)
		require.Equal(t, want.State, c.State, line)
	}
}

func TestStateSettings(t *testing.T) {
	c, err := Parse("ip x s add src 2001:0db8:0000:0000:0000:0000:0000:0001 dst 0000:0000:0000:0000:0000:ffff:255.255.255.255 proto esp spi 4294967295 " +
		"flag esn noecn replay-window 128 replay-seq 0xfffffffd replay-seq-hi 5 replay-oseq 7 replay-oseq-hi 2 " +
		"aead 'rfc7539esp(chacha20,poly1305)' 'a string of thirty-six octets, yes!!' 128 " +
		"limit byte-soft 1 limit byte-hard 2 limit packet-soft 3 limit packet-hard 4 limit time-soft 5 limit time-hard 6 limit time-use-soft 7 limit time-use-hard 8 " +
		"encap espinudp 4500 0x1195 0.0.0.0 offload packet dev 0000:01:00.0 dir in dir in sel proto icmp type 8 code 0")
	require.NoError(t, err)
	want := &sa.Params{
		ID:  sa.ID{Dst: netip.MustParseAddr("::ffff:255.255.255.255"), Proto: 50, SPI: 0xffffffff},
		Src: netip.MustParseAddr("2001:db8::1"), Flags: sa.FlagESN | sa.FlagNoECN,
		ReplayWindow: 128, ReplayWindowSet: true, ReplaySeq: 5<<32 | 0xfffffffd, ReplayOSeq: 2<<32 | 7,
		Algorithm: sa.AlgChaCha20Poly1305, Key: sa.NewKey([]byte("a string of thirty-six octets, yes!!")), ICVBits: 128,
		Limits: sa.Limits{
			SoftBytes: 1, HardBytes: 2, SoftPackets: 3, HardPackets: 4,
			SoftAdd: 5e9, HardAdd: 6e9, SoftUse: 7e9, HardUse: 8e9,
		},
		Encap:   &sa.Encap{SrcPort: 4500, DstPort: 4501, OriginalAddr: netip.IPv6Unspecified()},
		Offload: &sa.Offload{Dev: "0000:01:00.0", Dir: sa.DirIn, Depth: sa.OffloadPacket},
		Dir:     sa.DirIn,
		Sel: &sa.Selector{
			Src: netip.MustParsePrefix("::/0"), Dst: netip.MustParsePrefix("::/0"), Proto: 1,
			SrcPort: 8, SrcMask: 0xffff, DstMask: 0xffff,
		},
	}
	require.Equal(t, want, c.State)
	c.Wipe()
	require.Equal(t, make([]byte, 36), c.State.Key.Bytes())
}

func TestSelectors(t *testing.T) {
	prefix := netip.MustParsePrefix
	for _, x := range []struct {
		text string
		want sa.Selector
	}{
		{"src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp", sa.Selector{Src: prefix("14.0.0.52/24"), Dst: prefix("14.0.0.70/24"), Proto: 6}},
		{"dst 10.0.0.1", sa.Selector{Src: prefix("0.0.0.0/0"), Dst: prefix("10.0.0.1/32")}},
		{"src 2001:db8::/32", sa.Selector{Src: prefix("2001:db8::/32"), Dst: prefix("::/0")}},
		{"proto 253", sa.Selector{Src: prefix("0.0.0.0/0"), Dst: prefix("0.0.0.0/0"), Proto: 253}},
		{"dev none proto any", sa.Selector{Src: prefix("0.0.0.0/0"), Dst: prefix("0.0.0.0/0")}},
		{"sport 53", sa.Selector{Src: prefix("0.0.0.0/0"), Dst: prefix("0.0.0.0/0"), SrcPort: 53, SrcMask: 0xffff}},
		{"dport 0x1234 proto udp sport 0", sa.Selector{
			Src: prefix("0.0.0.0/0"), Dst: prefix("0.0.0.0/0"), Proto: 17, DstPort: 0x1234, DstMask: 0xffff,
		}},
		{"proto tcp sport 1024/0xfc00 dport 0/0xffff", sa.Selector{
			Src: prefix("0.0.0.0/0"), Dst: prefix("0.0.0.0/0"), Proto: 6, SrcPort: 1024, SrcMask: 0xfc00, DstMask: 0xffff,
		}},
		{"proto IPv6-ICMP type 0", sa.Selector{Src: prefix("0.0.0.0/0"), Dst: prefix("0.0.0.0/0"), Proto: 58, SrcMask: 0xffff}},
	} {
		c, err := Parse("ip x p add dir in " + x.text)
		require.NoError(t, err, x.text)
		require.Equal(t, x.want, c.Policy.Sel, x.text)
	}
}

func TestCommands(t *testing.T) {
	commands, err := ParseFile(strings.NewReader(`
		ip xfrm state flush; ip xfrm policy flush && ip xfrm policy setdefault in block out accept
		ip -s -6 xfrm state list src 2001:db8::/32 spi 7 keys
		ip x s get dst 10.0.0.1 proto esp spi 7 keys
		ip x p delall priority 3 src 10.0.0.0/8
		ip x monitor acq SA nokeys
	`), "f")
	require.NoError(t, err)
	require.Len(t, commands, 7)
	verbs := []Verb{VerbFlush, VerbFlush, VerbSetDefault, VerbList, VerbGet, VerbDeleteAll, VerbNone}
	mutates := []bool{true, true, true, false, false, true, false}
	for i, c := range commands {
		require.Equal(t, verbs[i], c.Verb)
		require.Equal(t, mutates[i], c.Mutates())
		require.Equal(t, "f", c.File)
	}
	require.Equal(t, []int{2, 2, 2, 3, 4, 5, 6}, []int{
		commands[0].Line, commands[1].Line, commands[2].Line, commands[3].Line, commands[4].Line, commands[5].Line, commands[6].Line,
	})
	require.Equal(t, []Default{{sa.DirIn, sa.ActionBlock}, {sa.DirOut, sa.ActionAllow}}, commands[2].Defaults)
	require.Equal(t, FormatOptions{Keys: true, Stats: true}, commands[3].Options)
	require.Equal(t, FamilyIPv6, commands[3].StateFilter.Family)
	require.Equal(t, FormatOptions{Keys: true}, commands[4].Options)
	require.Equal(t, []string{"acquire", "SA"}, commands[6].Events)

	c, err := Parse(" # nothing")
	require.NoError(t, err)
	require.Nil(t, c)
	_, err = Parse("ip x s f; ip x p f")
	require.Error(t, err)
	_, err = ParseFile(strings.NewReader("ip x s f\nip x s x\n"), "f")
	require.ErrorContains(t, err, "f:2:8: \"x\"")
}
