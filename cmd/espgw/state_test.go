package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDefaultState(t *testing.T) {
	base := rootState
	if os.Geteuid() != 0 {
		base = filepath.Join(t.TempDir(), "espgw")
		t.Setenv("XDG_STATE_HOME", filepath.Dir(base))
	}
	for want, args := range map[string][]string{
		"rte": {"-l", "0"}, "a": {"--file-prefix", "a"}, "b": {"-l", "0", "--file-prefix=b"}, "c": {"--file-prefix=x", "--file-prefix", "c"},
	} {
		got, err := defaultState(args)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(base, want), got)
	}
	for _, prefix := range []string{"../x", "/etc", "a/b", "..", ""} {
		_, err := defaultState([]string{"--file-prefix", prefix})
		require.ErrorContains(t, err, "--state-dir", prefix)
	}
}

// sequences are those of the ESP packets that left, in order.
func sequences(t *testing.T, dir string) (all []uint32) {
	t.Helper()
	for _, frame := range readPcap(t, filepath.Join(dir, "wan-out.pcap")) {
		require.EqualValues(t, 50, frame[14+9])
		all = append(all, binary.BigEndian.Uint32(frame[14+20+4:]))
	}
	return all
}

// TestRestart: after a clean stop the next number follows, after a kill nothing
// that may have been sent comes again.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	writePcap(t, filepath.Join(dir, "in.pcap"), udpFrame(1), udpFrame(2), udpFrame(3))
	file := writeFile(t, dir, "a.xfrm", outFile)
	run := func() []uint32 {
		p := startEspgw(t, dir, "--xfrm", file, "--idle-exit", "1s")
		require.Zero(t, p.wait())
		require.NotContains(t, p.stderr.String(), "level=ERROR")
		require.Contains(t, p.stdout.String(), "state: "+filepath.Join(dir, "state"))
		return sequences(t, dir)
	}
	require.Equal(t, []uint32{1, 2, 3}, run())
	require.Equal(t, []uint32{4, 5, 6}, run())

	socket := filepath.Join(dir, "control")
	p := startEspgw(t, dir, "--xfrm", file, "--control", socket)
	require.Eventually(t, func() bool {
		return p.counted(socket, "0x00001001") >= 3
	}, 10*time.Second, 20*time.Millisecond)
	require.NoError(t, p.cmd.Process.Kill())
	require.Equal(t, -1, p.wait())
	require.Equal(t, []uint32{6 + 1<<18 + 1, 6 + 1<<18 + 2, 6 + 1<<18 + 3}, run())
}

// counted is how many packets an SA has carried, by the control socket.
func (p *process) counted(socket, spi string) int {
	listing, status := ask(p.t, dial(p.t, socket), "ip -s xfrm state get src 10.0.0.1 dst 10.0.0.2 proto esp spi "+spi)
	require.Equal(p.t, "ok", status)
	m := packetsLine.FindStringSubmatch(strings.Join(listing, "\n"))
	require.NotNil(p.t, m, listing)
	n, err := strconv.Atoi(m[1])
	require.NoError(p.t, err)
	return n
}

var packetsLine = regexp.MustCompile(`lifetime current:\s+\d+\(bytes\), (\d+)\(packets\)`)

// TestReplayAfterRestart: what a gateway has opened, the next one does not.
func TestReplayAfterRestart(t *testing.T) {
	dir := t.TempDir()
	writePcap(t, filepath.Join(dir, "in.pcap"), udpFrame(1), udpFrame(2), udpFrame(3))
	require.Zero(t, startEspgw(t, dir, "--xfrm", writeFile(t, dir, "a.xfrm", outFile), "--idle-exit", "1s").wait())
	wire := filepath.Join(dir, "wire.pcap")
	require.NoError(t, os.Rename(filepath.Join(dir, "wan-out.pcap"), wire))

	peer, stats := t.TempDir(), filepath.Join(dir, "stats.json")
	inFile := `ip xfrm policy add dir in src 10.0.0.1/32 dst 10.0.0.2/32 tmpl proto esp mode transport reqid 1
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1001 mode transport reqid 1 aead 'rfc4106(gcm(aes))' ` + testKey + " 128\n"
	for _, refused := range []uint64{0, 3, 3} {
		p := startWithWAN(t, peer, "net_pcap1,rx_pcap="+wire+",tx_pcap="+filepath.Join(peer, "out.pcap"),
			"--xfrm", writeFile(t, peer, "b.xfrm", inFile), "--idle-exit", "1s", "--stats-json", stats)
		require.Zero(t, p.wait())
		s := readStats(t, stats)
		require.Equal(t, 3-refused, s.Totals.Transmitted)
		require.Equal(t, refused, s.Drops["in_replay_old"]+s.Drops["in_replay_duplicate"])
		require.EqualValues(t, 3, s.SAs[0].Sequence)
	}
}

func TestStateFolderInUse(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "control")
	p := startEspgw(t, dir, "--control", socket)
	dial(t, socket)
	second := startEspgw(t, t.TempDir(), "--state-dir", filepath.Join(dir, "state"))
	require.Equal(t, exitUsage, second.wait())
	require.Contains(t, second.stderr.String(), "in use")
	require.Contains(t, second.stderr.String(), strconv.Itoa(p.cmd.Process.Pid), "names the process")
	require.Contains(t, second.stderr.String(), "--state-dir")
}

func TestStateFolderUnusable(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, dir, "file", "no folder")
	open := filepath.Join(dir, "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777))
	for path, want := range map[string]string{file: "not a directory", open: "others", "": "accepted: a folder, or none"} {
		p := startEspgw(t, t.TempDir(), "--state-dir", path)
		require.Equal(t, exitUsage, p.wait(), path)
		require.Contains(t, p.stderr.String(), want)
	}
}

// TestDamagedState: it runs, says what to do, and sends nothing.
func TestDamagedState(t *testing.T) {
	dir := t.TempDir()
	writePcap(t, filepath.Join(dir, "in.pcap"), udpFrame(1), udpFrame(2), udpFrame(3))
	file, stats := writeFile(t, dir, "a.xfrm", outFile), filepath.Join(dir, "stats.json")
	require.Zero(t, startEspgw(t, dir, "--xfrm", file, "--idle-exit", "1s").wait())
	journal := filepath.Join(dir, "state", "journal")
	data, err := os.ReadFile(journal)
	require.NoError(t, err)
	data[len(data)-20] ^= 0x10
	require.NoError(t, os.WriteFile(journal, data, 0o600))

	p := startEspgw(t, dir, "--xfrm", file, "--idle-exit", "1s", "--stats-json", stats)
	require.Zero(t, p.wait())
	require.Contains(t, p.stderr.String(), "fresh key")
	s := readStats(t, stats)
	require.EqualValues(t, 3, s.Drops["out_no_reserve"])
	require.Zero(t, s.Totals.Transmitted)
	require.Empty(t, sequences(t, dir))
}
