package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Two SAs share a key; the third has ESN and a key of its own.
const testConfig = `
ip xfrm state add src 14.0.0.52 dst 14.0.0.70 proto esp spi 1 mode transport \
   aead 'rfc4106(gcm(aes))' 0x00112233445566778899aabbccddeeff00112233 128
ip xfrm state add src 14.0.0.52 dst 14.0.0.71 proto esp spi 2 mode transport \
   aead 'rfc4106(gcm(aes))' 0x00112233445566778899aabbccddeeff00112233 128
ip xfrm state add src 14.0.0.52 dst 14.0.0.72 proto esp spi 3 mode transport replay-window 64 flag esn \
   aead 'rfc4106(gcm(aes))' 0x10112233445566778899aabbccddeeff00112233 128
ip xfrm policy add dir out src 14.0.0.52 dst 14.0.0.70 tmpl src 14.0.0.52 dst 14.0.0.70 proto esp mode transport
`

// sent is one packet: of SA 1, 2 or 3, at so many milliseconds.
type sent struct {
	ms       int
	sa       uint32
	sequence uint32
	iv       uint64
}

// all three SAs have sent something.
var others = []sent{{0, 1, 1, 1001}, {0, 2, 1, 2001}, {0, 3, 1, 1}}

// runCheck runs the command on a capture of the packets; marks are lines.
func runCheck(t *testing.T, marks string, packets []sent, options ...string) (status int, output string) {
	t.Helper()
	dir := t.TempDir()
	data := pcapHeader(pcapNano, pcapEthernet)
	for _, p := range packets {
		to := fmt.Sprintf("14.0.0.52,14.0.0.%d", 69+p.sa)
		frame := espFrame(t, to, espPacket{spi: p.sa, sequence: p.sequence, iv: p.iv})
		data = appendFrame(data, time.Duration(p.ms)*time.Millisecond, frame)
	}
	for name, text := range map[string]string{"xfrm": testConfig, "marks": marks, "pcap": string(data)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	args := []string{"check", "--xfrm", dir + "/xfrm", "--marks", dir + "/marks", dir + "/pcap"}
	var stdout, stderr bytes.Buffer
	status = run(append(args, options...), &stdout, &stderr)
	return status, stdout.String() + stderr.String()
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		marks   string
		packets []sent
		options []string
		faults  []string // none: it passes
	}{
		"all new": {packets: []sent{{1, 1, 2, 1002}, {1, 1, 9, 1009}, {1, 2, 2, 2002}}},
		"an IV again": {
			packets: []sent{{1, 1, 2, 1001}},
			faults:  []string{"key 1: 1 packets have an IV that another had"},
		},
		"an IV again under the other SA of the key": {
			packets: []sent{{1, 1, 2, 2001}},
			faults:  []string{"key 1: 1 packets have an IV"},
		},
		"the same IV under another key": {packets: []sent{{1, 3, 2, 1001}}},
		"a sequence number again": {
			packets: []sent{{1, 1, 1, 1002}},
			faults:  []string{"1 sequence numbers are not above"},
		},
		"a sequence number from before": {
			packets: []sent{{1, 2, 7, 2007}, {1, 2, 3, 2003}},
			faults:  []string{"1 sequence numbers are not above"},
		},
		"over 2^32 with ESN": {packets: []sent{{1, 3, 1 << 30, 5}, {1, 3, 2 << 30, 6}, {1, 3, 3 << 30, 7}, {1, 3, 5, 8}}},
		"over 2^32 as it should": {
			packets: []sent{{1, 3, 1 << 31, 5}, {1, 3, 1<<32 - 1, 6}, {1, 3, 0, 7}},
			options: []string{"--wraps"},
		},
		"not over 2^32": {
			packets: []sent{{1, 3, 1 << 31, 5}, {1, 3, 1<<32 - 1, 6}},
			options: []string{"--wraps"},
			faults:  []string{"no sequence number went over 2^32"},
		},
		"over 2^32 without ESN": {
			packets: []sent{{1, 1, 1 << 30, 5}, {1, 1, 2 << 30, 6}, {1, 1, 3 << 30, 7}, {1, 1, 5, 8}},
			faults:  []string{"wrapped without ESN"},
		},
		"clean stops without a gap": {
			marks:   "0.010 clean\n0.020 kill\n",
			packets: []sent{{15, 1, 2, 1002}, {15, 2, 2, 2002}, {15, 3, 2, 2}, {25, 1, 99, 1099}},
		},
		"a gap after a clean stop": {
			marks:   "0.010 clean\n",
			packets: []sent{{15, 1, 2, 1002}, {15, 2, 3, 2003}},
			faults:  []string{"SPI 0x2 to 14.0.0.71: 0x1 before the clean stop at 0.010000, then 0x3"},
		},
		"a gap after a kill": {marks: "0.010 kill\n", packets: []sent{{15, 1, 77, 1077}}},
		"a run without a packet": {
			marks:  "0.010 kill\n0.020 kill\n",
			faults: []string{"no packet in the run that ended at 0.020000"},
		},
		"an early kill without packet": {marks: "0.010 kill\n0.020 early\n"},
		"too slow": {
			packets: []sent{{30, 1, 2, 1002}, {40, 1, 3, 1003}},
			options: []string{"--min-rate", "101"},
			faults:  []string{"100 packets a second while the sender ran, 101 wanted"},
		},
		"fast enough": {packets: []sent{{30, 1, 2, 1002}, {40, 1, 3, 1003}}, options: []string{"--min-rate", "100"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, output := runCheck(t, c.marks, append(append([]sent(nil), others...), c.packets...), c.options...)
			for _, fault := range c.faults {
				require.Contains(t, output, fault)
			}
			require.Equal(t, len(c.faults), strings.Count(output, "fault: "), output)
			require.Equal(t, min(1, len(c.faults)), status, output)
		})
	}
}

