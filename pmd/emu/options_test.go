package emu_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu"
	"espgw/pmd/pmdtest"
)

func TestOptionsAccepted(t *testing.T) {
	for _, text := range []string{
		"ixgbe", "ixgbe-x550", "crypto", "packet", "ixgbe-x550,dpdk=26.03", "ixgbe,dpdk=22.11",
		"crypto,tx=16,rx=32,addresses=4", "packet,tx=1,rx=65536", "ixgbe,rx=vector", "ixgbe,rx=scalar", "ixgbe,rx=8,rx=scalar",
		"ixgbe,rx-path=vector", "ixgbe,rx-path=scalar", "ixgbe,alias=on", "ixgbe,alias=off", "crypto,crypto=on",
		"crypto,crypto=off", "ixgbe,abort=on", "ixgbe,abort=off", "ixgbe,strict=on", "ixgbe,strict=off", "ixgbe,fault=none", "ixgbe,fault=icv:3+noflag:2,alias=off",
		"crypto,fault=session:2+flow:2+destroy:2+metadata:2+lookupsoff:2", "crypto,fault=session+flow+destroy+metadata+full:9+icv:9+noflag:9+txicv:9+reset:9+slow:9+lookupsoff+gone",
	} {
		o, err := emu.ParseOptions(text)
		require.NoError(t, err, text)
		require.Contains(t, text, o.Profile)
		require.Equal(t, text == "crypto,crypto=off", o.CryptoOff, text)
	}
}

func TestOptionsRefused(t *testing.T) {
	for text, accepted := range map[string]string{
		"": "ixgbe, ixgbe-x550", "mlx5": "ixgbe", "IXGBE": "ixgbe", "ixgbe,": "KEY=VALUE", "ixgbe,tx": "KEY=VALUE",
		"ixgbe,tx=3": "power of two", "ixgbe,tx=0": "power of two", "ixgbe,tx=-4": "power of two", "ixgbe,tx=131072": "power of two",
		"ixgbe,tx=": "power of two", "ixgbe,rx=12": "power of two", "ixgbe,rx=simd": "power of two", "ixgbe,addresses=100": "power of two",
		"ixgbe,dpdk=21.11": "22.11, 26.03", "ixgbe,rx-path=neon": "vector, scalar", "ixgbe,alias=yes": "on, off",
		"ixgbe,crypto=maybe": "on, off", "ixgbe,abort=1": "on", "ixgbe,strict=no": "on, off", "ixgbe,color=red": "addresses",
		"ixgbe,fault=": "lookupsoff", "ixgbe,fault=fire": "lookupsoff", "ixgbe,fault=icv:0": "above 0", "ixgbe,fault=icv:": "above 0",
		"ixgbe,fault=icv:x": "above 0", "ixgbe,fault=icv:-1": "above 0", "ixgbe,fault=icv:2+none": "accepted", "ixgbe,fault=icv:2+": "accepted",
	} {
		_, err := emu.ParseOptions(text)
		require.ErrorContains(t, err, accepted, text)
	}
}

// What the options change is tested with the rows; here is what a port says of itself.
func TestProfiles(t *testing.T) {
	for options, test := range map[string]struct {
		driver string
		pci    uint32
	}{
		"ixgbe": {"net_ixgbe", 0x10fb}, "ixgbe-x550": {"net_ixgbe", 0x1563},
		"crypto": {"net_emu_crypto", 0}, "packet": {"net_emu_packet", 0},
	} {
		r := newRig(t, options)
		info := r.near.Info()
		require.Equal(t, test.driver, info.Emulates)
		require.Equal(t, test.pci, info.PCIDevice)
		require.Equal(t, options, r.nic.Profile())
		require.Equal(t, r.near.ID(), r.nic.Port())
		require.NotZero(t, info.RxOffloads&pmd.RxSecurity)
		require.EqualValues(t, pmd.TxSecurity|pmd.TxIPv4Checksum, info.TxOffloads&(pmd.TxSecurity|pmd.TxIPv4Checksum))
		caps := r.sec.Capabilities()
		for _, c := range caps {
			require.True(t, c.ESP)
		}
		switch options {
		case "crypto":
			require.Len(t, caps, 2)
			require.True(t, caps[0].ESN)
			require.Equal(t, pmd.SizeRange{Min: 16, Max: 32, Step: 8}, caps[0].AEADs[0].Key)
		case "packet":
			require.Len(t, caps, 2)
			require.Equal(t, pmd.InlineProtocol, caps[0].Action)
			require.True(t, caps[0].Stats && caps[0].ESN)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, test := range []struct {
		options string
		egress  bool
	}{{"crypto,tx=4", true}, {"crypto,rx=4", false}, {"packet,tx=4", true}, {"packet,rx=4", false}} {
		r := newRig(t, test.options)
		change := func(c *pmd.SessionConf) {
			if r.nic.Profile() == "packet" {
				c.Action = pmd.InlineProtocol
			}
		}
		for i := range 4 {
			r.open(conf(i+1, test.egress, change))
		}
		_, err := r.sec.Open(conf(5, test.egress, change))
		require.Error(t, err, "%s: the table is full", test.options)
		r.open(conf(5, !test.egress, change))
	}
}

// A NIC is attached once, to a port that was not configured; counters outlast it.
func TestAttachAndClose(t *testing.T) {
	pool := pmdtest.NewPool(t, 63)
	a, b, err := pmd.NewRingPairQueues(pmdtest.Name("emu"), 1, 64)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	o, err := emu.ParseOptions("ixgbe,crypto=off,fault=session")
	require.NoError(t, err)
	nic, err := emu.Attach(a, o)
	require.NoError(t, err)
	_, err = emu.Attach(a, o)
	require.Error(t, err)
	pmdtest.Start(t, b, pmd.PortConfig{Pool: pool})
	_, err = emu.Attach(b, o)
	require.Error(t, err, "it is configured")
	_, err = a.Configure(pmd.PortConfig{Pool: pool, RxOffloads: pmd.RxSecurity, TxOffloads: pmd.TxSecurity})
	require.NoError(t, err)
	require.NoError(t, a.Start())
	sec, err := a.Security(8)
	require.NoError(t, err)
	_, err = sec.Open(conf(1, true))
	require.Error(t, err, "the option fault")
	require.NoError(t, a.Close())
	require.NoError(t, nic.Close())
	require.NoError(t, nic.Close())
	require.EqualValues(t, 1, nic.Counters()["sessions_refused"])
	require.EqualValues(t, 1, nic.Counters()["faults"])
	require.EqualValues(t, 1, nic.Counters()["crypto_off"])
	require.Empty(t, nic.Breaches())
	require.NoError(t, nic.SetFault("icv:2"))
}

// The package's comment names every counter, option and fault.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	words := map[string]bool{}
	for _, word := range regexp.MustCompile(`[a-z_0-9-]+`).FindAllString(string(text), -1) {
		words[word] = true
	}
	r := newRig(t, "crypto")
	var names []string
	for name := range r.nic.Counters() {
		names = append(names, name)
	}
	_, err = emu.ParseOptions("ixgbe,nonsense=1")
	_, keys, _ := strings.Cut(err.Error(), "accepted: ")
	_, err = emu.ParseOptions("ixgbe,fault=nonsense")
	_, faults, _ := strings.Cut(err.Error(), "accepted: ")
	names = append(append(names, strings.Split(keys, ", ")...), strings.Split(faults, ", ")...)
	require.Greater(t, len(names), 50)
	for _, name := range names {
		require.True(t, words[name], "doc.go does not name %s", name)
	}
}
