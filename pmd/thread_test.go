package pmd_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

func TestLaunchRunsOnTheLcoresOwnThread(t *testing.T) {
	eal := pmdtest.EAL()
	require.Equal(t, []int{0, 1, 2, 3}, eal.Lcores())
	require.Equal(t, 0, eal.MainLcore())
	seen := map[int]int{} // lcore by thread
	for _, lcore := range eal.Lcores() {
		for range 2 { // and the same thread again
			var id, tid, cpus int
			onLcore(t, lcore, func() {
				id, tid = pmd.LcoreID(), unix.Gettid()
				for range 100 { // it may not move to another thread meanwhile
					runtime.Gosched()
					require.Equal(t, tid, unix.Gettid())
				}
				var set unix.CPUSet
				if unix.SchedGetaffinity(0, &set) == nil {
					cpus = set.Count()
				}
			})
			require.Equal(t, lcore, id)
			require.Equal(t, 1, cpus, "lcore %d is not pinned to one CPU", lcore)
			if before, ok := seen[tid]; ok {
				require.Equal(t, before, lcore)
			}
			seen[tid] = lcore
		}
	}
	require.Len(t, seen, 4)
	require.Equal(t, -1, pmd.LcoreID(), "a goroutine of the test is no lcore")
}

// TestOnlyLcoresAreNarrowed: threads that Go starts while lcores run Go code must
// not inherit their one CPU.
func TestOnlyLcoresAreNarrowed(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("one CPU: every thread has the same")
	}
	eal := pmdtest.EAL()
	var stop atomic.Bool
	var threads []*pmd.Thread
	var tids [4]int
	for _, lcore := range eal.Lcores() {
		thread, err := eal.Launch(lcore, func() {
			tids[lcore] = unix.Gettid()
			for !stop.Load() {
				done := make(chan struct{})
				go func() { // wakes up idle threads, and starts new ones
					time.Sleep(10 * time.Microsecond)
					close(done)
				}()
				<-done
			}
		})
		require.NoError(t, err)
		threads = append(threads, thread)
	}
	spawnThreads(40)
	stop.Store(true)
	for _, thread := range threads {
		require.NoError(t, thread.Wait())
	}

	self, err := os.ReadFile("/proc/self/comm") // threads of EAL have names of their own
	require.NoError(t, err)
	checked := 0
	tasks, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, task := range tasks {
		name, err := os.ReadFile("/proc/self/task/" + task.Name() + "/comm")
		if err != nil { // it has ended
			continue
		}
		var tid int
		_, err = fmt.Sscan(task.Name(), &tid)
		require.NoError(t, err)
		var set unix.CPUSet
		if string(name) != string(self) || slices.Contains(tids[:], tid) || unix.SchedGetaffinity(tid, &set) != nil {
			continue
		}
		checked++
		require.Equal(t, runtime.NumCPU(), set.Count(), "thread %s (%s) is narrowed", task.Name(), name)
	}
	require.Greater(t, checked, 40)
}

// spawnThreads makes Go start n threads: goroutines that block in a system call
// and that are locked need one each.
func spawnThreads(n int) {
	var running atomic.Int64
	release := make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			running.Add(1)
			<-release
		}()
	}
	for running.Load() < int64(n) {
		time.Sleep(time.Millisecond)
	}
	close(release)
}

func TestLaunchErrors(t *testing.T) {
	eal := pmdtest.EAL()
	_, err := eal.Launch(77, func() {})
	require.ErrorIs(t, err, pmd.ErrLcoreUnknown)
	require.ErrorContains(t, err, "77")
	require.ErrorContains(t, err, "[0 1 2 3]")

	for _, lcore := range []int{0, 2} {
		release := make(chan struct{})
		thread, err := eal.Launch(lcore, func() { <-release })
		require.NoError(t, err)
		_, err = eal.Launch(lcore, func() {})
		require.ErrorIs(t, err, pmd.ErrLcoreBusy)
		require.ErrorIs(t, eal.Close(), pmd.ErrLcoreBusy)
		close(release)
		require.NoError(t, thread.Wait())
		require.NoError(t, thread.Wait(), "waiting twice")
	}
}

func TestPanicOnAnLcoreComesBack(t *testing.T) {
	for _, lcore := range []int{0, 1} {
		thread, err := pmdtest.EAL().Launch(lcore, func() { panic("no packet today") })
		require.NoError(t, err)
		err = thread.Wait()
		require.ErrorIs(t, err, pmd.ErrPanic)
		require.ErrorContains(t, err, "no packet today")
		require.ErrorContains(t, err, "thread_test.go", "the stack names the place")
		onLcore(t, lcore, func() {})
	}
}

func TestLaunchRaisesGOMAXPROCS(t *testing.T) {
	eal := pmdtest.EAL()
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	release := make(chan struct{})
	var threads []*pmd.Thread
	for i, lcore := range eal.Lcores() {
		thread, err := eal.Launch(lcore, func() { <-release })
		require.NoError(t, err)
		threads = append(threads, thread)
		require.GreaterOrEqual(t, runtime.GOMAXPROCS(0), i+3)
	}
	close(release)
	for _, thread := range threads {
		require.NoError(t, thread.Wait())
	}
}

// TestPoolCacheOfLcore: on an lcore, buffers go to its cache and come from there,
// so what it freed last it gets first.
func TestPoolCacheOfLcore(t *testing.T) {
	pool := pmdtest.NewPool(t, 1023)
	onLcore(t, 1, func() {
		first := pool.Alloc()
		first.Free()
		for range 10 {
			again := pool.Alloc()
			if again != first {
				panic("another buffer than the one that was freed last")
			}
			again.Free()
		}
	})
	first := pool.Alloc()
	first.Free()
	second := pool.Alloc()
	defer second.Free()
	require.NotEqual(t, first, second, "a goroutine of the test has no cache: the pool is a queue")
}
