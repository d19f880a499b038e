package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"

	"espgw/sa"
	"espgw/sa/xfrm"
)

// sas is what is known of every SA, and of every key: SAs that share a key must
// not share an IV either (RFC 4106, 3.1).
type sas struct {
	byID    map[saID]*seen
	order   []*seen
	keys    []*keyUse
	unknown int // ESP packets of no SA
}

type saID struct {
	dst netip.Addr
	spi uint32
}

// keyUse is what was sent under one key and salt.
type keyUse struct {
	ivs      []uint64
	distinct int
}

// seen is what was seen of one SA.
type seen struct {
	saID
	key     int // index of its key
	esn     bool
	packets int
	again   int    // sequence numbers that are not above the last
	wrapped bool   // without ESN the number went over 2^32
	last    uint32 // sequence number
	start   uint32 // of the first packet
	jump    uint32 // the largest step from one packet to the next
	high    int    // how often the low half has wrapped
}

// readSAs reads the SAs that a file adds.
func readSAs(name string) (*sas, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	commands, err := xfrm.ParseFile(f, name)
	if err != nil {
		return nil, err
	}
	s := &sas{byID: map[saID]*seen{}}
	prints := map[[sha256.Size]byte]int{}
	for _, c := range commands {
		if c.State != nil {
			print := sha256.Sum256(c.State.Key.Bytes())
			key, ok := prints[print]
			if !ok {
				key = len(prints)
				prints[print] = key
				s.keys = append(s.keys, &keyUse{})
			}
			s.add(saID{c.State.Dst, c.State.SPI}, key, c.State.Flags&sa.FlagESN != 0)
		}
		c.Wipe()
	}
	if len(s.order) == 0 {
		return nil, fmt.Errorf("%s: %w", name, errNoSA)
	}
	return s, nil
}

var errNoSA = errors.New("adds no SA")

func (s *sas) add(id saID, key int, esn bool) {
	one := &seen{saID: id, key: key, esn: esn}
	s.byID[id] = one
	s.order = append(s.order, one)
}

// see takes a packet into account and returns its SA, nil if there is none.
func (s *sas) see(p espPacket) *seen {
	one := s.byID[saID{p.dst, p.spi}]
	if one == nil {
		s.unknown++
		return nil
	}
	k := s.keys[one.key]
	k.ivs = append(k.ivs, p.iv)
	one.advance(p.sequence)
	return one
}

// advance takes the next sequence number of an SA, whose packets are seen in
// the order in which they were sent. It must be above the last; a step back by
// more than half of all numbers is one forward over 2^32.
func (one *seen) advance(sequence uint32) {
	one.packets++
	if one.packets == 1 {
		one.last, one.start = sequence, sequence
		return
	}
	step := sequence - one.last
	if step == 0 || step >= 1<<31 {
		one.again++
		return
	}
	if sequence < one.last {
		one.high++
		one.wrapped = one.wrapped || !one.esn
	}
	one.jump = max(one.jump, step)
	one.last = sequence
}

// report prints a table and returns what is wrong.
func (s *sas) report(w io.Writer) (faults []string) {
	packets, again := 0, 0
	fmt.Fprintf(w, "%-10s %-20s %4s %10s %10s %10s %5s %10s %10s\n",
		"SPI", "destination", "key", "packets", "first", "last", "wraps", "jump", "not above")
	for _, one := range s.order {
		fmt.Fprintf(w, "0x%08x %-20s %4d %10d 0x%08x 0x%08x %5d %10d %10d\n",
			one.spi, one.dst, one.key+1, one.packets, one.start, one.last, one.high, one.jump, one.again)
		packets, again = packets+one.packets, again+one.again
		if one.wrapped {
			faults = append(faults, fmt.Sprintf("SPI %#x to %s: sequence numbers wrapped without ESN", one.spi, one.dst))
		}
		if one.packets == 0 {
			faults = append(faults, fmt.Sprintf("SPI %#x to %s: no packet was seen", one.spi, one.dst))
		}
	}
	ivs, repeats := 0, 0
	for i, k := range s.keys {
		slices.Sort(k.ivs)
		k.distinct = distinct(k.ivs)
		ivs += k.distinct
		repeats += len(k.ivs) - k.distinct
		if n := len(k.ivs) - k.distinct; n > 0 {
			faults = append(faults, fmt.Sprintf("key %d: %d packets have an IV that another had", i+1, n))
		}
	}
	if again > 0 {
		faults = append(faults, fmt.Sprintf("%d sequence numbers are not above the one before", again))
	}
	if s.unknown > 0 {
		faults = append(faults, fmt.Sprintf("%d ESP packets of no SA", s.unknown))
	}
	fmt.Fprintf(w, "packets=%d ivs=%d repeats=%d again=%d\n", packets, ivs, repeats, again)
	return faults
}

// wrapped reports whether an SA's numbers went over 2^32.
func (s *sas) wrapped() bool {
	return slices.ContainsFunc(s.order, func(one *seen) bool { return one.high > 0 })
}

// distinct counts the different values of what is sorted.
func distinct(sorted []uint64) int {
	n := 0
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			n++
		}
	}
	return n
}
