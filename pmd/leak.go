package pmd

import (
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// owners lists everything that C owns and Go has not closed.
var owners = struct {
	sync.Mutex
	last uint64
	live map[uint64]string
}{live: map[uint64]string{}}

// logger is where the package reports; set by StartEAL.
var logger atomic.Pointer[slog.Logger]

func log() *slog.Logger {
	if l := logger.Load(); l != nil {
		return l
	}
	return slog.Default()
}

// own notes that the thing behind owner must be closed; disown with the number.
// A thing that the garbage collector finds unclosed is reported, never freed:
// C may still use it.
func own[T any](owner *T, what string) uint64 {
	owners.Lock()
	defer owners.Unlock()
	owners.last++
	id := owners.last
	owners.live[id] = what
	runtime.AddCleanup(owner, reportLost, id)
	return id
}

func disown(id uint64) {
	owners.Lock()
	defer owners.Unlock()
	delete(owners.live, id)
}

func reportLost(id uint64) {
	owners.Lock()
	what, lost := owners.live[id]
	owners.Unlock()
	if lost {
		log().Warn("never closed", "what", what)
	}
}

// Leaks names everything of DPDK that was made and not closed, in order of
// creation: pools, lanes, ports made by CreateVdev or NewRingPair.
func Leaks() []string {
	owners.Lock()
	defer owners.Unlock()
	ids := make([]uint64, 0, len(owners.live))
	for id := range owners.live {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, owners.live[id])
	}
	return names
}
