package ipsec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu"
	"espgw/pmd/pmdtest"
)

// What operators read about a device, at start and from --probe.
func TestSummary(t *testing.T) {
	ixgbe := func(c *pmd.SecurityCapability) {
		c.ESN, c.UDPEncap, c.ReplayMax = false, false, 0
		c.AEADs = []pmd.AEADCapability{{Algorithm: pmd.AEADAESGCM, Key: pmd.SizeRange{Min: 16, Max: 16}, ICV: pmd.SizeRange{Min: 16, Max: 16}}}
	}
	for _, test := range []struct {
		name   string
		info   pmd.PortInfo
		caps   []pmd.SecurityCapability
		change func(*pmd.SecurityCapability)
		depths string
		want   string
	}{
		{
			"82599",
			pmd.PortInfo{Driver: "net_pcap", Emulates: "net_ixgbe", PCIDevice: 0x10fb},
			modern(pmd.InlineCrypto), ixgbe, "crypto",
			"crypto offload: AES-GCM with keys of 128 bits and ICVs of 128, no ESN; up to 255 SAs out and 1023 in (127 destination addresses)",
		},
		{ // a list that says more than the driver does
			"82599 that lists too much",
			pmd.PortInfo{Driver: "net_pcap", Emulates: "net_ixgbe", PCIDevice: 0x10fb},
			modern(pmd.InlineCrypto), nil, "crypto",
			"crypto offload: AES-GCM with keys of 128 bits and ICVs of 128, no ESN; up to 255 SAs out and 1023 in (127 destination addresses)",
		},
		{
			"X550",
			pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x1563},
			modern(pmd.InlineCrypto), ixgbe, "crypto",
			"crypto offload: AES-GCM with keys of 128 bits and ICVs of 128, no ESN; up to 255 SAs out, none in",
		},
		{
			"modern",
			pmd.PortInfo{Driver: "net_emu_crypto"},
			modern(pmd.InlineCrypto), nil, "crypto",
			"crypto offload: AES-GCM with keys of 128, 192, 256 bits and ICVs of 64, 96, 128, ChaCha20-Poly1305 with keys of 256 bits and ICVs of 128; up to 4096 SAs out and 4096 in",
		},
		{
			"packet",
			pmd.PortInfo{Driver: "net_cn10k"},
			modern(pmd.InlineProtocol), ixgbe, "packet",
			"packet offload: AES-GCM with keys of 128 bits and ICVs of 128, no ESN; up to 4096 SAs out and 4096 in",
		},
		{
			"both",
			pmd.PortInfo{Driver: "net_other"},
			append(modern(pmd.InlineCrypto), modern(pmd.InlineProtocol)...),
			func(c *pmd.SecurityCapability) { c.AEADs = c.AEADs[:1] }, "crypto+packet",
			"crypto offload, packet offload: AES-GCM with keys of 128, 192, 256 bits and ICVs of 64, 96, 128, no ESN, replay windows up to 1024; up to 4096 SAs out and 4096 in",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.change != nil {
				for i := range test.caps {
					test.change(&test.caps[i])
				}
			}
			d := newInlineDevice(test.info, test.caps, 0, 1500, [2]int{22, 11})
			require.Empty(t, d.why())
			require.Equal(t, test.depths, d.depths())
			require.Equal(t, test.want, d.summary())
		})
	}
}

func TestWithoutContext(t *testing.T) {
	for driver, want := range map[string]string{
		"net_af_packet":  "net_af_packet has no security context",
		"mlx5_pci":       "mlx5_pci has no security context: no release of DPDK has one for it, whatever the card can do",
		"mlx5_auxiliary": "mlx5_auxiliary has no security context: no release of DPDK has one for it, whatever the card can do",
		"net_ixgbe_vf":   "net_ixgbe_vf has no security context: virtual functions have no IPsec of their own",
	} {
		require.Equal(t, want, withoutContext(pmd.PortInfo{Driver: driver}, pmd.ErrNotSupported))
	}
	require.Equal(t, "port closed", withoutContext(pmd.PortInfo{Driver: "mlx5_pci"}, errText("port closed")), "another error is not hidden")
}

type errText string

func (e errText) Error() string { return string(e) }

