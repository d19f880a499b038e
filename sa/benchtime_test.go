//go:build linux

package sa_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// reportCPU adds the processor time per operation, which other work on the
// machine disturbs less than the time on the clock. Call it first in a
// benchmark, and the result at its end.
func reportCPU(b *testing.B) (end func()) {
	runtime.LockOSThread()
	start := threadTime()
	return func() {
		b.ReportMetric(float64(threadTime()-start)/float64(b.N), "cpu-ns/op")
		runtime.UnlockOSThread()
	}
}

func threadTime() time.Duration {
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if syscall.Getrusage(thisThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
