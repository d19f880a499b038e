package pmd

// #cgo noescape pmd_sleep
// #cgo nocallback pmd_sleep
// #include "pmd.h"
import "C"

import "time"

// TSCHz is the frequency of the time stamp counter in cycles per second
// (rte_get_tsc_hz); 0 before EAL has started.
func TSCHz() uint64 { return uint64(C.pmd_tsc_hz()) }

// TSC reads the time stamp counter. On the packet path use Lane.Now instead.
func TSC() uint64 { return uint64(C.pmd_tsc()) }

// tscCycles is how many cycles a duration lasts.
func tscCycles(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64(d.Seconds() * float64(TSCHz()))
}

// IdleSleep makes the calling thread sleep in the kernel for at least d: the
// back-off of a worker that has nothing to do. Unlike time.Sleep it does not hand
// the thread over to Go's scheduler.
func IdleSleep(d time.Duration) {
	if d > 0 {
		C.pmd_sleep(C.uint64_t(d))
	}
}