// Inline IPsec is switched on where it will be used, and nowhere else.
func TestInlineFits(t *testing.T) {
	ixgbe := pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x10fb, TxOffloads: pmd.TxSecurity}
	require.True(t, InlineFits(ixgbe, 1500))
	require.True(t, InlineFits(ixgbe, 9474))
	require.False(t, InlineFits(ixgbe, 9475), "frames of more than 9500 octets would not leave, plain ones neither")
	ixgbe.PCIDevice = 0x10b6
	require.False(t, InlineFits(ixgbe, 1500), "an 82598")
	require.False(t, InlineFits(pmd.PortInfo{Driver: "net_nfp_pf", TxOffloads: pmd.TxSecurity}, 1500))
	require.True(t, InlineFits(pmd.PortInfo{Driver: "net_cn10k", TxOffloads: pmd.TxSecurity}, 9600))
	require.False(t, InlineFits(pmd.PortInfo{Driver: "net_cn10k"}, 1500), "the port does not have it")
}

// What is said of a real port, plain and with each emulated device in front of it. No
// gateway has it, and nothing is left in the device.
func TestProbeInline(t *testing.T) {
	for _, test := range []struct {
		profile string // of the emulated device; "": none
		mtu     int
		driver  string
		family  string
		depth   string
		caps    int // of them
		reason  string
		summary string
	}{
		{"", 1500, "net_ring", "not known", "none", 0, "net_ring has no security context", "all SAs in software"},
		{
			"ixgbe", 1500, "net_ixgbe, emulated", "82599", "crypto", 4, "",
			"crypto offload: AES-GCM with keys of 128 bits and ICVs of 128, no ESN; up to 255 SAs out and 1023 in (127 destination addresses); everything else in software",
		},
		{"ixgbe", 9474, "net_ixgbe, emulated", "82599", "crypto", 4, "", "crypto offload: "},
		{"ixgbe", 9475, "net_ixgbe, emulated", "82599", "none", 4, "frames of up to 9500 octets", "all SAs in software"},
		{
			"ixgbe-x550", 1500, "net_ixgbe, emulated", "X550", "crypto", 4, "",
			"crypto offload: AES-GCM with keys of 128 bits and ICVs of 128, no ESN; up to 255 SAs out, none in; everything else in software",
		},
		{
			"crypto", 9600, "net_emu_crypto, emulated", "emulated, inline crypto", "crypto", 2, "",
			"crypto offload: AES-GCM with keys of 128, 192, 256 bits and ICVs of 128; up to 4096 SAs out and 4096 in; everything else in software",
		},
		{
			"packet", 1500, "net_emu_packet, emulated", "emulated, inline protocol", "packet", 2, "",
			"packet offload: AES-GCM with keys of 128, 192, 256 bits and ICVs of 128, replay windows up to 1024; up to 4096 SAs out and 4096 in; everything else in software",
		},
	} {
		t.Run(test.profile+" "+numbers([]int{test.mtu}), func(t *testing.T) {
			port := probedPort(t, test.profile)
			r := ProbeInline(port, test.mtu)
			require.Equal(t, test.driver, r.Driver)
			require.Equal(t, test.family, r.Family)
			require.Equal(t, test.depth, r.Depth)
			require.Len(t, r.Caps, test.caps)
			require.Contains(t, r.Summary, test.summary)
			if test.reason == "" {
				require.Empty(t, r.Reason)
			} else {
				require.Contains(t, r.Reason, test.reason)
				require.Equal(t, test.summary, r.Summary, "nothing is promised of a device that is not used")
			}
			require.Equal(t, test.profile != "", len(r.Sources) > 0, "limits are told of a device that there is")
		})
	}
}

// probedPort is a port that is configured and started, behind an emulated device if a
// profile is named.
func probedPort(t *testing.T, profile string) *pmd.Port {
	pool := pmdtest.NewPool(t, 1023)
	other, port, err := pmd.NewRingPairQueues(pmdtest.Name("probe"), 1, 256)
	require.NoError(t, err)
	config := pmd.PortConfig{RxQueues: 1, TxQueues: 1, Pool: pool}
	if profile != "" {
		options, err := emu.ParseOptions(profile)
		require.NoError(t, err)
		nic, err := emu.Attach(port, options)
		require.NoError(t, err)
		t.Cleanup(func() { // runs after the port is closed
			require.Empty(t, nic.Breaches())
			require.Zero(t, nic.Counters()["sessions"])
			require.NoError(t, nic.Close())
		})
	}
	pmdtest.Start(t, other, config)
	if profile != "" {
		config.RxOffloads, config.TxOffloads = pmd.RxSecurity, pmd.TxSecurity|pmd.TxIPv4Checksum
	}
	pmdtest.Start(t, port, config)
	return port
}
