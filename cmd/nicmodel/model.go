package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"espgw/pmd/silicon"
	"espgw/pmd/silicon/bus"
)

// cards is a bus with cards, and what they are plugged into.
type cards struct {
	log    *slog.Logger
	bus    *bus.Bus
	memory *bus.Memory
	watch  *watch
	wires  *wires
	tape   *tape
	cards  []*silicon.Card
	cpu    int
	orders chan func() // run between two steps
	quit   chan struct{}
	ended  chan struct{}
	socket *controlSocket
}

func newModel(o *options, log *slog.Logger) (m *cards, err error) {
	m = &cards{log: log, cpu: o.cpu, orders: make(chan func()), quit: make(chan struct{}), ended: make(chan struct{})}
	if m.memory, err = bus.NewMemory(); err != nil {
		return m, err
	}
	m.watch = newWatch(m.memory, o.noTrap, log)
	if m.bus, err = bus.New(o.ports, 0x8086, deviceIDs[o.device]); err != nil {
		return m, err
	}
	if m.wires, err = openWires(o.ports, o.wires); err != nil {
		return m, err
	}
	var addresses []string
	for _, d := range m.bus.Devices {
		addresses = append(addresses, d.Address)
	}
	if m.tape, err = openTape(o.record, addresses); err != nil {
		return m, err
	}
	for i, d := range m.bus.Devices {
		config := silicon.Config{
			Registers: d.Registers, Memory: m.memory, Wire: m.wires.list[i], Interrupt: d.Interrupt, Ready: m.watch.ready,
			MAC: [6]byte{0x02, 0x82, 0x59, 0x90, byte(os.Getpid()), byte(i)}, Settings: o.settings, Faults: o.faults,
		}
		if m.tape != nil {
			config.Recorder = m.tape.port(i)
		}
		card, err := silicon.New(config)
		if err != nil {
			return m, err
		}
		m.cards = append(m.cards, card)
	}
	if err := m.watch.cover(m.bus.Devices, m.cards); err != nil {
		return m, err
	}
	if o.control != "" {
		if m.socket, err = openControl(o.control, m); err != nil {
			return m, err
		}
	}
	return m, nil
}

// start has the cards run.
func (m *cards) start() {
	device, inode, err := m.bus.Devices[0].Inode()
	if err == nil {
		m.memory.Follow(device, inode, m.log)
	}
	go m.poll()
}

// idlePause is how long the cards rest when nothing is to be done. Polling without a
// rest at a high priority would starve whoever shares the CPU.
const idlePause = 20 * time.Microsecond

// idleSteps is how many steps find nothing before the cards rest.
const idleSteps = 200

// Of each millisecond of work some is rest, too: the kernel takes the CPU from a
// real-time thread for 50 ms when it has had 95 % of a second (sched(7)).
const (
	workSpan  = time.Millisecond
	workPause = 100 * time.Microsecond
)

// trapEvery is how many steps there are between two looks for accesses that the program
// waits in: asking the kernel costs more than an idle step.
const trapEvery = 4

func rest(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil)
}

// poll steps the cards, over and over, in a thread of its own with a high priority:
// the driver gives a table write up after 5 ms, and says nothing.
func (m *cards) poll() {
	defer close(m.ended)
	runtime.LockOSThread()
	debug.SetPanicOnFault(true)
	m.prioritize()
	idle, turn, rested := 0, 0, time.Now()
	for {
		select {
		case <-m.quit:
			return
		case order := <-m.orders:
			order()
		default:
		}
		now := time.Now()
		if turn++; turn%trapEvery == 0 && m.watch.tracer.Poll() {
			idle = 0
		}
		if m.step(now) {
			idle = 0
		} else {
			idle++
		}
		switch {
		case idle > idleSteps:
			rest(idlePause)
			rested = time.Now()
		case now.Sub(rested) > workSpan:
			rest(workPause)
			rested = time.Now()
		}
	}
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

func (m *cards) prioritize() {
	if m.cpu >= 0 {
		var set unix.CPUSet
		set.Set(m.cpu)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			m.log.Warn("the cards run on any CPU", "wanted", m.cpu, "error", err)
		}
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	attributes := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 50}
	if unix.SchedSetAttr(0, &attributes, 0) == nil {
		return
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, -20); err != nil {
		m.log.Warn("the cards run with ordinary priority: the driver may give up on them", "error", err)
	}
}

// do runs something between two steps of the cards.
func (m *cards) do(order func()) {
	done := make(chan struct{})
	select {
	case m.orders <- func() { order(); close(done) }:
		<-done
	case <-m.ended:
		order()
	}
}

// stop ends the cards' work.
func (m *cards) stop() {
	close(m.quit)
	<-m.ended
	m.memory.Stop()
}

func (m *cards) close() error {
	var errs []error
	if m.socket != nil {
		errs = append(errs, m.socket.close())
	}
	if m.tape != nil {
		errs = append(errs, m.tape.close())
	}
	if m.wires != nil {
		errs = append(errs, m.wires.close())
	}
	if m.bus != nil {
		errs = append(errs, m.bus.Close())
	}
	return errors.Join(errs...)
}

func (m *cards) card(port int) (*silicon.Card, error) {
	if port < 0 || port >= len(m.cards) {
		return nil, fmt.Errorf("no port %d: there are %d", port, len(m.cards))
	}
	return m.cards[port], nil
}
