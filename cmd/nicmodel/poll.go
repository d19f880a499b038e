package main

import (
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// trapEvery is how many steps there are between two looks for accesses that the program
// waits in: asking the kernel costs more than an idle step.
const trapEvery = 4

// poll steps the cards, over and over, in a thread of its own.
func (m *cards) poll() {
	defer close(m.ended)
	runtime.LockOSThread()
	debug.SetPanicOnFault(true)
	m.pin()
	if m.watch.off {
		m.prioritize()
	}
	pace := pace{rested: time.Now()}
	for turn := 0; ; turn++ {
		select {
		case <-m.quit:
			return
		case order := <-m.orders:
			order()
		default:
		}
		now := time.Now()
		worked := turn%trapEvery == 0 && m.watch.tracer.Poll()
		if worked {
			pace.trapped = now
		}
		worked = m.step(now) || worked
		if d := pace.rest(worked, now); d > 0 {
			t := unix.NsecToTimespec(int64(d)) // time.Sleep oversleeps by milliseconds
			_ = unix.Nanosleep(&t, nil)
			pace.rested = time.Now()
		}
	}
}

// pace says when the cards rest, and how long: polling without rest would starve whoever
// shares the CPU.
type pace struct {
	idle    int // steps that found nothing, one after the other
	rested  time.Time
	trapped time.Time // when the program last waited in an access
}

const (
	idleSteps = 8 // before the first rest
	// Accesses come by the thousand when a port starts, microseconds apart.
	trapPatience = 50 * time.Microsecond
	// Rests when nothing is to be done become longer: a ping waits for each.
	firstPause = 40 * time.Microsecond
	lastPause  = 160 * time.Microsecond
	pauseSteps = 200 // steps until it is twice as long
	// Of each millisecond of work some is rest, too: the kernel takes the CPU from a
	// real-time thread for 50 ms when it has had 95 % of a second (sched(7)).
	workSpan  = time.Millisecond
	workPause = 100 * time.Microsecond
)

// rest is for how long the cards rest after a step; 0: not now.
func (p *pace) rest(worked bool, now time.Time) time.Duration {
	if p.idle++; worked {
		p.idle = 0
	}
	switch {
	case p.idle > idleSteps && now.Sub(p.trapped) > trapPatience:
		return min(firstPause<<min((p.idle-idleSteps)/pauseSteps, 8), lastPause)
	case now.Sub(p.rested) > workSpan:
		return workPause
	}
	return 0
}

// step steps each card once. The program's memory may vanish under a card when the
// program ends.
func (m *cards) step(now time.Time) (worked bool) {
	defer func() {
		if fault, ok := recover().(runtime.Error); ok {
			m.log.Debug("a card lost the memory that it was using", "error", fault)
			worked = true
		}
	}()
	for _, c := range m.cards {
		worked = c.Step(now) || worked
	}
	return worked
}

func (m *cards) pin() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	if m.cpu < 0 {
		return
	}
	var set unix.CPUSet
	set.Set(m.cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		m.log.Warn("the cards run on any CPU", "wanted", m.cpu, "error", err)
	}
}

// prioritize is for cards that only look at their registers: the driver gives a reset up
// after half a millisecond, and a table write after five. One that is trapped waits.
func (m *cards) prioritize() {
	attributes := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 50}
	if unix.SchedSetAttr(0, &attributes, 0) == nil {
		return
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, -20); err != nil {
		m.log.Warn("the cards run with ordinary priority: the driver may give up on them", "error", err)
	}
}