// TestCheckNothing: a capture in which an SA has not been seen proves nothing about it.
func TestCheckNothing(t *testing.T) {
	status, output := runCheck(t, "", others[:2])
	require.Equal(t, 1, status)
	require.Contains(t, output, "SPI 0x3 to 14.0.0.72: no packet was seen")
}

func TestCheckUnknownSA(t *testing.T) {
	status, output := runCheck(t, "", append(others, sent{1, 4, 1, 1}))
	require.Equal(t, 1, status)
	require.Contains(t, output, "1 ESP packets of no SA")
}

func TestMarksRefuses(t *testing.T) {
	for _, text := range []string{
		"1.5", "1.5 crash", "x kill", "-1 kill", "1.1234567890 kill", "2 kill\n1 kill", "1. 5 kill",
	} {
		name := filepath.Join(t.TempDir(), "marks")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		_, err := readMarks(name)
		require.Error(t, err, text)
	}
}

func FuzzSeconds(f *testing.F) {
	for _, text := range []string{"1", "1.5", "1700000000.000001", ".", "1.", "4294967296"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := parseSeconds(text); err == nil {
			again, err := parseSeconds(seconds(at))
			require.NoError(t, err)
			require.Less(t, max(at-again, again-at), int64(time.Microsecond))
		}
	})
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"nothing"},
		{"send"},
		{"send", "lo"},
		{"send", "lo", "--rate", "x"},
		{"send", "lo", "--flow", "1.2.3.4,5.6.7.8", "--rate", "0"},
		{"send", "lo", "--flow", "1.2.3.4,5.6.7.8", "--dmac", "00:11:22:33:44:55:66:77"},
		{"check", "f"},
		{"check", "--xfrm", "f"},
		{"check", "--xfrm", "/dev/null", "f"},
		{"again"},
		{"again", "--before", "f", "--after", "f", "--stopped", "then"},
		{"replay", "lo"},
		{"await"},
		{"await", "a", "b"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, 2, run(args, &stdout, &stderr), args)
		require.NotEmpty(t, stderr.String())
	}
	var stdout, stderr bytes.Buffer
	require.Zero(t, run([]string{"--help"}, &stdout, &stderr))
	for _, c := range commands {
		require.Contains(t, stdout.String(), "espload "+c.name)
	}
}
