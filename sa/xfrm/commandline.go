package xfrm

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"espgw/sa"
)

// CommandLine writes the `ip xfrm state add` command that gives p. Parse reads
// back what is equal to p, if p is something that a command can say. Without
// the key, a placeholder stands in its place and Parse refuses the line.
func CommandLine(p *sa.Params, withKey bool) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "ip xfrm state add src %v dst %v proto esp spi 0x%08x reqid %d mode %s",
		p.Src, p.Dst, p.SPI, p.ReqID, modeName(p.Mode))
	if p.ReplayWindowSet {
		fmt.Fprintf(b, " replay-window %d", p.ReplayWindow)
	}
	commandSequence(b, "replay-seq", p.ReplaySeq)
	commandSequence(b, "replay-oseq", p.ReplayOSeq)
	if p.Flags != 0 {
		b.WriteString(" flag")
		for _, f := range stateFlags {
			if p.Flags&f.flag != 0 {
				b.WriteString(" " + f.name)
			}
		}
	}
	key := "'" + hiddenWord + "'"
	if withKey {
		key = "0x" + hex.EncodeToString(p.Key.Bytes())
	}
	fmt.Fprintf(b, " aead '%s' %s %d", algorithmName(p.Algorithm), key, p.ICVBits)
	if e := p.Encap; e != nil {
		fmt.Fprintf(b, " encap espinudp %d %d %v", e.SrcPort, e.DstPort, e.OriginalAddr)
	}
	commandLimits(b, &p.Limits)
	if o := p.Offload; o != nil {
		b.WriteString(" offload ")
		if o.Depth == sa.OffloadPacket {
			b.WriteString("packet ")
		}
		fmt.Fprintf(b, "dev %s dir %s", shellQuote(o.Dev), directionName(o.Dir))
	}
	if p.Dir != sa.DirNone {
		fmt.Fprintf(b, " dir %s", directionName(p.Dir))
	}
	if p.Sel != nil {
		b.WriteString(" sel")
		commandSelector(b, p.Sel)
	}
	return b.String()
}

// PolicyCommandLine writes the `ip xfrm policy add` command that gives p, its
// index included if it has one.
func PolicyCommandLine(p *sa.Policy) string {
	b := &strings.Builder{}
	b.WriteString("ip xfrm policy add")
	commandSelector(b, &p.Sel)
	fmt.Fprintf(b, " dir %s priority %d", directionName(p.Dir), p.Priority)
	if p.Index != 0 {
		fmt.Fprintf(b, " index %d", p.Index)
	}
	if p.Action == sa.ActionBlock {
		b.WriteString(" action block")
	}
	if p.Flags != 0 {
		b.WriteString(" flag")
		for _, f := range policyFlags {
			if p.Flags&f.flag != 0 {
				b.WriteString(" " + f.name)
			}
		}
	}
	commandLimits(b, &p.Limits)
	for i := range p.Templates {
		commandTemplate(b, &p.Templates[i])
	}
	return b.String()
}

func commandTemplate(b *strings.Builder, t *sa.Template) {
	b.WriteString(" tmpl")
	for _, a := range []struct {
		name string
		addr netip.Addr
	}{{"src", t.Src}, {"dst", t.Dst}} {
		if a.addr.IsValid() {
			fmt.Fprintf(b, " %s %v", a.name, a.addr)
		}
	}
	b.WriteString(" proto esp")
	if t.SPI != 0 {
		fmt.Fprintf(b, " spi 0x%08x", t.SPI)
	}
	fmt.Fprintf(b, " reqid %d mode %s", t.ReqID, modeName(t.Mode))
	if t.Level == sa.LevelUse {
		b.WriteString(" level use")
	}
}

func commandSequence(b *strings.Builder, name string, n uint64) {
	if n != 0 {
		fmt.Fprintf(b, " %s %d", name, uint32(n))
	}
	if n>>32 != 0 {
		fmt.Fprintf(b, " %s-hi %d", name, n>>32)
	}
}

func commandLimits(b *strings.Builder, l *sa.Limits) {
	for _, c := range []struct {
		name string
		n    uint64
	}{
		{"byte-soft", l.SoftBytes},
		{"byte-hard", l.HardBytes},
		{"packet-soft", l.SoftPackets},
		{"packet-hard", l.HardPackets},
	} {
		if c.n != sa.NoLimit {
			fmt.Fprintf(b, " limit %s %d", c.name, c.n)
		}
	}
	for _, c := range []struct {
		name string
		span time.Duration
	}{
		{"time-soft", l.SoftAdd},
		{"time-hard", l.HardAdd},
		{"time-use-soft", l.SoftUse},
		{"time-use-hard", l.HardUse},
	} {
		if c.span != 0 {
			fmt.Fprintf(b, " limit %s %d", c.name, c.span/time.Second)
		}
	}
}

func commandSelector(b *strings.Builder, s *sa.Selector) {
	fmt.Fprintf(b, " src %v dst %v", s.Src, s.Dst)
	if s.Proto != 0 {
		fmt.Fprintf(b, " proto %s", protocolName(s.Proto))
	}
	src, dst := "sport", "dport"
	if s.Proto == protoICMP || s.Proto == protoICMPv6 {
		src, dst = "type", "code"
	}
	commandPort(b, src, s.SrcPort, s.SrcMask)
	commandPort(b, dst, s.DstPort, s.DstMask)
}

func commandPort(b *strings.Builder, name string, port, mask uint16) {
	switch {
	case port == 0 && mask == 0:
	case mask == 0xffff && (port != 0 || name == "type" || name == "code"):
		fmt.Fprintf(b, " %s %d", name, port)
	default:
		fmt.Fprintf(b, " %s %d/0x%04x", name, port, mask)
	}
}

// shellQuote quotes a word if a shell, or this package, would not take it as it
// stands.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-@+,/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
