package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The tests here run the gateway as a process of its own, as an operator does:
// this test binary, started again, is espgw.
func TestMain(m *testing.M) {
	if os.Getenv("ESPGW_TEST_IS_ESPGW") != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

var prefixes atomic.Int64

// process is a running espgw on virtual ports.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	dir            string
	stdout, stderr bytes.Buffer
}

// startEspgw starts espgw in a folder of its own with two net_pcap ports: lan reads
// in.pcap and writes lan-out.pcap, wan reads nothing and writes wan-out.pcap.
func startEspgw(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	empty := filepath.Join(dir, "empty.pcap")
	writePcap(t, empty)
	wan := fmt.Sprintf("net_pcap1,rx_pcap=%s,tx_pcap=%s", empty, filepath.Join(dir, "wan-out.pcap"))
	return startWithWAN(t, dir, wan, append([]string{"--mtu", "eth4=1600"}, args...)...)
}

// startWithWAN is startEspgw with another device for the unprotected port.
func startWithWAN(t *testing.T, dir, wan string, args ...string) *process {
	t.Helper()
	p := &process{t: t, dir: dir}
	in := filepath.Join(dir, "in.pcap")
	if _, err := os.Stat(in); err != nil {
		writePcap(t, in)
	}
	all := []string{
		"--no-huge", "-m", "64", "--no-shconf", "--no-pci", "--no-telemetry",
		"--file-prefix", fmt.Sprintf("espgwtest%d-%d", os.Getpid(), prefixes.Add(1)), "-l", "0",
		"--vdev", fmt.Sprintf("net_pcap0,rx_pcap=%s,tx_pcap=%s", in, filepath.Join(dir, "lan-out.pcap")), "--vdev", wan,
		"--", "--pair", "lan=0,eth4=1", "--idle-backoff", "100us", "--state-dir", filepath.Join(dir, "state"),
	}
	p.cmd = exec.Command(os.Args[0], append(all, args...)...)
	p.cmd.Env = append(os.Environ(), "ESPGW_TEST_IS_ESPGW=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("stdout:\n%s\nstderr:\n%s", p.stdout.String(), p.stderr.String())
		}
	})
	return p
}

// wait waits for the end and returns the exit status.
func (p *process) wait() int {
	p.t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case <-done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(20 * time.Second):
		p.cmd.Process.Kill()
		<-done
		require.Fail(p.t, "espgw did not end")
		return -1
	}
}

// dial waits for the control socket and connects.
func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	var conn net.Conn
	require.Eventually(t, func() bool {
		var err error
		conn, err = net.Dial("unix", path)
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// ask sends a line and returns the listing lines and the last one.
func ask(t *testing.T, conn net.Conn, line string) (listing []string, status string) {
	t.Helper()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, err := fmt.Fprintln(conn, line)
	require.NoError(t, err)
	r := bufio.NewReader(conn)
	for {
		text, err := r.ReadString('\n')
		require.NoError(t, err)
		text = strings.TrimSuffix(text, "\n")
		if text == "ok" || strings.HasPrefix(text, "error: ") {
			require.Zero(t, r.Buffered(), "one status line ends the answer")
			return listing, text
		}
		listing = append(listing, text)
	}
}

func writePcap(t *testing.T, path string, frames ...[]byte) {
	t.Helper()
	b := []byte{0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0}
	for _, frame := range frames {
		b = append(b, make([]byte, 8)...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(frame)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(frame)))
		b = append(b, frame...)
	}
	require.NoError(t, os.WriteFile(path, b, 0o644))
}

func readPcap(t *testing.T, path string) (frames [][]byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for b = b[24:]; len(b) > 0; {
		n := binary.LittleEndian.Uint32(b[8:])
		frames = append(frames, b[16:16+n])
		b = b[16+n:]
	}
	return frames
}

// udpFrame goes from 10.0.0.1 to 10.0.0.2 with that many octets of data.
func udpFrame(size int) []byte {
	frame := append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0}, make([]byte, 28+size)...)
	ip := frame[14:]
	ip[0], ip[8], ip[9] = 0x45, 64, 17
	binary.BigEndian.PutUint16(ip[2:], uint16(28+size))
	copy(ip[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	sum := uint32(0)
	for i := 0; i < 20; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum+sum>>16))
	binary.BigEndian.PutUint16(ip[24:], uint16(8+size))
	return frame
}

