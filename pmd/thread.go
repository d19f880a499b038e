package pmd

// #include "pmd.h"
import "C"

import (
	"fmt"
	"runtime"
	"runtime/cgo"
	"runtime/debug"
	"slices"
)

// Thread is a function running on an lcore.
type Thread struct {
	lcore int
	eal   *EAL
	fn    func()
	done  chan struct{}
	err   error
}

// Launch runs fn on the lcore's own pinned thread, so that rte_lcore_id and the
// per-lcore caches of pools are right in it. fn must come back by itself; it must
// not call runtime.Goexit (which a test's FailNow does). GOMAXPROCS is raised, if
// necessary, to the number of running functions and two more: a busy worker keeps
// a processor of Go's scheduler for itself.
//
// Errors: ErrLcoreUnknown, ErrLcoreBusy, ErrEALClosed.
func (e *EAL) Launch(lcore int, fn func()) (*Thread, error) {
	t := &Thread{lcore: lcore, eal: e, fn: fn, done: make(chan struct{})}
	if err := e.admit(t); err != nil {
		return nil, fmt.Errorf("launching on lcore %d: %w", lcore, err)
	}
	if lcore == e.MainLcore() {
		e.tasks <- t.run
		return t, nil
	}
	handle := cgo.NewHandle(t)
	if rc := C.pmd_lcore_launch(C.uint(lcore), C.uintptr_t(handle)); rc < 0 {
		handle.Delete()
		e.release(t)
		return nil, failed(int(rc), "launching on lcore %d", lcore)
	}
	return t, nil
}

func (e *EAL) admit(t *Thread) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return ErrEALClosed
	case !slices.Contains(e.lcores, t.lcore):
		return fmt.Errorf("%w; enabled are %v", ErrLcoreUnknown, e.lcores)
	case e.threads[t.lcore] != nil:
		return ErrLcoreBusy
	}
	e.threads[t.lcore] = t
	if need := len(e.threads) + 2; runtime.GOMAXPROCS(0) < need {
		runtime.GOMAXPROCS(need)
	}
	return nil
}

func (e *EAL) release(t *Thread) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.threads[t.lcore] == t {
		delete(e.threads, t.lcore)
	}
}

// Lcore is where the function runs.
func (t *Thread) Lcore() int { return t.lcore }

// Wait waits until the function has returned. A panic in it comes back as an
// error that wraps ErrPanic and holds the stack. The lcore is free afterwards.
func (t *Thread) Wait() error {
	<-t.done
	if t.lcore != t.eal.MainLcore() {
		C.pmd_lcore_wait(C.uint(t.lcore))
	}
	t.eal.release(t)
	return t.err
}

// Done is closed when the function has returned.
func (t *Thread) Done() <-chan struct{} { return t.done }

// run is on the lcore's thread.
func (t *Thread) run() {
	defer close(t.done)
	defer func() {
		if reason := recover(); reason != nil {
			t.err = fmt.Errorf("lcore %d: %w: %v\n%s", t.lcore, ErrPanic, reason, debug.Stack())
		}
	}()
	t.fn()
}

// pmdThreadMain is where a worker lcore's thread enters Go, once per Launch. Go
// is told that the thread is locked before the thread is pinned (again): Go then
// starts other threads from elsewhere, and they keep all CPUs.
//
//export pmdThreadMain
func pmdThreadMain(handle C.uintptr_t) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h := cgo.Handle(handle)
	t := h.Value().(*Thread)
	h.Delete()
	if rc := C.pmd_thread_pin(); rc < 0 {
		t.err = failed(int(rc), "pinning lcore %d to its CPUs", t.lcore)
		close(t.done)
		return
	}
	t.run()
}

// LcoreID is the lcore of the calling thread, -1 when it is none's. It means
// something only in a function that Launch runs.
func LcoreID() int { return int(C.pmd_thread_lcore_id()) }
