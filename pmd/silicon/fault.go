package silicon

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Faults are what goes wrong, on demand. Zero: nothing.
type Faults struct {
	ICVEvery        int           // each n-th packet that is opened has a wrong ICV
	TxICVEvery      int           // each n-th packet that is sealed leaves with a wrong ICV
	LostWriteEvery  int           // each n-th write of an IPsec table is acknowledged and not done
	StuckWriteEvery int           // each n-th is not acknowledged, and not done
	NotReady        bool          // the security paths never say that they are ready
	Slow            time.Duration // before each step
	FlapEvery       time.Duration // the link goes down for FlapDown that often
}

// FlapDown is how long the link is down each time.
const FlapDown = time.Second

// fault is one name that a user may ask for.
type fault struct {
	name, unit string
	set        func(*Faults, int)
}

var faultList = []fault{
	{"icv", "PACKETS", func(f *Faults, n int) { f.ICVEvery = n }},
	{"tx-icv", "PACKETS", func(f *Faults, n int) { f.TxICVEvery = n }},
	{"lost-write", "WRITES", func(f *Faults, n int) { f.LostWriteEvery = n }},
	{"stuck-write", "WRITES", func(f *Faults, n int) { f.StuckWriteEvery = n }},
	{"not-ready", "1", func(f *Faults, n int) { f.NotReady = n > 0 }},
	{"slow", "MICROSECONDS", func(f *Faults, n int) { f.Slow = time.Duration(n) * time.Microsecond }},
	{"flap", "MILLISECONDS", func(f *Faults, n int) { f.FlapEvery = time.Duration(n) * time.Millisecond }},
}

// Set has the fault that text names happen, "NAME:N"; with 0 it ends. N is 1 when it
// is not given.
func (f *Faults) Set(text string) error {
	name, number, given := strings.Cut(text, ":")
	n := 1
	if given {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 0 {
			return fmt.Errorf("fault %s: %q is no number", name, number)
		}
	}
	for _, known := range faultList {
		if known.name == name {
			known.set(f, n)
			return nil
		}
	}
	return fmt.Errorf("no fault %q; there are %s", name, strings.Join(FaultNames(), ", "))
}

// FaultNames lists the faults with what their numbers count.
func FaultNames() []string {
	var names []string
	for _, f := range faultList {
		names = append(names, f.name+":"+f.unit)
	}
	return names
}

// faultState counts towards the next of each.
type faultState struct {
	Faults
	icv, txICV, lost, stuck int
	heldBack                [2]uint32 // of each index register, transmit's first: what is stuck in it
}

func (f *faultState) step() {
	if f.Slow > 0 {
		time.Sleep(f.Slow)
	}
}

// due counts one, and says whether it is the n-th.
func due(count *int, n int) bool {
	if n <= 0 {
		return false
	}
	if *count++; *count < n {
		return false
	}
	*count = 0
	return true
}

// SetFault has a fault happen from now on, or end; see Faults.Set.
func (c *Card) SetFault(text string) error { return c.faults.Set(text) }
