package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
)

// againCommand compares what came out of a receiving gateway before it was
// stopped with what came out when it ran again and old packets were sent to it.
func againCommand(f *pflag.FlagSet) action {
	before := f.StringArray("before", nil, "pcap `FILE` behind the receiver, before it was stopped; repeatable")
	after := f.StringArray("after", nil, "pcap `FILE` behind the receiver, after it was started again; repeatable")
	stopped := f.String("stopped", "", "when it was killed, in Unix `SECONDS`")
	within := f.Duration("within", 0, "what came in that `TIME` before the kill may be taken again; 0: nothing")
	return func(_ context.Context, words []string, stdout io.Writer) error {
		if len(words) > 0 || len(*before) == 0 || len(*after) == 0 || *stopped == "" {
			return usagef("--before, --after and --stopped are needed, and nothing else")
		}
		at, err := parseSeconds(*stopped)
		if err != nil {
			return usagef("--stopped: %w", err)
		}
		t := newTaken(at - int64(*within))
		for _, name := range *before {
			if err := eachFrame(name, t.before); err != nil {
				return err
			}
		}
		for _, name := range *after {
			if err := eachFrame(name, t.after); err != nil {
				return err
			}
		}
		faults := t.report(stdout, at, *within > 0)
		for _, fault := range faults {
			fmt.Fprintf(stdout, "fault: %s\n", fault)
		}
		if len(faults) > 0 {
			return errFound
		}
		return nil
	}
}

// taken is which datagrams came out, and when.
type taken struct {
	first  map[uint64]int64 // when a number came out first, before the stop
	since  map[uint64]bool  // numbers that came out after it
	oldest int64            // first arrival of the oldest that was taken again; 0: none was
	limit  int64            // what arrived before it must not be taken again
	again  int              // taken before and after the stop
	tooOld int              // of these, first taken before the limit
	twice  int              // taken twice while the receiver ran
	fresh  int              // taken after the stop for the first time
}

func newTaken(limit int64) *taken {
	return &taken{first: map[uint64]int64{}, since: map[uint64]bool{}, limit: limit}
}

func (t *taken) before(c captured) error {
	if n, ok := numberOf(c.frame); ok {
		if _, ok := t.first[n]; ok {
			t.twice++
			return nil
		}
		t.first[n] = c.at
	}
	return nil
}

func (t *taken) after(c captured) error {
	n, ok := numberOf(c.frame)
	if !ok {
		return nil
	}
	if t.since[n] {
		t.twice++
		return nil
	}
	t.since[n] = true
	at, ok := t.first[n]
	if !ok {
		t.fresh++
		return nil
	}
	t.again++
	if t.oldest == 0 || at < t.oldest {
		t.oldest = at
	}
	if at < t.limit {
		t.tooOld++
	}
	return nil
}

// report prints one line and returns what is wrong. may says that something may
// be taken again.
func (t *taken) report(w io.Writer, stopped int64, may bool) (faults []string) {
	oldest := 0.0 // what came out until the kill took effect is younger than that
	if t.again > 0 {
		oldest = max(0, float64(stopped-t.oldest)/float64(time.Millisecond))
	}
	fmt.Fprintf(w, "before=%d again=%d oldest_ms=%.1f fresh=%d twice=%d\n",
		len(t.first), t.again, oldest, t.fresh, t.twice)
	if len(t.first) == 0 {
		faults = append(faults, "nothing was accepted before the stop")
	}
	switch {
	case t.again > 0 && !may:
		faults = append(faults, fmt.Sprintf("%d packets were accepted again after a clean stop", t.again))
	case t.tooOld > 0:
		faults = append(faults,
			fmt.Sprintf("%d packets were accepted again that had been accepted long before the kill", t.tooOld))
	}
	if t.twice > 0 {
		faults = append(faults, fmt.Sprintf("%d packets were accepted twice by a running gateway", t.twice))
	}
	return faults
}