const (
	testKey = "0x000102030405060708090a0b0c0d0e0f10111213"
	outFile = `# one way only
ip xfrm policy add dir out src 10.0.0.1/32 dst 10.0.0.2/32 \
    tmpl proto esp mode transport reqid 1
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1001 mode transport reqid 1 \
    aead 'rfc4106(gcm(aes))' ` + testKey + ` 128
`
)

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// statsFile is the part of the JSON that the tests look at, by its contract's
// names.
type statsFile struct {
	Seconds float64
	Ports   []struct {
		Port      int
		Name      string
		Device    string
		Side      string
		RxPackets uint64            `json:"rx_packets"`
		TxPackets uint64            `json:"tx_packets"`
		RxBytes   uint64            `json:"rx_bytes"`
		TxBytes   uint64            `json:"tx_bytes"`
		Driver    map[string]uint64 `json:"driver"`
	}
	Lcores []struct {
		Lcore     int
		Turns     uint64
		IdleTurns uint64 `json:"idle_turns"`
		Packets   uint64
	}
	Totals struct {
		Received, Originated, Transmitted, Dropped uint64
		InFlight                                   uint64 `json:"in_flight"`
	}
	Drops map[string]uint64
	SAs   []struct {
		SPI          uint32
		Dst, Src     string
		Dir, Mode    string
		Algorithm    string
		KeyBits      int    `json:"key_bits"`
		ICVBits      int    `json:"icv_bits"`
		EngineReason string `json:"engine_reason"`
		Engine       string
		Packets      uint64
		Bytes        uint64
		Sequence     uint64
	}
	Policies []struct {
		Dir      string
		Index    uint32
		Priority uint32
		Packets  uint64
	}
}

func readStats(t *testing.T, path string) *statsFile {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var keys map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &keys))
	for _, key := range []string{"seconds", "ports", "lcores", "totals", "drops", "sas", "policies", "offload", "emulation"} {
		require.Contains(t, keys, key)
		require.NotEqual(t, "null", string(keys[key]), key)
	}
	var s statsFile
	require.NoError(t, json.Unmarshal(text, &s))
	sum := uint64(0)
	for _, n := range s.Drops {
		sum += n
	}
	require.Equal(t, s.Totals.Dropped, sum)
	require.Equal(t, s.Totals.Received+s.Totals.Originated, s.Totals.Transmitted+s.Totals.Dropped+s.Totals.InFlight)
	return &s
}

func TestOfflineRun(t *testing.T) {
	dir := t.TempDir()
	var frames [][]byte
	for size := range 100 {
		frames = append(frames, udpFrame(size))
	}
	frames = append(frames, udpFrame(1560)) // with ESP more than 1600
	writePcap(t, filepath.Join(dir, "in.pcap"), frames...)
	stats := filepath.Join(dir, "stats.json")
	p := startEspgw(t, dir, "--xfrm", writeFile(t, dir, "a.xfrm", outFile), "--idle-exit", "200ms", "--stats-json", stats)
	require.Zero(t, p.wait())
	wire := readPcap(t, filepath.Join(dir, "wan-out.pcap"))
	require.Len(t, wire, 100)
	for _, frame := range wire {
		require.EqualValues(t, 50, frame[14+9])
	}
	s := readStats(t, stats)
	require.EqualValues(t, 101, s.Totals.Received)
	require.EqualValues(t, 100, s.Totals.Transmitted)
	require.EqualValues(t, 1, s.Drops["out_too_big"])
	require.Zero(t, s.Totals.InFlight)
	require.Len(t, s.Drops, 34, "every reason, zeros too")
	require.Len(t, s.SAs, 1)
	a := s.SAs[0]
	require.Equal(t, "out", a.Dir, "the policy's direction")
	require.Equal(t, []any{uint32(0x1001), "10.0.0.1", "10.0.0.2", "transport", "rfc4106(gcm(aes))", 128, 128, "go", uint64(100), uint64(100)},
		[]any{a.SPI, a.Src, a.Dst, a.Mode, a.Algorithm, a.KeyBits, a.ICVBits, a.Engine, a.Packets, a.Sequence})
	require.NotEmpty(t, a.EngineReason)
	require.EqualValues(t, 101, s.Policies[0].Packets)
	require.Equal(t, "lan", s.Ports[0].Name)
	require.Equal(t, "net_pcap0", s.Ports[0].Device)
	require.Equal(t, "protected", s.Ports[0].Side)
	require.Equal(t, "unprotected", s.Ports[1].Side)
	require.NotContains(t, p.stdout.String()+p.stderr.String(), testKey[2:])
	require.Contains(t, p.stdout.String(), "engines: inline, go")
}

