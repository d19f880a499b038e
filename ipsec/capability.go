package ipsec

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"espgw/pmd"
	"espgw/sa"
)

// OffloadMode says which SAs go to a device (--offload).
type OffloadMode uint8

// The modes.
const (
	// OffloadAuto: those that say offload, where it is possible; others, and those
	// for which it is not, are served in software.
	OffloadAuto OffloadMode = iota
	// OffloadAll: all for which it is possible.
	OffloadAll
	// OffloadRequire: those that say offload; one for which it is not possible is
	// refused.
	OffloadRequire
	// OffloadOff: none.
	OffloadOff
)

// inlineDevice is what an unprotected port's inline IPsec can do: what its
// capability list says and what is known of its driver.
type inlineDevice struct {
	name   string // of the driver
	family string
	caps   []pmd.SecurityCapability
	limits inlineLimits
	unfit  string // why it is not used at all
}

func newInlineDevice(info pmd.PortInfo, caps []pmd.SecurityCapability, contextFlags uint64, mtu int, dpdk [2]int) *inlineDevice {
	d := &inlineDevice{name: driverOf(info), caps: caps}
	d.limits, d.family = limitsOf(info, dpdk)
	d.unfit = d.limits.unfit(d.name, mtu)
	switch {
	case d.unfit != "":
	case d.limits.FlagsUnset && contextFlags != 0:
		d.unfit = fmt.Sprintf("%s has context flags 0x%x, with which its metadata would not be set", d.name, contextFlags)
	case !d.offers(pmd.InlineCrypto) && !d.offers(pmd.InlineProtocol):
		d.unfit = d.name + " offers no inline ESP in transport mode"
	}
	return d
}

// unfit says why a device is not used with an MTU, whatever it offers.
func (l *inlineLimits) unfit(name string, mtu int) string {
	// Ethernet header and FCS around the MTU; tagged frames may be 8 octets longer.
	frame := mtu + 14 + 8 + 4
	switch {
	case l.Unusable != "":
		return l.Unusable
	case l.MaxFrame > 0 && frame > l.MaxFrame:
		return fmt.Sprintf("%s sends frames of up to %d octets with IPsec, and the MTU of %d makes frames of %d", name, l.MaxFrame, mtu, frame)
	}
	return ""
}

// InlineFits says whether inline IPsec is to be switched on when a port is configured
// with an MTU. It is not where it will not be used: on some devices it changes what
// becomes of all other packets, too.
func InlineFits(info pmd.PortInfo, mtu int) bool {
	limits, _ := limitsOf(info, dpdkVersion())
	return info.TxOffloads&pmd.TxSecurity != 0 && limits.unfit("", mtu) == ""
}

// offers says whether the list has ESP in transport mode, in some direction.
func (d *inlineDevice) offers(action pmd.SecurityAction) bool {
	return slices.ContainsFunc(d.caps, func(c pmd.SecurityCapability) bool {
		return c.Action == action && c.ESP && c.Transport
	})
}

// counts says whether the device counts by session in packet offload.
func (d *inlineDevice) counts(egress bool) bool {
	return slices.ContainsFunc(d.caps, func(c pmd.SecurityCapability) bool {
		return c.Action == pmd.InlineProtocol && c.ESP && c.Transport && c.Egress == egress && c.Stats
	})
}

// depths are the depths of offload that the device has: none, crypto, packet or
// crypto+packet.
func (d *inlineDevice) depths() string {
	crypto, packet := d.offers(pmd.InlineCrypto), d.offers(pmd.InlineProtocol)
	switch {
	case d.unfit != "" || !crypto && !packet:
		return "none"
	case crypto && packet:
		return "crypto+packet"
	case packet:
		return "packet"
	}
	return "crypto"
}

// why says why the device is not used, "" if it is.
func (d *inlineDevice) why() string { return d.unfit }

// refusal says why the device cannot have an SA, "" if it can. window is the SA's
// anti-replay window, egress its direction; packet asks for INLINE_PROTOCOL.
func (d *inlineDevice) refusal(p *sa.Params, window uint32, egress, packet bool) string {
	if d.unfit != "" {
		return d.unfit
	}
	if p.Mode != sa.ModeTransport {
		return "only transport mode is offloaded"
	}
	if !egress && d.limits.EgressOnly {
		return fmt.Sprintf("%s takes egress SAs only (%s)", d.name, d.family)
	}
	if why := d.refusedByLimits(p, egress); why != "" {
		return why
	}
	return d.refusedByList(p, window, egress, packet)
}

