package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

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
	m.watch.failed = m.prioritize
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