func TestControlSocket(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "control")
	p := startEspgw(t, dir, "--control", socket, "--xfrm", writeFile(t, dir, "a.xfrm", outFile))
	conn := dial(t, socket)
	info, err := os.Stat(socket)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	listing, status := ask(t, conn, "ip xfrm state list")
	require.Equal(t, "ok", status)
	require.Contains(t, strings.Join(listing, "\n"), "src 10.0.0.1 dst 10.0.0.2")
	require.NotContains(t, strings.Join(listing, "\n"), testKey, "keys are hidden")
	listing, status = ask(t, conn, "ip xfrm state list keys")
	require.Equal(t, "ok", status)
	require.Contains(t, strings.Join(listing, "\n"), testKey)

	add := "ip xfrm state add src 10.0.0.9 dst 10.0.0.2 proto esp spi 0x77 mode transport aead 'rfc4106(gcm(aes))' 0xffffffffffffffffffffffffffffffff12345678 128"
	_, status = ask(t, conn, add)
	require.Equal(t, "ok", status)
	_, status = ask(t, conn, add)
	require.Contains(t, status, "error: ")
	require.Contains(t, status, "exists")
	require.NotContains(t, status, "ffffffffffffffff")
	_, status = ask(t, conn, strings.Replace(add, "12345678", "", 1))
	require.Contains(t, status, "salt")
	_, status = ask(t, conn, "ip xfrm state frobnicate")
	require.Contains(t, status, "frobnicate")
	_, status = ask(t, conn, "")
	require.Equal(t, "ok", status)
	listing, status = ask(t, conn, "ip xfrm state count")
	require.Equal(t, "ok", status)
	require.Equal(t, []string{"\t SAD count 2"}, listing)

	_, status = ask(t, conn, "ip xfrm state delete dst 10.2.0.1 proto esp spi 0x9999")
	require.Equal(t, "error: delete SA SPI 0x00009999 to 10.2.0.1: not found (No such process)", status, "as docs/xfrm.md shows it")
	listing, status = ask(t, conn, "ip -s xfrm state list")
	require.Equal(t, "ok", status)
	require.Contains(t, strings.Join(listing, "\n"), "replay 0 failed 0")

	other := dial(t, socket)
	_, status = ask(t, other, "x s delete dst 10.0.0.2 proto esp spi 0x77")
	require.Equal(t, "ok", status)
	long := dial(t, socket)
	_, err = long.Write(bytes.Repeat([]byte("a"), maxLine+10))
	require.NoError(t, err)
	answer := make([]byte, 200)
	n, err := long.Read(answer)
	require.NoError(t, err)
	require.Contains(t, string(answer[:n]), "error: a line is longer")

	second := startEspgw(t, t.TempDir(), "--control", socket)
	require.Equal(t, exitUsage, second.wait())
	require.Contains(t, second.stderr.String(), "another process listens")

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, p.wait())
	require.NoFileExists(t, socket)
}

func TestSignals(t *testing.T) {
	dir := t.TempDir()
	socket, stats := filepath.Join(dir, "control"), filepath.Join(dir, "stats.json")
	file := writeFile(t, dir, "a.xfrm", outFile)
	p := startEspgw(t, dir, "--control", socket, "--xfrm", file, "--stats-json", stats)
	conn := dial(t, socket)
	list := func() string {
		listing, status := ask(t, conn, "ip xfrm state list")
		require.Equal(t, "ok", status)
		return strings.Join(listing, "\n")
	}
	_, status := ask(t, conn, "ip xfrm state add src 10.0.0.8 dst 10.0.0.2 proto esp spi 0x5555 mode transport aead 'rfc4106(gcm(aes))' 0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee12345678 128 dir in")
	require.Equal(t, "ok", status)

	// SIGHUP: what the file gained is added, what it lost is removed, what came
	// over the socket stays.
	writeFile(t, dir, "a.xfrm", strings.Replace(outFile, "0x1001", "0x1002", 1))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return strings.Contains(list(), "0x00001002") }, 5*time.Second, 10*time.Millisecond)
	require.NotContains(t, list(), "0x00001001")
	require.Contains(t, list(), "0x00005555")

	// A broken file changes nothing.
	writeFile(t, dir, "a.xfrm", "ip xfrm state flush\nip xfrm state add nonsense\n")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGUSR1))
	require.Eventually(t, func() bool { _, err := os.Stat(stats); return err == nil }, 5*time.Second, 10*time.Millisecond)
	require.Contains(t, list(), "0x00001002")
	readStats(t, stats)

	require.NoError(t, os.Remove(stats))
	start := time.Now()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	require.Zero(t, p.wait())
	require.Less(t, time.Since(start), 10*time.Second)
	s := readStats(t, stats)
	require.Zero(t, s.Totals.InFlight)
	require.Contains(t, p.stderr.String(), "a.xfrm:2")
}

