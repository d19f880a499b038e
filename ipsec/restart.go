package ipsec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A port's state, as workers see it.
const (
	portRuns       uint32 = iota
	portRestarting        // stopped, or on its way there or back
	portGone              // its device was removed
)

// Ports may be stopped, started and reset while the gateway runs. A start empties
// the tables of some devices and a reset those of all, so before a stop every inline
// SA goes to software, and after a start they are put back before anything may leave
// by the port. What comes meanwhile and should leave by it is TxPortRestarting.

// StopPort stops a port, given by number or name: nothing is received from it or
// sent by it until StartPort. The error wraps ErrPortState for one that is stopped,
// ErrNoPort where there is none of that name.
func (g *Gateway) StopPort(port string) error { return g.onPort(port, "stop", g.stopPort) }

// StartPort starts a port that StopPort has stopped, with the inline SAs it had.
func (g *Gateway) StartPort(port string) error { return g.onPort(port, "start", g.startPort) }

// ResetPort stops a port, resets its device (rte_eth_dev_reset), and starts it again
// as it was configured. A port that was stopped stays so.
func (g *Gateway) ResetPort(port string) error { return g.onPort(port, "reset", g.resetPort) }

// Errors of StopPort, StartPort and ResetPort.
var (
	ErrPortState = errors.New("not possible in the port's state")
	ErrNoPort    = errors.New("no such port in a pair")
)

func (g *Gateway) onPort(name, what string, do func(*port) error) error {
	g.restart.Lock()
	defer g.restart.Unlock()
	var known []string
	for _, p := range g.ports {
		if number := strconv.Itoa(p.id()); name == number || name == p.Name {
			if err := do(p); err != nil {
				return fmt.Errorf("port %s %s: %w", what, name, err)
			}
			g.log.Info("port "+what, "port", p.id(), "name", p.Name)
			return nil
		}
		known = append(known, fmt.Sprintf("%d (%s)", p.id(), p.Name))
	}
	return fmt.Errorf("port %s %s: %w; there are: %s", what, name, ErrNoPort, strings.Join(known, ", "))
}

func (g *Gateway) stopPort(p *port) error {
	switch p.state.Load() {
	case portRestarting:
		return fmt.Errorf("%w: it is stopped", ErrPortState)
	case portGone:
		return fmt.Errorf("%w: its device is gone", ErrPortState)
	}
	if err := p.Port.CanRestart(); err != nil {
		return err
	}
	g.quiesce(p)
	if err := p.Port.Stop(); err != nil {
		return errors.Join(err, g.unpause(p))
	}
	return nil
}

func (g *Gateway) startPort(p *port) error {
	switch p.state.Load() {
	case portRuns:
		return fmt.Errorf("%w: it is running", ErrPortState)
	case portGone:
		return fmt.Errorf("%w: its device is gone", ErrPortState)
	}
	if err := p.Port.Start(); err != nil {
		return err
	}
	return g.unpause(p)
}

func (g *Gateway) resetPort(p *port) error {
	stopped := p.state.Load() == portRestarting
	if !stopped {
		if err := g.stopPort(p); err != nil {
			return err
		}
	}
	if err := p.Port.Reset(); err != nil {
		return err
	}
	if stopped {
		return nil
	}
	return g.startPort(p)
}

// quiesce takes all SAs out of the port's device and keeps every worker away from
// the port.
func (g *Gateway) quiesce(p *port) {
	if p.inline != nil {
		p.inline.suspend()
	}
	p.state.Store(portRestarting)
	g.pauseLanes(p, true)
	g.waitQuiet()
	if p.inline != nil {
		p.inline.empty()
	}
}

// unpause puts the SAs back and lets workers use the port again, in this order.
func (g *Gateway) unpause(p *port) error {
	var err error
	if p.inline != nil {
		err = p.inline.resume()
	}
	p.refreshLink()
	g.pauseLanes(p, false)
	p.state.Store(portRuns)
	return err
}

// pauseLanes has all lanes keep away from the port, or come back to it, from their
// next exchange on.
func (g *Gateway) pauseLanes(p *port, on bool) {
	for _, w := range g.workers {
		for _, l := range w.lanes {
			if l.rx == p {
				l.PauseRx(on)
			}
			if l.tx == p && l.out == l {
				l.PauseTx(on)
			}
		}
	}
}

// abandonPort gives up a port whose device is gone.
func (g *Gateway) abandonPort(p *port) {
	g.restart.Lock()
	defer g.restart.Unlock()
	p.state.Store(portGone)
	g.pauseLanes(p, true)
	if p.inline != nil {
		p.inline.suspend()
	}
}

// suspend has software do what the device did: nothing is marked for it any more,
// and what was marked has left. SAs remember that they were there.
func (ip *inlinePort) suspend() {
	ip.mu.Lock()
	ip.stopped = true
	ip.sending.Store(false)
	for i := range ip.tables {
		for _, is := range ip.tables[i].sessions {
			s := is.session
			if s.place.inline.Load() != is {
				continue // on its way out
			}
			is.back()
			if ip.gateway.ended.Load() { // listings say where it was
				s.place.inline.Store(nil)
				continue
			}
			s.place.software(fmt.Sprintf("port %s is stopped", ip.port.Name))
			if wish, ok := ip.gateway.wishesInline(s.sa); ok {
				ip.waiting[s] = &waiter{wish: wish}
				ip.suspended = append(ip.suspended, s)
			}
		}
	}
	ip.unlock()
	ip.settle()
}

// empty closes all sessions. The port sends nothing any more.
func (ip *inlinePort) empty() {
	if !ip.port.linkUp() {
		// What could not leave while the link was down must not do so now that the SAs go.
		if err := ip.port.Port.SetLink(false); err != nil {
			ip.gateway.log.Debug("set a link down before a stop", "port", ip.port.Name, "error", err)
		}
	}
	ip.mu.Lock()
	defer ip.unlock()
	var all []*inlineSession
	for i := range ip.tables {
		for _, is := range ip.tables[i].sessions {
			all = append(all, is)
		}
	}
	if err := ip.closeSessions(all); err != nil {
		ip.gateway.log.Debug("empty a device", "port", ip.port.Name, "error", err)
	}
	ip.doomed = nil
	ip.cooling = nil // a stop empties the receive queues
	for i := range ip.tables {
		t := &ip.tables[i]
		if t.dummy == nil {
			continue
		}
		if err := t.dummy.Close(); err != nil {
			ip.gateway.log.Warn("the device did not find its dummy SA", "port", ip.port.Name, "error", err)
		}
		t.dummy, t.dummySPI = nil, 0
	}
}

// resume puts the SAs back that were there. Those that find no place any more stay
// in software.
func (ip *inlinePort) resume() error {
	ip.mu.Lock()
	defer ip.unlock()
	ip.stopped = false
	suspended := ip.suspended
	ip.suspended = nil
	if err := ip.putDummies(); err != nil {
		ip.stopped = true
		return fmt.Errorf("the device takes no SAs any more, software goes on: %w", err)
	}
	for _, s := range suspended {
		w, waits := ip.waiting[s]
		if !waits {
			continue // removed meanwhile
		}
		if r := ip.installLocked(s, w.wish); r != nil {
			s.place.software(r.reason)
		}
	}
	ip.sending.Store(true)
	return nil
}
