package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"espgw/pmd/silicon"
	"espgw/pmd/silicon/trap"
)

// report is what the cards saw.
type report struct {
	Breaches uint64       `json:"breaches"`
	Cards    []cardReport `json:"cards"`
	Status   int          `json:"command_status"`
	Trapped  trap.Counts  `json:"trapped_accesses"`
}

type cardReport struct {
	Address string `json:"address"`
	silicon.Report
	WireLost uint64 `json:"wire_lost"` // frames that the wire did not take
}

func (m *cards) report(status int) *report {
	r := &report{Status: status}
	m.do(func() {
		r.Trapped = m.watch.tracer.Counts()
		for i, c := range m.cards {
			of := cardReport{m.bus.Devices[i].Address, c.Report(), m.wires.lost(i)}
			r.Breaches += of.BreachCount()
			r.Cards = append(r.Cards, of)
		}
	})
	return r
}

// write writes the JSON and the summary, as the options say.
func (r *report) write(o *options, stderr io.Writer) error {
	if o.report != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fmt.Errorf("the report: %w", err)
		}
		if err := os.WriteFile(o.report, append(text, '\n'), 0o644); err != nil {
			return fmt.Errorf("the report: %w", err)
		}
	}
	if !o.quiet {
		r.summary(stderr)
	}
	return nil
}

func (r *report) summary(w io.Writer) {
	for _, c := range r.Cards {
		n := c.Counts
		fmt.Fprintf(w, "card %s: sent %d frames (%d sealed, %d asked for it and left in clear text), received %d (%d opened, %d with a wrong ICV), missed %d\n",
			c.Address, n.TxFrames, n.TxSealed, n.TxClear, n.RxFrames, n.RxOpened, n.RxICVFailed, n.RxMissed)
		if n.LateWrites > 0 || c.WireLost > 0 {
			fmt.Fprintf(w, "  %d table writes were seen late, %d frames were lost on the wire; the longest pause was %.1f ms\n",
				n.LateWrites, c.WireLost, float64(n.LongestGap)/1e6)
		}
		for _, b := range slices.Sorted(maps.Keys(c.Breaches)) {
			fmt.Fprintf(w, "  BREACH %s: %d\n", b, c.Breaches[b])
		}
		for _, text := range c.Remarks {
			fmt.Fprintf(w, "    %s\n", text)
		}
	}
	if r.Breaches == 0 {
		fmt.Fprintln(w, "no breach of the card's contract was seen")
	}
}
