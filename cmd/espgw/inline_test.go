package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
)

func TestOffloadOptions(t *testing.T) {
	parse := func(args ...string) *options {
		o, err := parseOptions(append([]string{"--pair", "lan=0,eth4=1"}, args...))
		require.NoError(t, err, args)
		return o
	}
	require.Equal(t, ipsec.OffloadAuto, parse().offload)
	for word, mode := range offloadModes {
		require.Equal(t, mode, parse("--offload", word).offload)
	}
	require.Equal(t, ipsec.OffloadOff, parse("--engine", "go").offload)
	require.True(t, parse("--engine", "inline").inlineOnly)
	require.False(t, parse().inlineOnly)
	o := parse("--emulate-inline", "eth4=ixgbe,fault=icv:7", "--emulate-inline", "wan=crypto")
	require.Len(t, o.emulate, 2)
	require.Equal(t, "eth4", o.emulate[0].name)
	require.Equal(t, "crypto", o.emulate[1].options.Profile)

	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--offload", "maybe"}, "auto, all, require, off"},
		{[]string{"--engine", "cryptodev"}, "not in this version"},
		{[]string{"--engine", "fast"}, "auto, inline, go"},
		{[]string{"--engine", "go", "--offload", "require"}, "exclude each other"},
		{[]string{"--engine", "inline", "--offload", "off"}, "exclude each other"},
		{[]string{"--emulate-inline", "ixgbe"}, "NAME=PROFILE"},
		{[]string{"--emulate-inline", "eth4=mlx5"}, "ixgbe, ixgbe-x550, crypto, packet"},
		{[]string{"--emulate-inline", "eth4=ixgbe,tx=3"}, "power of two"},
	} {
		_, err := parseOptions(append([]string{"--pair", "lan=0,eth4=1"}, test.args...))
		require.ErrorContains(t, err, test.want, test.args)
	}
}

// inlineFile asks for hardware.
const inlineFile = `ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1001 reqid 1 mode transport ` +
	`aead 'rfc4106(gcm(aes))' ` + testKey + ` 128 offload dev eth4 dir out
ip xfrm policy add dir out src 10.0.0.1 dst 10.0.0.2 tmpl proto esp reqid 1 mode transport
`

func TestEmulatedInlineRun(t *testing.T) {
	dir := t.TempDir()
	var frames [][]byte
	for size := range 100 {
		frames = append(frames, udpFrame(size))
	}
	writePcap(t, filepath.Join(dir, "in.pcap"), frames...)
	stats := filepath.Join(dir, "stats.json")
	p := startEspgw(t, dir, "--xfrm", writeFile(t, dir, "a.xfrm", inlineFile), "--emulate-inline", "eth4=ixgbe",
		"--idle-exit", "300ms", "--stats-json", stats)
	require.Zero(t, p.wait())
	require.Len(t, readPcap(t, filepath.Join(dir, "wan-out.pcap")), 100)
	require.Contains(t, p.stdout.String(), "port 1 eth4: crypto offload: AES-GCM with keys of 128 bits")
	s := readStats(t, stats)
	require.Equal(t, "inline", s.SAs[0].Engine)
	require.Contains(t, s.SAs[0].EngineReason, "crypto offload on eth4")
	text, err := os.ReadFile(stats)
	require.NoError(t, err)
	var more struct {
		Offload   []map[string]any
		Emulation map[string]map[string]int
	}
	require.NoError(t, json.Unmarshal(text, &more))
	require.Equal(t, "crypto", more.Offload[0]["depth"])
	require.Equal(t, 100, more.Emulation["eth4"]["tx_encrypted"])
	require.Zero(t, more.Emulation["eth4"]["leak_tx"])
	require.Zero(t, more.Emulation["eth4"]["breaches"])
}

func TestOffloadRequired(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no device":       {[]string{"--offload", "require"}, "net_pcap has no security context"},
		"only inline":     {[]string{"--engine", "inline"}, "net_pcap has no security context"},
		"name not known":  {[]string{"--emulate-inline", "eth9=ixgbe"}, "there are: eth4"},
		"protected port":  {[]string{"--emulate-inline", "lan=ixgbe"}, "there are: eth4"},
		"twice":           {[]string{"--emulate-inline", "eth4=ixgbe", "--emulate-inline", "eth4=crypto"}, "twice"},
		"session refused": {[]string{"--offload", "require", "--emulate-inline", "eth4=crypto,fault=session"}, "refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writePcap(t, filepath.Join(dir, "in.pcap"))
			p := startEspgw(t, dir, append([]string{"--xfrm", writeFile(t, dir, "a.xfrm", inlineFile), "--idle-exit", "100ms"}, test.args...)...)
			require.Equal(t, exitUsage, p.wait())
			require.Contains(t, p.stderr.String(), test.want)
		})
	}
}

func TestPortCommands(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "control")
	p := startEspgw(t, dir, "--control", socket, "--xfrm", writeFile(t, dir, "a.xfrm", inlineFile), "--emulate-inline", "eth4=ixgbe")
	conn := dial(t, socket)
	for _, step := range []struct{ line, want string }{
		{"port stop eth4", "ok"},
		{"port stop 1", "error: port stop 1: not possible in the port's state: it is stopped"},
		{"port start 1", "ok"},
		{"port reset eth4", "ok"},
		{"port start eth4", "error: port start eth4: not possible in the port's state: it is running"},
		{"port stop eth9", "error: port stop eth9: no such port in a pair; there are: 0 (lan), 1 (eth4)"},
		{"port", "error: " + errPortCommand.Error()},
		{"port halt 1", "error: " + errPortCommand.Error()},
	} {
		_, status := ask(t, conn, step.line)
		require.Equal(t, step.want, status, step.line)
	}
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.Zero(t, p.wait())
}

func TestProbe(t *testing.T) {
	c := exec.Command(os.Args[0], "--no-huge", "-m", "128", "--no-shconf", "--no-pci", "--no-telemetry",
		"--file-prefix", fmt.Sprintf("espgwtest%d-%d", os.Getpid(), prefixes.Add(1)), "-l", "0",
		"--vdev", "net_null0", "--vdev", "net_null1", "--vdev", "net_null2", "--", "--probe",
		"--emulate-inline", "net_null0=ixgbe", "--emulate-inline", "1=packet")
	c.Env = append(os.Environ(), "ESPGW_TEST_IS_ESPGW=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	require.NoError(t, c.Run(), "%s", &errs)
	for _, want := range []string{
		"port 0: net_null0, net_ixgbe, emulated, PCI device 0x10fb (82599)",
		"inline crypto, ESP, transport mode, out, AES-GCM key 16 ICV 16, metadata a packet",
		"up to 255 SAs out and 1023 in (128 destination addresses)",
		"port 1: net_null1, net_emu_packet, emulated",
		"packet offload: AES-GCM with keys of 128, 192, 256 bits",
		"port 2: net_null2, net_null",
		"net_null has no security context",
	} {
		require.Contains(t, out.String(), want)
	}
}