// Wrong configuration ends with status 2 and one line that says where and what.
func TestConfigurationErrors(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		file string
		args []string
		want []string
	}{
		{"word", "# comment\nip xfrm state ad", nil, []string{"a.xfrm:2:", `"ad"`}},
		{"key without salt", "ip xfrm state add src 1.1.1.1 dst 2.2.2.2 proto esp spi 5 mode transport aead 'rfc4106(gcm(aes))' 0x00000000000000000000000000000000 128", nil, []string{"a.xfrm:1:", "salt"}},
		{"twice", outFile + outFile, nil, []string{"a.xfrm:", "exists"}},
		{"tunnel", "ip xfrm state add src 1.1.1.1 dst 2.2.2.2 proto esp spi 5 mode tunnel aead 'rfc4106(gcm(aes))' " + testKey + " 128", nil, []string{"a.xfrm:1:", "tunnel"}},
		{"no such file", "", []string{"--xfrm", filepath.Join(dir, "none")}, []string{"none"}},
		{"no such port", outFile, []string{"--pair", "net_pcap9,net_pcap8"}, []string{"net_pcap9"}},
		{"port twice", outFile, []string{"--pair", "0,1"}, []string{"named twice"}},
		{"queue map", outFile, []string{"--queue-map", "(0,0,5),(1,0,0)"}, []string{"lcore 5"}},
		{"unknown port name", outFile, []string{"--mtu", "eth9=1500"}, []string{"eth9"}},
		{"MTU", outFile, []string{"--mbuf-size", "600"}, []string{"--mbuf-size 600"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"--xfrm", writeFile(t, dir, "a.xfrm", tt.file)}, tt.args...)
			p := startEspgw(t, dir, args...)
			require.Equal(t, exitUsage, p.wait())
			for _, want := range tt.want {
				require.Contains(t, p.stderr.String(), want)
			}
			require.NotContains(t, p.stderr.String(), "panic")
			require.NotContains(t, p.stderr.String(), testKey)
		})
	}
}

func TestRunForAndStatsPeriod(t *testing.T) {
	p := startEspgw(t, t.TempDir(), "--run-for", "350ms", "--stats-period", "100ms", "--stats-json", "-")
	require.Zero(t, p.wait())
	require.Contains(t, p.stderr.String(), "packets/s")
	lines := strings.Split(strings.TrimSpace(p.stdout.String()), "\n")
	require.True(t, json.Valid([]byte(lines[len(lines)-1])))
}

// What a configuration probably did not mean is said when it is loaded, also what
// only shows when SAs and policies are seen together.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, dir, "a.xfrm", `
ip xfrm policy add dir out src 10.0.0.0/24 dst 10.0.0.0/24 tmpl proto esp mode transport reqid 1
ip xfrm policy add dir in src 10.0.0.0/24 dst 10.0.0.0/24 tmpl proto esp mode transport reqid 1
ip xfrm policy add dir out src 2001:db8::/64 dst 2001:db8::/64 tmpl proto esp mode transport reqid 2
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1001 mode transport reqid 1 aead 'rfc4106(gcm(aes))' `+testKey+` 128
ip xfrm state add src 10.0.0.2 dst 10.0.0.1 proto esp spi 7 mode transport reqid 1 aead 'rfc4106(gcm(aes))' `+testKey+` 128 offload dev eth4 dir in
`)
	p := startEspgw(t, dir, "--xfrm", file, "--run-for", "50ms")
	require.Zero(t, p.wait())
	for _, want := range []string{
		"write `dir in` or `dir out`", "neighbour discovery", "reserved", "share", "served in software",
	} {
		require.Contains(t, p.stderr.String(), want)
	}
}

// A gateway whose unprotected link comes up only later loses nothing of what
// waits on the protected side.
func TestLateLink(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	var frames [][]byte
	for size := range 300 {
		frames = append(frames, udpFrame(size))
	}
	writePcap(t, filepath.Join(first, "in.pcap"), frames...)
	sockets, err := os.MkdirTemp("", "espgw") // a short path, as Unix sockets want it
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(sockets) })
	memif := "net_memif0,socket-abstract=no,socket=" + filepath.Join(sockets, "m") + ",role="
	stats := filepath.Join(first, "stats.json")
	a := startWithWAN(t, first, memif+"server", "--idle-exit", "700ms", "--stats-json", stats)
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(sockets, "m")); return err == nil }, 10*time.Second, 10*time.Millisecond)
	time.Sleep(300 * time.Millisecond) // the first one has long been waiting
	b := startWithWAN(t, second, memif+"client", "--idle-exit", "1500ms")
	require.Zero(t, a.wait())
	require.Zero(t, b.wait())
	require.Equal(t, frames, readPcap(t, filepath.Join(second, "lan-out.pcap")))
	require.Zero(t, readStats(t, stats).Totals.Dropped)
}
