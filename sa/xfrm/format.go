package xfrm

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"espgw/sa"
)

// FormatOptions says how listings are written.
type FormatOptions struct {
	Keys    bool // show keys; otherwise as iproute2 does with `nokeys`
	Stats   bool // `ip -s`: limits, counters and more
	OneLine bool // `ip -o`: a record a line, its parts separated by backslashes
}

// printer builds a listing. The format, blanks at the ends of lines included,
// is that of iproute2 6.15 (Debian 13).
type printer struct {
	b []byte
	FormatOptions
	expired bool // the record is about an expiry
}

func (p *printer) printf(format string, args ...any) { p.b = fmt.Appendf(p.b, format, args...) }

func (p *printer) print(s string) { p.b = append(p.b, s...) }

// end ends a line of a record.
func (p *printer) end() {
	if p.OneLine {
		p.print(`\`)
	} else {
		p.print("\n")
	}
}

// record ends a record.
func (p *printer) record() {
	if p.OneLine {
		p.print("\n")
	}
}

// writeTo hands over what was built.
func (p *printer) writeTo(w io.Writer) error {
	_, err := w.Write(p.b)
	return err
}

// modeName is iproute2's word for a mode.
func modeName(m sa.Mode) string {
	if m == sa.ModeTunnel {
		return "tunnel"
	}
	return "transport"
}

// directionName is iproute2's word for a direction.
func directionName(d sa.Direction) string {
	switch d {
	case sa.DirIn:
		return "in"
	case sa.DirOut:
		return "out"
	}
	return "fwd"
}

// selector prints a selector behind what the line begins with.
func (p *printer) selector(s *sa.Selector) {
	p.printf("src %s/%d dst %s/%d ", formatAddr(s.Src.Addr()), s.Src.Bits(), formatAddr(s.Dst.Addr()), s.Dst.Bits())
	if s.Proto != 0 {
		p.printf("proto %s ", protocolName(s.Proto))
	}
	src, dst := "sport", "dport"
	if s.Proto == protoICMP || s.Proto == protoICMPv6 {
		src, dst = "type", "code"
	}
	p.port(src, s.SrcPort, s.SrcMask)
	p.port(dst, s.DstPort, s.DstMask)
	if p.Stats {
		p.print("uid 0")
	}
	p.end()
}

// port prints one port; iproute2 has no form for a mask that is neither empty
// nor full, nor for port 0 alone.
func (p *printer) port(name string, port, mask uint16) {
	switch {
	case mask == 0:
	case mask == 0xffff && (port != 0 || name == "type" || name == "code"):
		p.printf("%s %d ", name, port)
	default:
		p.printf("%s %d/0x%04x ", name, port, mask)
	}
}

// lifetimes prints limits and what was used of them.
func (p *printer) lifetimes(l *sa.Limits, bytes, packets uint64, added, used time.Time) {
	line := func(format string, args ...any) {
		p.print("\t")
		p.printf(format, args...)
		p.end()
	}
	line("lifetime config:")
	line("  limit: soft %s(bytes), hard %s(bytes)", limitText(l.SoftBytes), limitText(l.HardBytes))
	line("  limit: soft %s(packets), hard %s(packets)", limitText(l.SoftPackets), limitText(l.HardPackets))
	line("  expire add: soft %d(sec), hard %d(sec)", l.SoftAdd/time.Second, l.HardAdd/time.Second)
	line("  expire use: soft %d(sec), hard %d(sec)", l.SoftUse/time.Second, l.HardUse/time.Second)
	line("lifetime current:")
	line("  %d(bytes), %d(packets)", bytes, packets)
	line("  add %s use %s", timeText(added), timeText(used))
}

func limitText(n uint64) string {
	if n == sa.NoLimit {
		return "(INF)"
	}
	return strconv.FormatUint(n, 10)
}

// timeText is a time in t's own zone; iproute2 prints the local one.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.DateTime)
}
