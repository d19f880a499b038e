package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
)

func TestPrintMTU(t *testing.T) {
	tests := []struct {
		lan, wan, clamp int
		want            string
	}{
		{1500, 1500, ipsec.ClampAuto, "pair 0: packets up to 1466 octets fit sealed (16-octet ICV); senders of larger ones are told (ICMP), TCP segments are clamped to that\n"},
		{1500, 1500, ipsec.ClampOff, "pair 0: packets up to 1466 octets fit sealed (16-octet ICV); senders of larger ones are told (ICMP), TCP segments are not clamped\n"},
		{1500, 1500, 1300, "pair 0: packets up to 1466 octets fit sealed (16-octet ICV); senders of larger ones are told (ICMP), TCP segments are clamped to 1300\n"},
		{1500, 1600, ipsec.ClampAuto, "pair 0: packets up to 1566 octets fit sealed (16-octet ICV)\n"},
		{1280, 1316, ipsec.ClampAuto, "pair 0: packets up to 1282 octets fit sealed (16-octet ICV)\n"},
		{1200, 1315, ipsec.ClampAuto, "pair 0: packets up to 1278 octets fit sealed (16-octet ICV)\n" +
			"pair 0: IPv6 needs packets of 1280 octets to fit: give the unprotected side an MTU of 1316 at least\n"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		printMTU(&out, 0, tt.lan, tt.wan, tt.clamp)
		require.Equal(t, tt.want, out.String())
	}
}

func TestParseMSSClamp(t *testing.T) {
	for text, want := range map[string]int{"auto": ipsec.ClampAuto, "off": ipsec.ClampOff, "88": 88, "1360": 1360, "15960": 15960} {
		got, err := parseMSSClamp(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "on", "87", "15961", "-1", "0", "1e3"} {
		_, err := parseMSSClamp(text)
		require.ErrorContains(t, err, "auto, off, or 88 to 15960", text)
	}
}
