package ipsec_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var fence = regexp.MustCompile("(?ms)^```xfrm( bypass)?\n(.*?)^```$")

// Every block of ip xfrm commands in the documents is accepted as it stands.
func TestDocumentedCommands(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	r := newRig(t, "")
	blocks := 0
	for _, file := range append(files, "../README.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			blocks++
			require.NoError(t, r.run("ip xfrm state flush\nip xfrm policy flush\n"+m[2]), file)
		}
	}
	require.GreaterOrEqual(t, blocks, 3)
}

// The documented bypass lines let links come up under a policy for everything,
// and let nothing else past it.
func TestBypassLines(t *testing.T) {
	text, err := os.ReadFile("../docs/xfrm.md")
	require.NoError(t, err)
	var bypass string
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if m[1] != "" {
			bypass = m[2]
		}
	}
	require.NotEmpty(t, bypass)
	var everything strings.Builder
	for _, family := range []string{"::/0", "0.0.0.0/0"} {
		for _, dir := range []string{"in", "out"} {
			everything.WriteString("ip xfrm policy add dir " + dir + " src " + family + " dst " + family + " priority 10 tmpl proto esp mode transport reqid 1\n")
		}
	}
	icmp := func(kind byte) []byte { return append([]byte{kind, 0, 0, 0}, counting(20)...) }
	const a, b, group = "fe80::1", "fe80::2", "ff02::1:ff00:2"
	passes := [][]byte{
		ethernet(0x86dd, ipv6(a, group, 58, icmp(135))),
		ethernet(0x86dd, ipv6(a, b, 58, icmp(136))),
		ethernet(0x86dd, ipv6(a, "ff02::2", 58, icmp(133))),
		ethernet(0x86dd, ipv6(a, "ff02::16", 58, icmp(143))),
		ethernet(0x86dd, ipv6(a, "ff02::1:2", protoUDP, udp(546, 547, counting(30)))),
		ethernet(0x0800, ipv4("0.0.0.0", "255.255.255.255", protoUDP, udp(68, 67, counting(300)))),
	}
	protected := [][]byte{
		ethernet(0x86dd, ipv6(a, b, 58, icmp(128))),
		ethernet(0x86dd, ipv6(a, b, protoTCP, tcp(1, 2, nil))),
		ethernet(0x0800, ipv4("10.0.0.1", "10.0.0.2", protoUDP, udp(68, 68, nil))),
	}
	r := newRig(t, everything.String())
	require.Empty(t, r.outbound(passes...), "without them nothing passes")
	r.configure(bypass + everything.String())
	require.Equal(t, passes, r.outbound(passes...))
	require.Empty(t, r.outbound(protected...))
	require.Equal(t, map[string]uint64{"out_no_state": 3}, r.drops())
	require.Equal(t, passes[:2], r.inbound(passes[:2]...))
}
