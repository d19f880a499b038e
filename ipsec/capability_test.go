package ipsec

import (
	"net/netip"
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

// Each criterion, on a device that can do it and on one that cannot.
func TestRefusals(t *testing.T) {
	esn := func(p *sa.Params) { p.Flags |= sa.FlagESN }
	encap := func(p *sa.Params) { p.Encap = &sa.Encap{SrcPort: 4500, DstPort: 4500} }
	aes256 := func(p *sa.Params) { p.Key = sa.NewKey(make([]byte, 36)) }
	chacha := func(p *sa.Params) { p.Algorithm, p.Key = sa.AlgChaCha20Poly1305, sa.NewKey(make([]byte, 36)) }
	edit := func(f func(*pmd.SecurityCapability)) func([]pmd.SecurityCapability) []pmd.SecurityCapability {
		return func(list []pmd.SecurityCapability) []pmd.SecurityCapability {
			for i := range list {
				f(&list[i])
			}
			return list
		}
	}
	aead := func(f func(*pmd.AEADCapability)) func([]pmd.SecurityCapability) []pmd.SecurityCapability {
		return edit(func(c *pmd.SecurityCapability) { f(&c.AEADs[0]) })
	}
	for name, test := range map[string]struct {
		change func(*sa.Params)
		cap    func([]pmd.SecurityCapability) []pmd.SecurityCapability
		packet bool
		window uint32
		reason string
	}{
		"plain":       {reason: "no inline crypto", cap: edit(func(c *pmd.SecurityCapability) { c.Action = pmd.InlineProtocol })},
		"protocol":    {reason: "no inline ESP", cap: edit(func(c *pmd.SecurityCapability) { c.ESP = false })},
		"mode":        {reason: "transport mode", cap: edit(func(c *pmd.SecurityCapability) { c.Transport = false })},
		"direction":   {reason: "egress ESP", cap: edit(func(c *pmd.SecurityCapability) { c.Egress = false })},
		"algorithm":   {change: chacha, reason: "ChaCha20-Poly1305", cap: edit(func(c *pmd.SecurityCapability) { c.AEADs = c.AEADs[:1] })},
		"key":         {change: aes256, reason: "256 bits", cap: aead(func(a *pmd.AEADCapability) { a.Key.Max = 16 })},
		"ICV":         {reason: "ICV of 128", cap: aead(func(a *pmd.AEADCapability) { a.ICV.Max = 12 })},
		"AAD":         {change: esn, reason: "12 octets of additional data", cap: aead(func(a *pmd.AEADCapability) { a.AAD.Max = 8 })},
		"ESN":         {change: esn, reason: "ESN", cap: edit(func(c *pmd.SecurityCapability) { c.ESN = false })},
		"UDP":         {change: encap, reason: "ESP in UDP", cap: edit(func(c *pmd.SecurityCapability) { c.UDPEncap = false })},
		"tunnel mode": {change: func(p *sa.Params) { p.Mode = sa.ModeTunnel }, reason: "transport mode"},
	} {
		t.Run(name, func(t *testing.T) {
			p := params()
			if test.change != nil {
				p = params(test.change)
			}
			if test.cap != nil {
				require.Empty(t, deviceOf("net_other", modern(pmd.InlineCrypto)).refusal(p, 1024, true, false))
			}
			caps := modern(pmd.InlineCrypto)
			if test.cap != nil {
				caps = test.cap(caps)
			}
			require.Contains(t, deviceOf("net_other", caps).refusal(p, 1024, true, false), test.reason)
		})
	}
	packet := deviceOf("net_other", modern(pmd.InlineProtocol))
	require.Empty(t, packet.refusal(params(), 1024, false, true))
	require.Contains(t, packet.refusal(params(), 2048, false, true), "replay window of 2048")
	require.Empty(t, packet.refusal(params(), 2048, true, true), "outbound has none")

	// What ixgbe's own list does not tell.
	ixgbe := deviceOf("net_ixgbe", modern(pmd.InlineCrypto))
	require.Empty(t, ixgbe.refusal(params(), 1024, true, false))
	for reason, change := range map[string]func(*sa.Params){
		"256 bits": aes256, "ESN": esn, "ESP in UDP": encap, "AES-GCM only": chacha, "ICV of 96": func(p *sa.Params) { p.ICVBits = 96 },
	} {
		require.Contains(t, ixgbe.refusal(params(change), 1024, true, false), reason)
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
		{pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x10fb}, caps, 0, 9600, "9500 octets"},
		{pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x10fb}, caps, 1, 1500, "context flags"},
		{pmd.PortInfo{Driver: "net_other"}, nil, 0, 1500, "no inline ESP"},
	} {
		d := newInlineDevice(test.info, test.caps, test.flags, test.mtu, [2]int{22, 11})
		require.Equal(t, "none", d.depths())
		require.Contains(t, d.why(), test.reason)
		require.Contains(t, d.refusal(params(), 64, true, false), test.reason)
	}
	x550 := newInlineDevice(pmd.PortInfo{Driver: "net_ixgbe", PCIDevice: 0x1563}, caps, 0, 1500, [2]int{22, 11})
	require.Empty(t, x550.refusal(params(), 64, true, false))
	require.Contains(t, x550.refusal(params(), 64, false, false), "egress SAs only")
}
