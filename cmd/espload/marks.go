package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How a run of the sender ended.
const (
	endKill  = "kill"  // killed while it sent
	endEarly = "early" // killed while it started, wherever it was
	endClean = "clean" // told to stop
)

// warmUp is what does not count for the rate: when a gateway starts, what has
// waited in its receive ring comes in one burst.
const warmUp = 20 * time.Millisecond

// runs are the runs of a sender that was stopped and started again.
type runs struct {
	runs []oneRun
	at   int // index of the one that frames are in
}

// oneRun is what was seen of a run.
type oneRun struct {
	until       int64 // Unix nanoseconds: it had ended and the next had not begun
	end         string
	packets     int
	first, last int64            // when the first and the last packet passed
	steady      int              // packets after the warm-up, without the first of them
	from        int64            // when the first packet after the warm-up passed
	ends        map[*seen]uint32 // the last sequence number of each SA
	starts      map[*seen]uint32 // and the first
}

func newRun(until int64, end string) oneRun {
	return oneRun{until: until, end: end, starts: map[*seen]uint32{}, ends: map[*seen]uint32{}}
}

// readMarks reads when each run had ended; what comes after the last mark is a
// run of its own, which ends in no way. No name: there is one run in all.
func readMarks(name string) (*runs, error) {
	r := &runs{}
	if name != "" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			if err := r.mark(lines.Text()); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	r.runs = append(r.runs, newRun(math.MaxInt64, ""))
	return r, nil
}

func (r *runs) mark(line string) error {
	stamp, end, _ := strings.Cut(line, " ")
	if end != endKill && end != endEarly && end != endClean {
		return fmt.Errorf("%q: accepted: SECONDS kill|early|clean", line)
	}
	at, err := parseSeconds(stamp)
	if err != nil {
		return err
	}
	if n := len(r.runs); n > 0 && r.runs[n-1].until > at {
		return fmt.Errorf("%q: before the mark above it", line)
	}
	r.runs = append(r.runs, newRun(at, end))
	return nil
}

// parseSeconds reads Unix seconds with up to nine decimals.
func parseSeconds(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	s, err := strconv.ParseUint(whole, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("seconds %q: %w", text, err)
	}
	if len(fraction) > 9 {
		return 0, fmt.Errorf("seconds %q: nine decimals at most", text)
	}
	n, err := strconv.ParseUint(fraction+strings.Repeat("0", 9-len(fraction)), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("seconds %q: %w", text, err)
	}
	return int64(s)*int64(time.Second) + int64(n), nil
}

// see takes an ESP packet of an SA, nil if of none, into account.
func (r *runs) see(at int64, of *seen, sequence uint32) {
	for at > r.runs[r.at].until {
		r.at++
	}
	one := &r.runs[r.at]
	one.packets++
	if one.packets == 1 {
		one.first = at
	}
	one.last = at
	switch {
	case one.from != 0:
		one.steady++
	case at-one.first >= int64(warmUp):
		one.from = at
	}
	if of == nil {
		return
	}
	if _, ok := one.starts[of]; !ok {
		one.starts[of] = sequence
	}
	one.ends[of] = sequence
}

// report prints how fast the runs were and returns what is wrong.
func (r *runs) report(w io.Writer, minimum float64) (faults []string) {
	var rates []float64
	steady, lasted := 0, 0.0
	for _, one := range r.runs {
		if n, s := one.steady, float64(one.last-one.from)/1e9; n > 0 && s > 0 {
			rates = append(rates, float64(n)/s)
			steady, lasted = steady+n, lasted+s
		}
	}
	rate := 0.0
	if len(rates) > 0 {
		slices.Sort(rates)
		rate = float64(steady) / lasted
		fmt.Fprintf(w, "runs=%d rate=%.0f slowest=%.0f median=%.0f\n", len(rates), rate, rates[0], rates[len(rates)/2])
	}
	if rate < minimum {
		faults = append(faults, fmt.Sprintf("%.0f packets a second while the sender ran, %.0f wanted", rate, minimum))
	}
	clean, gaps := r.gaps()
	if clean > 0 {
		fmt.Fprintf(w, "clean=%d gaps=%d\n", clean, len(gaps))
	}
	return append(append(faults, gaps...), r.silent()...)
}

// gaps counts SAs that went on after a clean stop, and describes those whose
// next sequence number did not follow the last.
func (r *runs) gaps() (clean int, faults []string) {
	for i, one := range r.runs[:len(r.runs)-1] {
		if one.end != endClean {
			continue
		}
		for of, last := range one.ends {
			next, ok := r.runs[i+1].starts[of]
			if !ok {
				continue
			}
			clean++
			if next != last+1 {
				faults = append(faults, fmt.Sprintf("SPI %#x to %s: %#x before the clean stop at %s, then %#x",
					of.spi, of.dst, last, seconds(one.until), next))
			}
		}
	}
	return clean, faults
}

// silent describes runs without a packet that should have had some.
func (r *runs) silent() (faults []string) {
	for _, one := range r.runs[:len(r.runs)-1] {
		if one.end != endEarly && one.packets == 0 {
			faults = append(faults, "no packet in the run that ended at "+seconds(one.until))
		}
	}
	return faults
}
