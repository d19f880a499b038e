package main

import (
	"log/slog"
	"runtime"

	"golang.org/x/sys/unix"

	"espgw/pmd/silicon"
	"espgw/pmd/silicon/bus"
	"espgw/pmd/silicon/trap"
)

// watchedPages are those of the registers that the driver's control code uses and packets
// do not. Reads count where reading has an effect: EICR, statistics.
var watchedPages = []trap.Page{
	{Offset: 0x00000, Reads: true}, // CTRL, STATUS, EICR, EIMS
	{Offset: 0x04000, Reads: true}, // CRCERRS and what follows, MSCA, AUTOC, LINKS
	{Offset: 0x08000},              // the security block
	{Offset: 0x10000},              // EEC, EERD, SWSM
}

// watch has the cards told of accesses to their registers by the program that maps them.
// The cards' goroutine calls its methods.
type watch struct {
	log    *slog.Logger
	failed func() // called when accesses cannot be trapped
	memory *bus.Memory
	tracer *trap.Tracer
	off    bool
	look   uint64 // for the program that is waited for; 0: none
	pid    int    // of the program when nothing is watched
}

func newWatch(memory *bus.Memory, off bool, log *slog.Logger) *watch {
	return &watch{log: log, memory: memory, off: off}
}

// cover says whose registers there are.
func (w *watch) cover(devices []*bus.Device, cards []*silicon.Card) error {
	var files []trap.File
	for i, d := range devices {
		device, inode, err := d.Inode()
		if err != nil {
			return err
		}
		files = append(files, trap.File{Device: device, Inode: inode, Words: d.Registers, Registers: &safely{cards[i], w.log}})
	}
	w.tracer = trap.New(files, watchedPages)
	return nil
}

// ready says whether the program that asked a card for something may have an answer: its
// memory is mapped, and its accesses are seen from now on.
func (w *watch) ready() bool {
	if w.off && w.pid != 0 && unix.Kill(w.pid, 0) == nil {
		return true
	}
	if w.look == 0 {
		w.look = w.memory.Look()
	}
	if !w.memory.Looked(w.look) {
		return false
	}
	w.look = 0
	_, pid := w.memory.Pages()
	if pid == 0 {
		return false
	}
	if !w.off {
		if err := w.tracer.Attach(pid); err != nil {
			w.log.Warn("accesses to the cards' registers cannot be trapped: statistics stay 0, and what the driver does not wait for may be lost",
				"error", err)
			w.off = true
			w.failed()
		}
	}
	w.pid = pid
	return true
}

// safely is a card whose registers are accessed. The memory that it uses may be gone.
type safely struct {
	card *silicon.Card
	log  *slog.Logger
}

func (s *safely) Read(offset uint32) uint32 {
	defer s.recover()
	return s.card.Read(offset)
}

func (s *safely) Write(offset, value uint32) {
	defer s.recover()
	s.card.Write(offset, value)
}

func (s *safely) recover() {
	if fault, ok := recover().(runtime.Error); ok {
		s.log.Debug("a card lost the memory that it was using", "error", fault)
	}
}
