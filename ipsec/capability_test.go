package ipsec

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/sa"
)

// modern are the capabilities of a device that can do all that is asked here.
func modern(action pmd.SecurityAction) []pmd.SecurityCapability {
	var list []pmd.SecurityCapability
	for _, egress := range []bool{true, false} {
		list = append(list, pmd.SecurityCapability{
			Action: action, ESP: true, Transport: true, Egress: egress, ESN: true, UDPEncap: true, ReplayMax: 1024,
			AEADs: []pmd.AEADCapability{
				{Algorithm: pmd.AEADAESGCM, Key: pmd.SizeRange{Min: 16, Max: 32, Step: 8}, ICV: pmd.SizeRange{Min: 8, Max: 16, Step: 4}, AAD: pmd.SizeRange{Min: 8, Max: 12, Step: 4}},
				{Algorithm: pmd.AEADChaCha20Poly1305, Key: pmd.SizeRange{Min: 32, Max: 32}, ICV: pmd.SizeRange{Min: 16, Max: 16}, AAD: pmd.SizeRange{Min: 8, Max: 12, Step: 4}},
			},
		})
	}
	return list
}

func params(change ...func(*sa.Params)) *sa.Params {
	p := &sa.Params{
		ID:  sa.ID{Dst: netip.MustParseAddr("10.0.0.2"), Proto: sa.ProtoESP, SPI: 7},
		Src: netip.MustParseAddr("10.0.0.1"), Algorithm: sa.AlgAESGCM, Key: sa.NewKey(make([]byte, 20)), ICVBits: 128,
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func deviceOf(driver string, caps []pmd.SecurityCapability) *inlineDevice {
	return newInlineDevice(pmd.PortInfo{Driver: driver, PCIDevice: 0x10fb}, caps, 0, 1500, [2]int{22, 11})
}

// Each criterion, on a device that can do it and on one that cannot. The device is one
// of whose driver no limits are known but that there is no ESP in UDP.
func TestRefusals(t *testing.T) {
	esn := func(p *sa.Params) { p.Flags |= sa.FlagESN }
	icv := func(bits int) func(*sa.Params) { return func(p *sa.Params) { p.ICVBits = bits } }
	key := func(octets int) func(*sa.Params) {
		return func(p *sa.Params) { p.Key = sa.NewKey(make([]byte, octets+4)) }
	}
	plain := func(*sa.Params) {}
	each := func(f func(*pmd.SecurityCapability)) func(*pmd.SecurityCapability) { return f }
	gcm := func(f func(*pmd.AEADCapability)) func(*pmd.SecurityCapability) {
		return func(c *pmd.SecurityCapability) { f(&c.AEADs[0]) }
	}
	for name, test := range map[string]struct {
		change func(*sa.Params)              // of the SA; the device can do it
		cannot func(*pmd.SecurityCapability) // what the device cannot do then
		reason string
	}{
		"action":     {plain, each(func(c *pmd.SecurityCapability) { c.Action = pmd.InlineProtocol }), "no inline crypto"},
		"protocol":   {plain, each(func(c *pmd.SecurityCapability) { c.ESP = false }), "no inline ESP"},
		"mode":       {plain, each(func(c *pmd.SecurityCapability) { c.Transport = false }), "transport mode"},
		"direction":  {plain, each(func(c *pmd.SecurityCapability) { c.Egress = false }), "egress ESP"},
		"algorithm":  {chacha, each(func(c *pmd.SecurityCapability) { c.AEADs = c.AEADs[:1] }), "ChaCha20-Poly1305: net_emu_crypto does not list it"},
		"key of 192": {key(24), gcm(func(a *pmd.AEADCapability) { a.Key.Step = 16 }), "a key of 192 bits"},
		"key of 256": {key(32), gcm(func(a *pmd.AEADCapability) { a.Key.Max = 24 }), "a key of 256 bits"},
		"ICV of 16":  {plain, gcm(func(a *pmd.AEADCapability) { a.ICV.Max = 12 }), "an ICV of 128 bits"},
		"ICV of 12":  {icv(96), gcm(func(a *pmd.AEADCapability) { a.ICV.Min, a.ICV.Step = 16, 0 }), "an ICV of 96 bits"},
		"ICV of 8":   {icv(64), gcm(func(a *pmd.AEADCapability) { a.ICV.Min = 12 }), "an ICV of 64 bits"},
		"AAD":        {plain, gcm(func(a *pmd.AEADCapability) { a.AAD.Min = 12 }), "8 octets of additional data"},
		"AAD of ESN": {esn, gcm(func(a *pmd.AEADCapability) { a.AAD.Max = 8 }), "12 octets of additional data"},
		"ESN":        {esn, each(func(c *pmd.SecurityCapability) { c.ESN = false }), "ESN"},
	} {
		t.Run(name, func(t *testing.T) {
			p := params(test.change)
			caps := modern(pmd.InlineCrypto)
			require.Empty(t, deviceOf("net_emu_crypto", caps).refusal(p, 1024, true, false))
			require.Empty(t, deviceOf("net_emu_crypto", caps).refusal(p, 1024, false, false))
			for i := range caps {
				test.cannot(&caps[i])
			}
			require.Contains(t, deviceOf("net_emu_crypto", caps).refusal(p, 1024, true, false), test.reason)
		})
	}
	tunnel := params(func(p *sa.Params) { p.Mode = sa.ModeTunnel })
	require.Contains(t, deviceOf("net_emu_crypto", modern(pmd.InlineCrypto)).refusal(tunnel, 64, true, false), "only transport mode")
}

// No driver is used for ESP in UDP yet; one that will be has to list it.
func TestUDPEncapByList(t *testing.T) {
	caps := modern(pmd.InlineCrypto)
	d := deviceOf("net_emu_crypto", caps)
	d.limits.NoUDPEncap = false
	require.Empty(t, d.refusal(params(encap), 64, true, false))
	caps[0].UDPEncap = false
	require.Contains(t, d.refusal(params(encap), 64, true, false), "ESP in UDP")
	require.Empty(t, d.refusal(params(encap), 64, false, false), "it lists it for the other direction")
}

// An entry for something else never serves, however well the rest of it fits.
func TestEntriesForSomethingElse(t *testing.T) {
	aes256 := params(func(p *sa.Params) { p.Key = sa.NewKey(make([]byte, 36)) })
	for name, change := range map[string]func(*pmd.SecurityCapability){
		"tunnel mode": func(c *pmd.SecurityCapability) { c.Transport = false },
		"not ESP":     func(c *pmd.SecurityCapability) { c.ESP = false },
		"action":      func(c *pmd.SecurityCapability) { c.Action = pmd.InlineProtocol },
		"direction":   func(c *pmd.SecurityCapability) { c.Egress = !c.Egress },
	} {
		t.Run(name, func(t *testing.T) {
			// The first entries are right but for the key, the last are another kind's with it.
			caps := append(modern(pmd.InlineCrypto), modern(pmd.InlineCrypto)...)
			for i := range caps {
				if i < 2 {
					caps[i].AEADs[0].Key.Max = 24
				} else {
					change(&caps[i])
				}
			}
			if name == "direction" {
				caps = slices.DeleteFunc(caps, func(c pmd.SecurityCapability) bool { return c.Egress && c.AEADs[0].Key.Max == 32 })
			}
			d := deviceOf("net_emu_crypto", caps)
			require.Empty(t, d.refusal(params(), 64, true, false))
			require.Contains(t, d.refusal(aes256, 64, true, false), "a key of 256 bits")
		})
	}
}

// ESP in UDP needs the driver's word, also where nothing speaks against it: of all
// drivers that are known, something does.
func TestEncapsulationIsAskedFor(t *testing.T) {
	caps := modern(pmd.InlineCrypto)
	d := deviceOf("net_emu_crypto", caps)
	d.limits.NoUDPEncap = false
	require.Empty(t, d.refusal(params(encap), 64, true, false))
	for i := range caps {
		caps[i].UDPEncap = false
	}
	require.Contains(t, d.refusal(params(encap), 64, true, false), "ESP in UDP: net_emu_crypto does not know it")
}

func chacha(p *sa.Params) {
	p.Algorithm, p.Key = sa.AlgChaCha20Poly1305, sa.NewKey(make([]byte, 36))
}

func encap(p *sa.Params) { p.Encap = &sa.Encap{SrcPort: 4500, DstPort: 4500} }

// Of entries that nearly fit, the reason is that of the nearest.
func TestReasonIsTheNearestEntrys(t *testing.T) {
	caps := append(modern(pmd.InlineCrypto), modern(pmd.InlineCrypto)...)
	for i := range caps {
		caps[i].AEADs[0].Key.Max = 24
	}
	caps[0].ESN, caps[1].ESN = false, false // would be the first thing to fail
	aes256ESN := params(func(p *sa.Params) { p.Key, p.Flags = sa.NewKey(make([]byte, 36)), sa.FlagESN })
	require.Contains(t, deviceOf("net_emu_crypto", caps).refusal(aes256ESN, 64, true, false), "a key of 256 bits")
	caps[0], caps[2] = caps[2], caps[0]
	require.Contains(t, deviceOf("net_emu_crypto", caps).refusal(aes256ESN, 64, true, false), "a key of 256 bits", "in any order")
}

// With packet offload the window is the device's.
func TestReplayWindow(t *testing.T) {
	packet := deviceOf("net_cn10k", modern(pmd.InlineProtocol))
	for _, window := range []uint32{0, 64, 1024} {
		require.Empty(t, packet.refusal(params(), window, false, true))
	}
	require.Contains(t, packet.refusal(params(), 1025, false, true), "a replay window of 1025: that of net_cn10k has 1024 packets at most")
	require.Empty(t, packet.refusal(params(), 1025, true, true), "outbound has none")
	require.Contains(t, packet.refusal(params(), 64, true, false), "no inline crypto")
	require.Empty(t, deviceOf("net_emu_crypto", modern(pmd.InlineCrypto)).refusal(params(), 65536, false, false), "the window is ours")
	require.Contains(t, deviceOf("net_emu_crypto", modern(pmd.InlineCrypto)).refusal(params(), 64, false, true), "no inline protocol")
}

// What a driver's list does not tell, on a device whose list has everything.
func TestRefusedByLimits(t *testing.T) {
	esn := func(p *sa.Params) { p.Flags |= sa.FlagESN }
	aes256 := func(p *sa.Params) { p.Key = sa.NewKey(make([]byte, 36)) }
	v6 := func(dst string) func(*sa.Params) {
		return func(p *sa.Params) { p.Src, p.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr(dst) }
	}
	for _, test := range []struct {
		driver  string
		change  func(*sa.Params)
		egress  bool
		refused string // "": accepted
	}{
		{"net_ixgbe", nil, true, ""},
		{"net_ixgbe", nil, false, ""},
		{"net_ixgbe", aes256, true, "a key of 256 bits: net_ixgbe does 128 bits only"},
		{"net_ixgbe", chacha, true, "net_ixgbe does AES-GCM only"},
		{"net_ixgbe", func(p *sa.Params) { p.ICVBits = 96 }, true, "an ICV of 96 bits: net_ixgbe does 128 bits only"},
		{"net_ixgbe", func(p *sa.Params) { p.ICVBits = 64 }, false, "an ICV of 64 bits: net_ixgbe does 128 bits only"},
		{"net_ixgbe", esn, true, "ESN: net_ixgbe"},
		{"net_ixgbe", encap, false, "ESP in UDP: net_ixgbe"},
		{"net_ixgbe", v6("2001:db8::2"), false, ""},
		{"net_ixgbe", v6("2001:db8::"), false, "destination 2001:db8::: net_ixgbe takes it for an IPv4 address"},
		{"net_ixgbe", v6("2001:db8::"), true, ""}, // no addresses are kept for egress
		{"net_txgbe", nil, true, ""},
		{"net_txgbe", nil, false, "net_txgbe takes egress SAs only"},
		{"net_txgbe", aes256, true, "128 bits only"},
		{"net_iavf", aes256, true, ""},
		{"net_iavf", v6("2001:db8::"), false, ""},
		{"net_iavf", esn, true, "ESN: net_iavf"},
		{"net_iavf", encap, true, "ESP in UDP: net_iavf"},
		{"net_emu_crypto", esn, true, ""},
		{"net_emu_crypto", encap, true, "ESP in UDP"},
		{"net_other", aes256, false, ""},
		{"net_other", esn, true, "ESN: net_other"},
		{"net_other", encap, true, "ESP in UDP: net_other"},
	} {
		p := params()
		if test.change != nil {
			p = params(test.change)
		}
		// The highest release, so that what is known of older ones does not decide.
		d := newInlineDevice(pmd.PortInfo{Driver: test.driver, PCIDevice: 0x10fb}, modern(pmd.InlineCrypto), 0, 1500, [2]int{26, 11})
		why := d.refusal(p, 1024, test.egress, false)
		if test.refused == "" {
			require.Empty(t, why, "%+v", test)
		} else {
			require.Contains(t, why, test.refused)
		}
	}
}

func TestUnfitDevices(t *testing.T) {
	caps := modern(pmd.InlineCrypto)
	require.Equal(t, "crypto", deviceOf("net_ixgbe", caps).depths())
	require.Equal(t, "crypto+packet", deviceOf("net_other", append(modern(pmd.InlineProtocol), caps...)).depths())
	for _, test := range []struct {
		info   pmd.PortInfo
		caps   []pmd.SecurityCapability
		flags  uint64
		mtu    int
		reason string
	}{
		{pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x10b6}, caps, 0, 1500, "82598"},
		{pmd.PortInfo{Driver: "net_ixgbe_vf"}, caps, 0, 1500, "virtual functions"},
		{pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x57ae}, caps, 0, 1500, "not known"},
		{pmd.PortInfo{Driver: "net_ixgbe"}, caps, 0, 1500, "not known"},
		{pmd.PortInfo{Driver: "net_nfp_pf"}, caps, 0, 1500, "one and the same IV"},
		{pmd.PortInfo{Driver: "sxe2_pci"}, caps, 0, 1500, "tunnel mode only"},
		{pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x10fb}, caps, 0, 9475, "9500 octets"},
		{pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x10fb}, caps, 1, 1500, "context flags"},
		{pmd.PortInfo{Driver: "net_iavf"}, caps, 2, 1500, "context flags"},
		{pmd.PortInfo{Driver: "net_other"}, nil, 0, 1500, "no inline ESP"},
	} {
		d := newInlineDevice(test.info, test.caps, test.flags, test.mtu, [2]int{22, 11})
		require.Equal(t, "none", d.depths())
		require.Contains(t, d.why(), test.reason)
		require.Contains(t, d.refusal(params(), 64, true, false), test.reason)
	}
	require.Empty(t, newInlineDevice(pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x10fb}, caps, 0, 9474, [2]int{22, 11}).why())
	require.Empty(t, newInlineDevice(pmd.PortInfo{Driver: "net_cn10k"}, modern(pmd.InlineProtocol), 1, 9600, [2]int{22, 11}).why(),
		"flags that its driver sets on purpose")
	x550 := newInlineDevice(pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x1563}, caps, 0, 1500, [2]int{22, 11})
	require.Empty(t, x550.refusal(params(), 64, true, false))
	require.Contains(t, x550.refusal(params(), 64, false, false), "egress SAs only")
}
