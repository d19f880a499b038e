package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/pflag"
)

// sendCommand sends datagrams, in turn in each flow.
func sendCommand(f *pflag.FlagSet) action {
	texts := f.StringArray("flow", nil, "addresses `SRC,DST` of a datagram; repeatable, then in turn")
	smac := f.String("smac", "02:00:00:00:00:52", "the frames' source `MAC`")
	dmac := f.String("dmac", "02:00:00:00:00:71", "the frames' destination `MAC`")
	rate := f.Float64("rate", 120000, "`DATAGRAMS` a second, of all flows together")
	first := f.Uint64("first", 0, "`NUMBER` of the first datagram; each has one more than the last")
	return func(ctx context.Context, words []string, stdout io.Writer) error {
		iface, err := oneWord(words, "an interface")
		if err != nil {
			return err
		}
		l, err := newLoad(*texts, *smac, *dmac, *first)
		if err != nil {
			return usageError{err}
		}
		if *rate < 1 || *rate > 1e7 {
			return usagef("--rate %g: accepted: 1 to 10000000", *rate)
		}
		r, err := openRing(iface)
		if err != nil {
			return err
		}
		defer r.close()
		started := time.Now()
		err = paced(ctx, *rate, func() (bool, error) { return true, l.put(r) }, r.flush)
		lasted := time.Since(started).Seconds()
		fmt.Fprintf(stdout, "sent=%d refused=%d seconds=%.3f rate=%.0f\n", l.sent, l.refused, lasted, float64(l.sent)/lasted)
		return err
	}
}

// load is a sequence of numbered datagrams.
type load struct {
	flows         []*datagram
	turn          int // index of the next datagram's flow
	next          uint64
	sent, refused int // refused: the ring was full; the number is not used again
}

func newLoad(texts []string, smac, dmac string, first uint64) (*load, error) {
	from, err := parseMAC(smac)
	if err != nil {
		return nil, fmt.Errorf("--smac: %w", err)
	}
	to, err := parseMAC(dmac)
	if err != nil {
		return nil, fmt.Errorf("--dmac: %w", err)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("--flow: at least one is needed")
	}
	l := &load{next: first}
	for _, text := range texts {
		fl, err := parseFlow(text)
		if err != nil {
			return nil, fmt.Errorf("--flow: %w", err)
		}
		l.flows = append(l.flows, newDatagram(fl, from, to))
	}
	return l, nil
}

func parseMAC(text string) (net.HardwareAddr, error) {
	mac, err := net.ParseMAC(text)
	if err == nil && len(mac) != 6 {
		err = fmt.Errorf("%s has %d octets, not 6", text, len(mac))
	}
	return mac, err
}

func (l *load) put(r *ring) error {
	d := l.flows[l.turn]
	l.turn = (l.turn + 1) % len(l.flows)
	d.number(l.next)
	l.next++
	ok, err := r.put(d.frame)
	if ok {
		l.sent++
	} else {
		l.refused++
	}
	return err
}
