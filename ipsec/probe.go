package ipsec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"espgw/pmd"
)

// InlineReport says what a port's inline IPsec can do, and what espgw would do with
// it.
type InlineReport struct {
	Driver  string // as it is looked up, an emulated one marked
	Family  string // of the device, as far as its limits go
	Depth   string // none, crypto, packet or crypto+packet
	Reason  string // why there is nothing to be used
	Summary string // what espgw would do, in a line
	Sources []string
	Caps    []pmd.SecurityCapability
}

// ProbeInline reports about a port that is configured.
func ProbeInline(port *pmd.Port, mtu int) InlineReport {
	info := port.Info()
	r := InlineReport{Driver: driverOf(info), Depth: "none", Summary: "all SAs in software"}
	limits, family := limitsOf(info, dpdkVersion())
	r.Family = family
	security, err := port.Security(1)
	if err != nil {
		r.Reason = withoutContext(info, err)
		if limits.Unusable != "" {
			r.Sources = limits.Sources
		}
		return r
	}
	r.Caps, r.Sources = security.Capabilities(), limits.Sources
	d := newInlineDevice(info, r.Caps, security.ContextFlags(), mtu, dpdkVersion())
	r.Depth, r.Reason = d.depths(), d.why()
	if r.Reason == "" {
		r.Summary = d.summary() + "; everything else in software"
	}
	return r
}

// withoutContext says why a port has no security context.
func withoutContext(info pmd.PortInfo, err error) string {
	if !errors.Is(err, pmd.ErrNotSupported) {
		return err.Error()
	}
	why := driverOf(info) + " has no security context"
	if limits, _ := limitsOf(info, dpdkVersion()); limits.Unusable != "" {
		why += ": " + limits.Unusable
	}
	return why
}

// summary is what a device that is used does for SAs, in a line.
func (d *inlineDevice) summary() string {
	var words []string
	for _, depth := range []struct {
		action pmd.SecurityAction
		name   string
	}{{pmd.InlineCrypto, "crypto offload"}, {pmd.InlineProtocol, "packet offload"}} {
		if d.offers(depth.action) {
			words = append(words, depth.name)
		}
	}
	text := strings.Join(words, ", ") + ": " + d.algorithms()
	if d.limits.NoESN || !slices.ContainsFunc(d.caps, func(c pmd.SecurityCapability) bool { return c.ESN }) {
		text += ", no ESN"
	}
	if n := d.largestWindow(); n > 0 {
		text += fmt.Sprintf(", replay windows up to %d", n)
	}
	egress, ingress, addresses := d.limits.EgressSAs, d.limits.IngressSAs, d.limits.Addresses
	if d.limits.RemovalStopsLookups { // a dummy in each direction
		egress, ingress, addresses = egress-1, ingress-1, addresses-1
	}
	if d.limits.EgressOnly {
		return fmt.Sprintf("%s; up to %d SAs out, none in", text, egress)
	}
	text = fmt.Sprintf("%s; up to %d SAs out and %d in", text, egress, ingress)
	if addresses > 0 {
		text += fmt.Sprintf(" (%d destination addresses)", addresses)
	}
	return text
}

// largestWindow is the largest anti-replay window of packet offload, 0 where there is
// none.
func (d *inlineDevice) largestWindow() (n uint32) {
	for _, c := range d.caps {
		if c.Action == pmd.InlineProtocol && c.ESP && c.Transport && !c.Egress {
			n = max(n, c.ReplayMax)
		}
	}
	return n
}

// algorithms names the ciphers with their key and ICV sizes, in bits.
func (d *inlineDevice) algorithms() string {
	var words []string
	for _, c := range d.caps {
		if !c.ESP || !c.Transport || c.Action == pmd.ActionOther {
			continue
		}
		for _, a := range c.AEADs {
			if a.Algorithm == pmd.AEADOther || len(d.limits.KeyBits) > 0 && a.Algorithm != pmd.AEADAESGCM {
				continue
			}
			keys, icvs := bits(a.Key), bits(a.ICV)
			if a.Algorithm == pmd.AEADAESGCM {
				keys, icvs = narrowed(keys, d.limits.KeyBits), narrowed(icvs, d.limits.ICVBits)
			}
			word := fmt.Sprintf("%v with keys of %s bits and ICVs of %s", a.Algorithm, numbers(keys), numbers(icvs))
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return strings.Join(words, ", ")
}

// bits are the sizes of a range, in bits.
func bits(r pmd.SizeRange) []int {
	list := []int{8 * r.Min}
	for n := r.Min + r.Step; r.Step > 0 && n <= r.Max; n += r.Step {
		list = append(list, 8*n)
	}
	return list
}

func narrowed(list, to []int) []int {
	if len(to) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(n int) bool { return !slices.Contains(to, n) })
}

// OffloadText is a line for each unprotected port: what its device does.
func (g *Gateway) OffloadText() []string {
	var lines []string
	for _, p := range g.ports {
		if p.side != Unprotected {
			continue
		}
		if p.inline == nil {
			lines = append(lines, fmt.Sprintf("port %d %s: software: %s", p.id(), p.Name, p.whyNotInline))
			continue
		}
		d := p.inline.device
		lines = append(lines, fmt.Sprintf("port %d %s: %s (%s)", p.id(), p.Name, d.summary(), d.name))
	}
	return lines
}
