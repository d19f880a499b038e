package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"espgw/ipsec"
	"espgw/ipsec/esp"
	"espgw/pmd"
)

// printMap prints what the gateway is about to do: pairs, ports, queues,
// lcores, engines.
func printMap(w io.Writer, eal *pmd.EAL, o *options, p *ports, g *ipsec.Gateway) {
	memory := "no huge pages"
	if eal.HugePages() {
		memory = "huge pages"
	}
	fmt.Fprintf(w, "espgw %s on %s (%s)\n", version, pmd.Version(), memory)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "pair\tside\tport\tname\tdevice\tdriver\tMTU\tqueues (receive queue>lcore)")
	for i, port := range p.all {
		info := port.Info()
		side := ipsec.Protected
		if i%2 == 1 {
			side = ipsec.Unprotected
		}
		fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%s\t%s\t%d\t%s\n", i/2, side, info.ID, port.name, info.Device, info.Driver,
			port.applied.MTU, queueText(p.plan, info.ID))
	}
	t.Flush()
	for i := 0; i < len(p.all); i += 2 {
		printMTU(w, i/2, p.all[i].applied.MTU, p.all[i+1].applied.MTU, o.mssClamp)
	}
	states, policies := g.Counts()
	for _, line := range g.OffloadText() {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "engines: %s; SAs: %d; policies: %d\n", engineText(o), states, policies)
	if o.stateDir == stateNone {
		fmt.Fprintln(w, "state: none: sequence numbers start anew with every run")
	} else {
		fmt.Fprintf(w, "state: %s\n", o.stateDir)
	}
	if o.control != "" {
		fmt.Fprintf(w, "control socket: %s\n", o.control)
	}
}

// engineText names the engines in their order.
func engineText(o *options) string {
	switch {
	case o.inlineOnly:
		return ipsec.EngineInline
	case o.offload == ipsec.OffloadOff:
		return ipsec.EngineGo
	}
	return ipsec.EngineInline + ", " + ipsec.EngineGo
}

// printMTU says what of the protected side's packets fits the unprotected side with
// ESP around it.
func printMTU(w io.Writer, pair, protected, unprotected, clamp int) {
	// As most SAs are: no UDP encapsulation, no IP options.
	t := esp.Transform{ICVLen: 16}
	inner4, inner6 := t.InnerMTU(unprotected, 20), t.InnerMTU(unprotected, 40)
	fits := fmt.Sprintf("packets up to %d octets", inner4)
	if inner6 != inner4 {
		fits = fmt.Sprintf("IPv4 packets up to %d octets, IPv6 up to %d", inner4, inner6)
	}
	fmt.Fprintf(w, "pair %d: %s fit sealed (16-octet ICV)", pair, fits)
	if inner4 < protected {
		segments := map[int]string{ipsec.ClampAuto: "TCP segments are clamped to that", ipsec.ClampOff: "TCP segments are not clamped"}[clamp]
		if segments == "" {
			segments = fmt.Sprintf("TCP segments are clamped to %d", clamp)
		}
		fmt.Fprintf(w, "; senders of larger ones are told (ICMP), %s", segments)
	}
	fmt.Fprintln(w)
	if inner6 < 1280 {
		fmt.Fprintf(w, "pair %d: IPv6 needs packets of 1280 octets to fit: give the unprotected side an MTU of %d at least\n", pair, least6(&t))
	}
}

// least6 is the smallest MTU that carries sealed IPv6 packets of 1280 octets.
func least6(t *esp.Transform) int {
	n := 1280
	for t.InnerMTU(n, 40) < 1280 {
		n++
	}
	return n
}

func queueText(plan *ipsec.Plan, port int) string {
	var words []string
	for _, q := range plan.Queues {
		if q.Port == port {
			words = append(words, fmt.Sprintf("%d>%d", q.Queue, q.Lcore))
		}
	}
	return strings.Join(words, " ")
}

// report prints the table of --stats-period.
type report struct {
	w    io.Writer
	last *ipsec.Stats
}

func newReport(w io.Writer) *report { return &report{w: w} }

// print writes one table: totals, and rates since the last one.
func (r *report) print(s *ipsec.Stats) {
	seconds := s.Seconds
	if r.last != nil {
		seconds -= r.last.Seconds
	}
	t := tabwriter.NewWriter(r.w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%.1f s\tside\treceived\tpackets/s\tMbit/s\tsent\tpackets/s\tMbit/s\t\n", s.Seconds)
	for i, p := range s.Ports {
		var before ipsec.PortStats
		if r.last != nil {
			before = r.last.Ports[i]
		}
		rate := func(now, then uint64, factor float64) float64 {
			if seconds <= 0 {
				return 0
			}
			return float64(now-then) * factor / seconds
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%.0f\t%.1f\t%d\t%.0f\t%.1f\t\n", p.Name, p.Side,
			p.RxPackets, rate(p.RxPackets, before.RxPackets, 1), rate(p.RxBytes, before.RxBytes, 8e-6),
			p.TxPackets, rate(p.TxPackets, before.TxPackets, 1), rate(p.TxBytes, before.TxBytes, 8e-6))
	}
	t.Flush()
	if text := dropText(s); text != "" {
		fmt.Fprintf(r.w, "dropped: %s\n", text)
	}
	r.last = s
}

// dropText lists the reasons that are not zero.
func dropText(s *ipsec.Stats) string {
	var words []string
	for r := ipsec.ReasonNone + 1; r < ipsec.NumReasons; r++ {
		if n := s.Drops[r]; n != 0 {
			words = append(words, fmt.Sprintf("%s %d", r, n))
		}
	}
	return strings.Join(words, ", ")
}

// printSummary prints the final counters for a person.
func printSummary(w io.Writer, s *ipsec.Stats) {
	fmt.Fprintf(w, "ran %.1f s: received %d, transmitted %d, dropped %d\n", s.Seconds, s.Totals.Received, s.Totals.Transmitted, s.Totals.Dropped)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for r := ipsec.ReasonNone + 1; r < ipsec.NumReasons; r++ {
		if n := s.Drops[r]; n != 0 {
			fmt.Fprintf(t, "  %s\t%d\t%s\n", r, n, r.Info().Help)
		}
	}
	t.Flush()
	if len(s.SAs) == 0 {
		return
	}
	t = tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "SPI\tsource\tdestination\tdir\tengine\tpackets\tbytes\tsequence")
	for i, a := range s.SAs {
		if i == maxListed {
			fmt.Fprintf(t, "… and %d more (--stats-json has them all)\n", len(s.SAs)-i)
			break
		}
		fmt.Fprintf(t, "0x%08x\t%s\t%s\t%s\t%s\t%d\t%d\t%d\n", a.SPI, a.Src, a.Dst, a.Dir, a.Engine, a.Packets, a.Bytes, a.Sequence)
	}
	t.Flush()
}

// maxListed bounds the SAs of the summary.
const maxListed = 20

// writeJSON writes the counters to --stats-json: as a whole or not at all, so
// that a reader never sees half a file.
func (s *server) writeJSON() error {
	path := s.options.statsJSON
	if path == "" {
		return nil
	}
	data, err := json.Marshal(s.gateway.Stats())
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if path == "-" {
		_, err := s.stdout.Write(data)
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
