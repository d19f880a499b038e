package pmd

import "errors"

// Errors that callers tell apart with errors.Is; they come wrapped with what
// was being done. Errno values can be tested for, too.
var (
	// ErrEALStarted: EAL can be started once per process, also when it failed.
	ErrEALStarted = errors.New("EAL has been started in this process already")
	// ErrEALClosed: EAL is not running (any more).
	ErrEALClosed = errors.New("EAL is not running")
	// ErrPreflight: the host lacks something that EAL needs.
	ErrPreflight = errors.New("DPDK cannot start here")
	// ErrNotSupported: the port, its driver or this DPDK cannot do that.
	ErrNotSupported = errors.New("not supported")
	// ErrLcoreUnknown: no such lcore is enabled.
	ErrLcoreUnknown = errors.New("lcore is not enabled")
	// ErrLcoreBusy: a function runs on the lcore already.
	ErrLcoreBusy = errors.New("lcore is busy")
	// ErrPanic: a function on an lcore panicked.
	ErrPanic = errors.New("panic")
	// ErrPoolInUse: packets of the pool are still held by somebody.
	ErrPoolInUse = errors.New("packet buffers are still in use")
	// ErrNoPort: no port has that number or name.
	ErrNoPort = errors.New("no such port")
	// ErrPortClosed: the port was closed.
	ErrPortClosed = errors.New("port is closed")
	// ErrQueueTaken: another lane uses that queue.
	ErrQueueTaken = errors.New("queue belongs to another lane")
	// ErrConfig: a setting is out of range; the text says which and what is accepted.
	ErrConfig = errors.New("bad configuration")
)

var errNoMemory = errors.New("out of memory")
