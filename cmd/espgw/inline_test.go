package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
	"espgw/pmd"
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
	require.Equal(t, ipsec.OffloadOff, parse("--engine", "go", "--offload", "off").offload)
	require.Equal(t, ipsec.OffloadRequire, parse("--engine", "inline", "--offload", "require").offload)
	alone, err := parseOptions([]string{"--probe"})
	require.NoError(t, err, "--probe needs no pair")
	require.True(t, alone.probe)
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
		{[]string{"--engine", "go", "--offload", "all"}, "exclude each other"},
		{[]string{"--emulate-inline", "ixgbe"}, "NAME=PROFILE"},
		{[]string{"--emulate-inline", "=ixgbe"}, "NAME=PROFILE"},
		{[]string{"--emulate-inline", "eth4="}, "ixgbe, ixgbe-x550, crypto, packet"},
		{[]string{"--emulate-inline", "eth4=ixgbe,tx"}, "KEY=VALUE"},
		{[]string{"--emulate-inline", "eth4=ixgbe,colour=red"}, "tx, rx, addresses, dpdk, rx-path, alias, crypto, abort, fault"},
		{[]string{"--emulate-inline", "eth4=ixgbe,dpdk=24.11"}, "22.11, 26.03"},
		{[]string{"--emulate-inline", "eth4=ixgbe,tx=131072"}, "power of two up to 65536"},
		{[]string{"--emulate-inline", "eth4=ixgbe,fault=fire"}, `fault "fire"`},
		{[]string{"--emulate-inline", "eth4=ixgbe,fault=icv:0"}, "a number above 0"},
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
		"MTU":             {[]string{"--offload", "require", "--emulate-inline", "eth4=ixgbe", "--mtu", "eth4=9600", "--mbufs", "1023", "--rx-desc", "128", "--tx-desc", "128"}, "frames of up to 9500 octets"},
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

// runProbe runs --probe with four ports and little memory, and returns what it printed.
func runProbe(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	all := []string{
		"--no-huge", "-m", "32", "--no-shconf", "--no-pci", "--no-telemetry",
		"--file-prefix", fmt.Sprintf("espgwtest%d-%d", os.Getpid(), prefixes.Add(1)), "-l", "0",
		"--vdev", "net_null0", "--vdev", "net_null1", "--vdev", "net_null2", "--vdev", "net_null3", "--", "--probe",
	}
	c := exec.Command(os.Args[0], append(all, args...)...)
	c.Env = append(os.Environ(), "ESPGW_TEST_IS_ESPGW=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run()
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func TestProbe(t *testing.T) {
	out, errs, status := runProbe(t, "--pair", "lan=3,eth4=1", "--emulate-inline", "net_null0=ixgbe", "--emulate-inline", "eth4=packet",
		"--emulate-inline", "2=ixgbe-x550")
	require.Zero(t, status, errs)
	ports := strings.Split(out, "\nport ")
	require.Len(t, ports, 5)
	for i, wants := range [][]string{
		{"4 ports"},
		{
			"0: net_null0, net_ixgbe, emulated, PCI device 0x10fb (82599)",
			"inline crypto, ESP, transport mode, out, AES-GCM key 16 ICV 16, metadata a packet",
			"1024 egress SAs, 1024 ingress SAs, 128 addresses: ixgbe_ipsec.h",
			"crypto offload: AES-GCM with keys of 128 bits and ICVs of 128, no ESN; up to 255 SAs out and 1023 in (127 destination addresses); everything else in software",
		},
		{
			"1: net_null1, net_emu_packet, emulated", "window up to 1024",
			"packet offload: AES-GCM with keys of 128, 192, 256 bits and ICVs of 128, replay windows up to 1024; up to 4096 SAs out and 4096 in",
		},
		{"2: net_null2, net_ixgbe, emulated, PCI device 0x1563 (X550)", "up to 255 SAs out, none in"},
		{"3: net_null3, net_null,", "why                net_null has no security context", "the other port of its pair is the unprotected one"},
	} {
		for _, want := range wants {
			require.Contains(t, ports[i], want)
		}
	}
}

func TestProbeWithOptions(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"offload off":    {[]string{"--emulate-inline", "net_null0=crypto", "--offload", "off"}, 0, "all SAs in software (--offload off)"},
		"MTU":            {[]string{"--emulate-inline", "0=ixgbe", "--mtu", "9600"}, 0, "the MTU of 9600 makes frames of 9626"},
		"protected port": {[]string{"--pair", "lan=0,wan=1", "--emulate-inline", "lan=crypto"}, 0, "the other port of its pair"},
		"unknown name":   {[]string{"--emulate-inline", "eth4=ixgbe"}, exitUsage, "no port is named eth4; there are: net_null0, net_null1"},
		"twice":          {[]string{"--emulate-inline", "0=ixgbe", "--emulate-inline", "net_null0=crypto"}, exitUsage, "net_null0 is named twice"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, status := runProbe(t, test.args...)
			require.Equal(t, test.status, status, errs)
			require.Contains(t, out+errs, test.want)
		})
	}
}

// fakePort starts without inline IPsec only.
type fakePort struct {
	configured []pmd.PortConfig
	failing    bool // at all
}

func (p *fakePort) Configure(c pmd.PortConfig) (pmd.Applied, error) {
	p.configured = append(p.configured, c)
	return pmd.Applied{TxOffloads: c.TxOffloads}, nil
}

func (p *fakePort) Start() error {
	last := p.configured[len(p.configured)-1]
	if p.failing || last.RxOffloads&pmd.RxSecurity != 0 || last.TxOffloads&pmd.TxSecurity != 0 {
		return errors.New("fused off")
	}
	return nil
}

func TestPortThatDoesNotStartWithInlineIPsec(t *testing.T) {
	inline := pmd.PortConfig{RxQueues: 2, RxOffloads: inlineRx, TxOffloads: inlineTx}
	port := &fakePort{}
	applied, without, err := configureAndStart(port, inline, false)
	require.NoError(t, err)
	require.ErrorContains(t, without, "fused off")
	require.Len(t, port.configured, 2)
	require.Equal(t, pmd.PortConfig{RxQueues: 2}, port.configured[1])
	require.Zero(t, applied.TxOffloads)

	_, without, err = configureAndStart(&fakePort{}, inline, true)
	require.ErrorContains(t, err, "fused off", "--offload require")
	require.NoError(t, without)

	port = &fakePort{failing: true}
	_, _, err = configureAndStart(port, inline, false)
	require.ErrorContains(t, err, "fused off")
	require.Len(t, port.configured, 2)

	port = &fakePort{failing: true}
	_, without, err = configureAndStart(port, pmd.PortConfig{}, false)
	require.ErrorContains(t, err, "fused off")
	require.NoError(t, without)
	require.Len(t, port.configured, 1, "there is nothing to leave out")
}

// What an emulated NIC saw that a card would have punished makes the run fail.
func TestVerdict(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	require.NoError(t, verdictOn("eth4", map[string]uint64{"tx_encrypted": 9}, nil, logger))
	err := verdictOn("eth4", map[string]uint64{"breaches": 2, "leak_tx": 1}, []string{"a session was open when the port stopped"}, logger)
	require.ErrorContains(t, err, "contract was broken 2 times")
	require.ErrorContains(t, err, "1 packets would have left in clear text")
	require.Contains(t, log.String(), "a session was open")
}