// refusedByLimits is about what the capability list does not tell.
func (d *inlineDevice) refusedByLimits(p *sa.Params, egress bool) string {
	l := &d.limits
	keyBits := 8 * len(p.Key.Cipher())
	switch {
	case p.Algorithm != sa.AlgAESGCM && len(l.KeyBits) > 0:
		return fmt.Sprintf("%v: %s does AES-GCM only", p.Algorithm, d.name)
	case len(l.KeyBits) > 0 && !slices.Contains(l.KeyBits, keyBits):
		return fmt.Sprintf("a key of %d bits: %s does %s bits only", keyBits, d.name, numbers(l.KeyBits))
	case len(l.ICVBits) > 0 && !slices.Contains(l.ICVBits, p.ICVBits):
		return fmt.Sprintf("an ICV of %d bits: %s does %s bits only", p.ICVBits, d.name, numbers(l.ICVBits))
	case l.NoESN && p.Flags&sa.FlagESN != 0:
		return fmt.Sprintf("ESN: %s is used with 32-bit sequence numbers only", d.name)
	case l.NoUDPEncap && p.Encap != nil:
		return fmt.Sprintf("ESP in UDP: %s is not used for it", d.name)
	case l.MixesFamilies && !egress && likeIPv4(p.Dst):
		return fmt.Sprintf("destination %v: %s takes it for an IPv4 address", p.Dst, d.name)
	}
	return ""
}

// likeIPv4 says whether an IPv6 address has nothing in its last 96 bits.
func likeIPv4(a netip.Addr) bool {
	octets := a.As16()
	return a.Is6() && [12]byte(octets[4:]) == [12]byte{}
}

func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, ", ")
}

// refusedByList asks the capability list. Of several entries that nearly fit, the
// reason is that of the one that fits best.
func (d *inlineDevice) refusedByList(p *sa.Params, window uint32, egress, packet bool) string {
	action := pmd.InlineCrypto
	if packet {
		action = pmd.InlineProtocol
	}
	best, why := -1, fmt.Sprintf("%s has no %v for %s ESP in transport mode", d.name, action, directionWord(egress))
	for i := range d.caps {
		c := &d.caps[i]
		if c.Action != action || !c.ESP || !c.Transport || c.Egress != egress {
			continue
		}
		passed, reason := d.compare(c, p, window, egress, packet)
		if reason == "" {
			return ""
		}
		if passed > best {
			best, why = passed, reason
		}
	}
	return why
}

// compare puts an SA beside an entry: how many criteria it passed before the one that
// it fails, and why; "" if it passes all.
func (d *inlineDevice) compare(c *pmd.SecurityCapability, p *sa.Params, window uint32, egress, packet bool) (passed int, why string) {
	if p.Flags&sa.FlagESN != 0 && !c.ESN {
		return 0, fmt.Sprintf("ESN: %s has 32-bit sequence numbers only", d.name)
	}
	if p.Encap != nil && !c.UDPEncap {
		return 1, fmt.Sprintf("ESP in UDP: %s does not know it", d.name)
	}
	if packet && !egress && window > c.ReplayMax {
		return 2, fmt.Sprintf("a replay window of %d: that of %s has %d packets at most", window, d.name, c.ReplayMax)
	}
	wanted := pmd.AEADAESGCM
	if p.Algorithm == sa.AlgChaCha20Poly1305 {
		wanted = pmd.AEADChaCha20Poly1305
	}
	aad := 8
	if p.Flags&sa.FlagESN != 0 {
		aad = 12
	}
	passed, why = 3, fmt.Sprintf("%v: %s does not list it", wanted, d.name)
	for _, a := range c.AEADs {
		n, reason := 0, ""
		switch {
		case a.Algorithm != wanted:
			continue
		case !a.Key.Has(len(p.Key.Cipher())):
			n, reason = 4, fmt.Sprintf("a key of %d bits: %s does not list it", 8*len(p.Key.Cipher()), d.name)
		case !a.ICV.Has(p.ICVBits / 8):
			n, reason = 5, fmt.Sprintf("an ICV of %d bits: %s does not list it", p.ICVBits, d.name)
		case !a.AAD.Has(aad):
			n, reason = 6, fmt.Sprintf("%d octets of additional data: %s does not list them", aad, d.name)
		default:
			return 7, ""
		}
		if n > passed {
			passed, why = n, reason
		}
	}
	return passed, why
}
