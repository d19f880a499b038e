package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// replayCommand sends a capture's ESP packets again, in their order.
func replayCommand(f *pflag.FlagSet) action {
	names := f.StringArray("file", nil, "pcap `FILE`; repeatable, then one after the other")
	rate := f.Float64("rate", 120000, "`PACKETS` a second")
	return func(ctx context.Context, words []string, stdout io.Writer) error {
		iface, err := oneWord(words, "an interface")
		if err != nil {
			return err
		}
		if *rate < 1 || *rate > 1e7 {
			return usagef("--rate %g: accepted: 1 to 10000000", *rate)
		}
		if len(*names) == 0 {
			return usagef("--file: at least one is needed")
		}
		r, err := openRing(iface)
		if err != nil {
			return err
		}
		defer r.close()
		sent := 0
		for _, name := range *names {
			n, err := replayFile(ctx, name, *rate, r)
			sent += n
			if err != nil {
				return fmt.Errorf("after %d packets: %w", sent, err)
			}
		}
		if err := r.drain(ctx); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "replayed=%d\n", sent)
		return nil
	}
}

// replayFile returns how many packets it has put into the ring.
func replayFile(ctx context.Context, name string, rate float64, r *ring) (int, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	c, err := newCapture(f, name)
	if err != nil {
		return 0, err
	}
	next, stop := iter.Pull(espOf(c.frames()))
	defer stop()
	sent := 0
	var held []byte // for which the ring had no place
	put := func() (bool, error) {
		if held == nil {
			one, ok := next()
			if !ok {
				return false, c.err
			}
			if len(one.frame) != one.length {
				return false, fmt.Errorf("%s: a packet of %d octets was kept in part: capture whole frames", name, one.length)
			}
			held = one.frame
		}
		ok, err := r.put(held)
		if ok {
			held = nil
			sent++
		}
		return true, err
	}
	if err := paced(ctx, rate, put, r.flush); err != nil {
		return sent, err
	}
	return sent, ctx.Err()
}

// espOf leaves the ESP packets of frames.
func espOf(frames iter.Seq[captured]) iter.Seq[captured] {
	return func(yield func(captured) bool) {
		for one := range frames {
			if _, ok := parseESP(one.frame); ok && !yield(one) {
				return
			}
		}
	}
}

// drain waits until all that was put has left.
func (r *ring) drain(ctx context.Context) error {
	for r.waiting() > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%d frames have not left: %w", r.waiting(), err)
		}
		if err := r.flush(); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}
