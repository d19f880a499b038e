package xfrm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	keyHex = "0x44434241343332312423222114131211f4f3f2f1"
	id     = "src 10.0.0.1 dst 10.0.0.2 proto esp spi 7 "
	alg    = "aead 'rfc4106(gcm(aes))' " + keyHex + " 128"
)

// TestErrors checks where an error points, at what, and what it says.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		line   string // ¦ stands in front of the wrong word, if that is not clear
		word   string
		reason string
		accept string // one of the accepted, if not empty
	}{
		{"ip", "ip", "needs `xfrm`", "xfrm"},
		{"ip link", "link", "is not an `ip xfrm` command", ""},
		{"ip xfrm", "xfrm", "needs an object", "state"},
		{"ip xfrm route", "route", "is not an object", "policy"},
		{"ip -j xfrm state", "-j", "plain text", ""},
		{"ip -n blue xfrm state", "-n", "no network namespaces", ""},
		{"ip -b file", "-b", "batch already", ""},
		{"ip -f inet7 x s", "inet7", "is not a family", "inet6"},
		{"ip -? x s", "-?", "is not an option", "-stats"},
		{"ip x s frobnicate", "frobnicate", "is not a command of this object", "deleteall"},
		{"ip x s allocspi proto esp", "allocspi", "key exchange daemons", ""},
		{"ip x p set hthresh4 32 32", "set", "hash thresholds", ""},
		{"ip x s count now", "now", "is not expected here", ""},

		{"ip x s add " + alg, "128", "the ID is missing", ""},
		{"ip x s add " + id, "7", "the algorithm is missing", "aead 'rfc4106(gcm(aes))' KEY 64|96|128"},
		{"ip x s add dst 10.0.0.2 proto esp spi 7 " + alg, "128", "no source address", ""},
		{"ip x s add src 10.0.0.2 proto esp spi 7 " + alg, "128", "no destination address", ""},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 spi 7 " + alg, "128", "no protocol", "proto esp"},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp " + alg, "128", "no SPI", ""},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0 " + alg, "0", "SPI 0", "1 to 0xffffffff"},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi", "spi", "needs an SPI behind it", ""},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 4294967296", "4294967296", "is not an SPI", ""},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 09", "09", "is not an SPI", ""},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi +9", "+9", "is not an SPI", ""},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 1_0", "1_0", "is not an SPI", ""},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto ah", "ah", "only ESP", "esp"},
		{"ip x s add src 10.0.0.1 dst 10.0.0.2 proto 50", "50", "is not an IPsec protocol", "esp"},
		{"ip x s add src 10.0.0.1/24 dst 10.0.0.2 proto esp spi 7 " + alg, "10.0.0.1/24", "without a prefix length", ""},
		{"ip x s add src 10.0.0.1 dst 2001:db8::1 proto esp spi 7", "2001:db8::1", "other address's family", ""},
		{"ip -6 x s add src 10.0.0.1", "10.0.0.1", "family that -4 or -6", ""},
		{"ip x s add src any dst 10.0.0.1", "any", "of which family", "0.0.0.0/0"},
		{"ip x s add src fe80::1%eth0", "fe80::1%eth0", "is not an address", ""},
		{"ip x s add src 10.0.0.256", "10.0.0.256", "is not an address", ""},
		{"ip x s add " + id + "mode transport ¦dst 10.0.0.9", "dst", "the ID, which has ended", ""},
		{"ip x s add src 10.0.0.1 ¦src 10.0.0.2", "src", "given twice", ""},
		{"ip x s add reqid 1 ¦reqid 2", "reqid", "given twice", ""},
		{"ip x s add mode tunnel", "tunnel", "tunnel mode is not spoken here", "transport"},
		{"ip x s add mode bee", "bee", "beet mode", "transport"},
		{"ip x s add mode x", "x", "is not a mode", "transport"},
		{"ip x s add mark 7", "mark", "no mark", ""},
		{"ip x s add output-mark 7", "output-mark", "no mark", ""},
		{"ip x s add if_id 7", "if_id", "no xfrm interfaces", ""},
		{"ip x s add ctx a", "ctx", "security contexts", ""},
		{"ip x s add coa 10.0.0.1", "coa", "care-of", ""},
		{"ip x s add pcpu-num 1", "pcpu-num", "processor", ""},
		{"ip x s add extra-flag oseq-may-wrap", "extra-flag", "never wrap", ""},
		{"ip x s add " + id + "enc 'cbc(aes)' 0x00", "enc", "combined mode", algorithmUsage[0]},
		{"ip x s add " + id + "auth-trunc 'hmac(sha1)' 0x00 96", "auth-trunc", "combined mode", algorithmUsage[1]},
		{"ip x s add " + id + "comp deflate", "comp", "IPComp", ""},
		{"ip x s add tfcpad 100", "100", "traffic flow confidentiality", "0"},
		{"ip x s add seq 5", "5", "acquire", "0"},
		{"ip x s add flag esn wildrecv", "wildrecv", "wildcard", "esn"},
		{"ip x s add flag ens", "ens", "is not a flag", "esn"},
		{"ip x s add flag 0x8", "0x8", "have no meaning", "esn"},
		{"ip x s add flag", "flag", "needs a flag", "esn"},
		{"ip x s add limit byte 5", "byte", "is not a limit", "byte-soft"},
		{"ip x s add limit time-hard 9223372037", "9223372037", "too many seconds", ""},
		{"ip x s add replay-window -1", "-1", "is not a number of packets", ""},
		{"ip x s add encap espintcp 1 2 0.0.0.0", "espintcp", "RFC 3948", "espinudp SPORT DPORT ADDRESS"},
		{"ip x s add encap espinudp 65536 2 0.0.0.0", "65536", "is not the source port", ""},
		{"ip x s add encap espinudp 4500 4500", "4500", "needs the original address", ""},
		{"ip x s add " + id + alg + " encap espinudp 4500 4500 ::1", "::1", "not of the addresses' family", ""},
		{"ip x s add offload eth4 dir out", "eth4", "is not expected here", "[crypto|packet] dev NAME dir in|out"},
		{"ip x s add offload dev eth4 out", "out", "is not expected here", "dir in"},
		{"ip x s add offload dev eth4 dir fwd", "fwd", "is not the direction of an SA", "in"},
		{"ip x s add offload dev ¦'eth 4' dir in", "eth 4", "is not a port's name", ""},
		{"ip x s add dir in offload dev eth4 dir out", "out", "contradicts", ""},
		{"ip x s add " + id + alg + " sel", "sel", "needs a selector", "proto"},
		{"ip x s add " + id + alg + " sel foo", "foo", "a selector is", "proto"},
		{"ip x s add " + id + alg + " sel ¦src ::/0", "src", "not of the addresses' family", ""},
		{"ip x s add " + id + alg + " replay-seq-hi 1", "replay-seq-hi", "needs extended sequence numbers", "flag esn"},
		{"ip x s add " + id + "aead ¦'rfc4543(gcm(aes))' 0x00 128", "rfc4543(gcm(aes))", "is not an algorithm", nameAESGCM},
		{"ip x s add " + id + "aead 'rfc4106(gcm(aes))' " + keyHex + " 120", "120", "is not a length in bits", "96"},
		{"ip x s add " + id + "aead '" + nameChaCha20Poly1305 + "' " + keyHex + " 96", "96", "is not a length in bits", "128"},
		{"ip x s add " + id + "aead 'rfc4106(gcm(aes))' ¦0x00112233445566778899aabbccddeeff 128", "(hidden)", "16 octets: the 4 octets of salt behind the cipher key are missing", "20 octets (16 of cipher key, 4 of salt)"},
		{"ip x s add " + id + "aead 'rfc4106(gcm(aes))' ¦0x0011 128", "(hidden)", "the key has 2 octets", "36 octets (32 of cipher key, 4 of salt)"},
		{"ip x s add " + id + "aead 'rfc4106(gcm(aes))' ¦0x00zz 128", "(hidden)", "the key is not hex", ""},
		{"ip x s add what 5", "what", "is not a setting of a state", "replay-window"},

		{"ip x s get dst 10.0.0.2 spi 7", "7", "no protocol", "proto esp"},
		{"ip x s delete reqid 7", "reqid", "is not expected here", "spi"},
		{"ip x s delete", "delete", "the ID is missing", ""},
		{"ip x s flush proto ah", "ah", "only ESP", "esp"},
		{"ip x s list spi x", "x", "is not an SPI", ""},
		{"ip x s list mark 4", "mark", "is not a condition", "reqid"},

		{"ip x p add src 10.0.0.0/8", "10.0.0.0/8", "no direction", "dir fwd"},
		{"ip x p add dir sideways", "sideways", "is not the direction of a policy", "fwd"},
		{"ip x p add dir in ¦dir in", "dir", "given twice", ""},
		{"ip x p add dir in src 10.0.0.0/33", "10.0.0.0/33", "is not an address", ""},
		{"ip x p add dir in src 10.0.0.0/255.0.255.0", "10.0.0.0/255.0.255.0", "is not an address", ""},
		{"ip x p add dir in proto tpc", "tpc", "is not a protocol", "0-255"},
		{"ip x p add dir in proto 256", "256", "is not a protocol", ""},
		{"ip x p add dir in proto icmp sport 1", "sport", "goes with these protocols only", "proto tcp"},
		{"ip x p add dir in proto tcp type 1", "type", "goes with these protocols only", "proto icmp"},
		{"ip x p add dir in proto mobility-header type 1", "type", "goes with these protocols only", ""},
		{"ip x p add dir in proto gre key 1", "key", "GRE keys", ""},
		{"ip x p add dir in proto icmp type 256", "256", "is not a number of 0 to 255", ""},
		{"ip x p add dir in proto tcp dport 65536", "65536", "is not a port", ""},
		{"ip x p add dir in dev eth0 src 10.0.0.1", "eth0", "not bound to a device", "none"},
		{"ip x p add dir in ptype sub", "sub", "one policy table", "main"},
		{"ip x p add dir in action deny", "deny", "is not an action", "block"},
		{"ip x p add dir in priority x", "x", "is not a priority", ""},
		{"ip x p add dir in flag nothing", "nothing", "is not a flag", "localok"},
		{"ip x p add dir in mark 1", "mark", "no mark", ""},
		{"ip x p add dir in if_id 1", "if_id", "no xfrm interfaces", ""},
		{"ip x p add dir in offload packet dev eth4", "offload", "a word of states", ""},
		{"ip x p add dir in index 9", "9", "is not an index of this direction", ""},
		{"ip x p add dir in tmpl", "tmpl", "no protocol", ""},
		{"ip x p add dir in tmpl mode transport", "transport", "no protocol", "tmpl proto esp …"},
		{"ip x p add dir in tmpl proto esp mode tunnel", "tunnel", "tunnel mode", "transport"},
		{"ip x p add dir in tmpl proto esp level maybe", "maybe", "is not a level", "use"},
		{"ip x p add dir in tmpl proto comp tmpl proto esp", "comp", "only ESP", ""},
		{"ip x p add dir in tmpl proto esp ¦tmpl proto esp", "tmpl", "one template", ""},
		{"ip x p add dir in src 10.0.0.0/8 tmpl proto esp src ::1 dst ::2", "tmpl", "not of the selector's family", ""},
		{"ip x p add dir in tmpl proto esp src 10.0.0.0/8", "10.0.0.0/8", "without a prefix length", ""},
		{"ip x p add dir in src 10.0.0.1 priority 1 dst 10.0.0.2", "dst", "stand together", ""},
		{"ip x p delete dir in", "in", "the policy is not named", "index N"},
		{"ip x p delete src 10.0.0.1", "10.0.0.1", "the direction is missing", "dir in"},
		{"ip x p delete dir in index 8 src 10.0.0.1", "10.0.0.1", "a selector and an index", ""},
		{"ip x p setdefault", "setdefault", "needs a direction", ""},
		{"ip x p setdefault in", "in", "needs an action", "block"},
		{"ip x p setdefault in drop", "drop", "is not an action", "accept"},
		{"ip x p flush ptype", "ptype", "needs a type", "main"},
		{"ip x monitor everything", "everything", "is not an event", "acquire"},

		{"ip x s list ¦'abc", "'", "the quote is not closed", ""},
		{`ip x s list ¦"abc`, `"`, "the quote is not closed", ""},
		{"ip x s list ¦$HOME", "$", "only a shell", ""},
		{"ip x s list | grep 7", "|", "only a shell", ""},
		{"ip x s list > file", ">", "only a shell", ""},
		{"ip x s list ¦`date`", "`", "only a shell", ""},
		{`ip x s list \`, `\`, "nothing follows", ""},
	} {
		line, column := pointed(t, c.line, c.word)
		_, err := Parse(line)
		var e *Error
		require.ErrorAs(t, err, &e, c.line)
		require.Equal(t, 1, e.Line, c.line)
		require.Equal(t, column, e.Column, "%s: %v", c.line, err)
		require.Equal(t, c.word, e.Word, c.line)
		require.Contains(t, e.Reason, c.reason, c.line)
		if c.accept != "" {
			require.Contains(t, e.Accepted, c.accept, c.line)
		}
	}
}

// pointed returns the line without its mark, and the column of the mark, or else
// of the word, which stands there once or at the end.
func pointed(t *testing.T, line, word string) (string, int) {
	t.Helper()
	if before, after, marked := strings.Cut(line, "¦"); marked {
		return before + after, len(before) + 1
	}
	words := strings.Fields(line)
	n := 0
	for _, w := range words {
		if w == word {
			n++
		}
	}
	if words[len(words)-1] == word {
		return line, strings.LastIndex(line, word) + 1
	}
	require.Equal(t, 1, n, line)
	return line, strings.Index(line+" ", " "+word+" ") + 2
}

func TestErrorText(t *testing.T) {
	_, err := ParseFile(strings.NewReader("# policies\nip xfrm policy add \\\n\tdir in prio 5\n"), "site.xfrm")
	require.EqualError(t, err, `site.xfrm:3:9: "prio": is not expected here; src, dst and proto of a policy stand together, `+
		"and a template's behind `tmpl`; accepted: src, dst, proto, sport, dport, type, code, dir, index, ptype, action, "+
		"priority, flag, limit, tmpl")
	_, err = Parse("ip xfrm state flush proto ah")
	require.EqualError(t, err, `line 1, column 27: "ah": only ESP is spoken here; accepted: esp`)
}

// TestErrorsHideKeys puts a key, or what could be one, everywhere.
func TestErrorsHideKeys(t *testing.T) {
	for _, key := range []string{
		keyHex, "44434241343332312423222114131211f4f3f2f1", "0xZZ434241343332312423222114131211f4f3f2f1",
		"correct-horse-battery-st", "0x4443424134333231", "Pa$$w0rd,Pa55word!x",
	} {
		quoted := "'" + key + "'"
		for _, line := range []string{
			"ip x s add " + id + "aead " + quoted + " 'rfc4106(gcm(aes))' 128",
			"ip x s add " + id + "aead " + quoted + " 128",
			"ip x s add " + id + "aead 'rfc4106(gcm(aes))' 128 " + quoted,
			"ip x s add " + id + "aead 'rfc4106(gcm(aes))' 0x00 " + quoted,
			"ip x s add " + id + "aead 'rfc4106(gcm(aes))' " + quoted,
			"ip x s add " + id + "aead 'rfc4106(gcm(aes))' " + quoted + " 128 nonsense",
			"ip x s add " + id + "aead 'rfc4106(gcm(aes))' " + quoted + "' 128",
			"ip x s add " + id + "aead 'rfc4106(gcm(aes))' " + quoted + " sel src 10.0.0.1",
			"ip x s add " + id + "enc 'cbc(aes)' " + quoted + " auth 'hmac(sha1)' " + quoted,
			"ip x s list aead 'rfc4106(gcm(aes))' " + quoted + " 128",
			"ip x s add aead 'rfc4106(gcm(aes))' " + quoted + " 128 spi 7",
		} {
			_, err := Parse(line)
			require.Error(t, err, line)
			require.NotContains(t, err.Error(), key, line)
		}
		if len(key) <= longestWord+1 {
			continue
		}
		for _, line := range []string{
			"ip x s add " + quoted, "ip x s add spi " + quoted, "ip x " + quoted, quoted, "ip x s add src " + quoted,
			"ip x p add dir " + quoted, "ip " + quoted, "ip x s add offload dev eth4 dir " + quoted,
		} {
			_, err := Parse(line)
			require.Error(t, err, line)
			require.NotContains(t, err.Error(), key, line)
		}
	}
}
