package pmd_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

const lab = "--no-huge -m 64 --no-pci --no-telemetry -l 0 "

func TestEALKnowsItself(t *testing.T) {
	eal := pmdtest.EAL()
	require.Contains(t, eal.Version(), "DPDK ")
	require.False(t, eal.HugePages())
	require.Contains(t, eal.FilePrefix(), "espgw-test-")
	require.Greater(t, pmd.TSCHz(), uint64(1e8))
	_, err := pmd.StartEAL(pmd.EALConfig{})
	require.ErrorIs(t, err, pmd.ErrEALStarted)
}

func TestEALStartsAndEnds(t *testing.T) {
	out, code := runChild(t, lab+"--no-shconf --file-prefix mine --log-level lib.eal:debug")
	require.Zero(t, code, out)
	require.Contains(t, out, "started mine false [0]")
	require.Contains(t, out, "closed true")
	require.Contains(t, out, "lines lost: 0")
	require.Regexp(t, `level=INFO msg="EAL: Detected CPU lcores: \d+"`, out)
	require.Regexp(t, `level=DEBUG msg="EAL: lib.eal log level changed|level=DEBUG msg="EAL: Detected lcore 0 as core`, out)
}

func TestEALFailureIsOneClearError(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"unknown driver", lab + "--no-shconf --vdev net_bogus0", `starting EAL: no such device; its last words: EAL: failed to parse device "net_bogus0"`},
		{"malformed lcores", "--no-huge --no-shconf --no-pci -l 0-", "EAL: invalid core list syntax"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, code := runChild(t, test.args)
			require.Equal(t, 1, code, out)
			require.Equal(t, 1, strings.Count(out, "\nerror: "), out)
			require.Contains(t, out, test.want)
			require.Contains(t, out, "again: EAL has been started in this process already")
		})
	}
}

func TestPreflightComesFirst(t *testing.T) {
	out, code := runChild(t, "--no-huge --no-shconf --no-pci -l 0,4095")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "error: DPDK cannot start here: ")
	require.Contains(t, out, "-l 0,4095 asks for CPU 4095")
	require.Contains(t, out, "again: DPDK cannot start here: ", "and it may be tried again")
	require.NotContains(t, out, "EAL: ", "EAL was not asked")
}

// TestSecondProcessWithThePrefix: another primary process is named before EAL
// fails on its lock.
func TestSecondProcessWithThePrefix(t *testing.T) {
	t.Setenv("RUNTIME_DIRECTORY", t.TempDir())
	end := startChild(t, lab+"--file-prefix twice")
	out, code := runChild(t, lab+"--file-prefix twice")
	require.Equal(t, 1, code, out)
	require.Regexp(t, `error: DPDK cannot start here: process \d+ runs with --file-prefix twice already`, out)
	out, code = runChild(t, lab+"--file-prefix other")
	require.Zero(t, code, out)
	out, code = end()
	require.Zero(t, code, out)
	require.Contains(t, out, "started twice")
}

// TestDeviceThatFails: EAL goes on without a virtual device whose driver refuses
// it. Looking for the port then tells what the driver said.
func TestDeviceThatFails(t *testing.T) {
	t.Setenv(childPort, "net_pcap0")
	out, code := runChild(t, lab+"--no-shconf --vdev net_pcap0,rx_pcap="+os.Args[0])
	require.Zero(t, code, out)
	require.Regexp(t, `port: no such port "net_pcap0"; there is none: .*; DPDK said: .*unknown file format \| .*failed to initialize net_pcap0 device`, out)
}

// TestClosingAfterEAL: what is closed too late is reported and does no harm.
func TestClosingAfterEAL(t *testing.T) {
	t.Setenv(childLeaks, "yes")
	out, code := runChild(t, lab+"--no-shconf")
	require.Zero(t, code, out)
	for _, what := range []string{"pool leak", "port net_ring_leak_a", "port net_ring_leak_b", "lane nowhere to 0:0"} {
		require.Contains(t, out, `level=WARN msg="still open when EAL ends" what="`+what+`"`)
	}
	require.Contains(t, out, "later: <nil>")
}
