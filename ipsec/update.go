package ipsec

import (
	"fmt"
	"time"

	"espgw/sa"
)

// Update makes one atomic change of SAs and policies under traffic: change gets
// a transaction, and either all of it takes effect or nothing. Workers see the
// old tables or the new ones, never a mixture. When Update returns, no worker
// uses a removed SA any more and its key is wiped.
func (g *Gateway) Update(change func(*sa.Tx) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	tx := g.config.DB.Begin()
	defer tx.Rollback()
	if err := change(tx); err != nil {
		return err
	}
	next, err := tx.Prepare()
	if err != nil {
		return err
	}
	if err := g.openSessions(next); err != nil {
		return err
	}
	ports := g.generation.Load().encapPorts
	if g.countEncaps(next) {
		ports = newPortSet(g.encaps)
	}
	if k := g.config.Keeper; k != nil {
		k.Admit(next)
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	g.generation.Store(&generation{table: next.Table, encapPorts: ports})
	g.waitQuiet()
	for _, s := range next.Removed {
		g.sessions[s.Slot()].Store(nil)
	}
	g.config.DB.Release(next.Removed)
	if k := g.config.Keeper; k != nil {
		k.Removed(next)
	}
	for _, w := range next.Warnings {
		g.log.Warn(w)
	}
	g.sayFallbacks(next.Added)
	return nil
}

// maxFallbacks bounds the log lines of one update.
const maxFallbacks = 8

// sayFallbacks says of added SAs that ask for hardware what serves them instead.
func (g *Gateway) sayFallbacks(added []*sa.SA) {
	said, more := 0, 0
	for _, s := range added {
		if s.Params().Offload == nil {
			continue
		}
		if said == maxFallbacks {
			more++
			continue
		}
		said++
		session := g.session(s)
		g.log.Warn(fmt.Sprintf("SA %v is served in software", s), "engine", session.engine, "why", session.reason)
	}
	if more > 0 {
		g.log.Warn("and other SAs that ask for hardware, too", "number", more)
	}
}

// View runs a function that only reads, on the tables as they are.
func (g *Gateway) View(read func(*sa.Tx) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	tx := g.config.DB.Begin()
	defer tx.Rollback()
	return read(tx)
}

// openSessions opens a session for each added SA; on an error none stays open.
// An SA in the place of another of the same identity goes on counting errors
// where that one was, on the path that it knew.
func (g *Gateway) openSessions(next *sa.Change) error {
	before := map[sa.ID]*session{}
	for _, s := range next.Removed {
		if old := g.session(s); old != nil {
			before[s.ID()] = old
		}
	}
	for i, s := range next.Added {
		session, err := openSession(s)
		if err != nil {
			for _, s := range next.Added[:i] {
				g.sessions[s.Slot()].Store(nil)
			}
			return err
		}
		if old := before[s.ID()]; old != nil {
			session.errors, session.pathMTU = old.errors, old.pathMTU
		}
		if o := s.Params().Offload; o != nil {
			session.reason = g.whyNotInline(o.Dev)
		}
		g.sessions[s.Slot()].Store(session)
	}
	return nil
}

// whyNotInline says why an SA that asks for offload to a device is served in
// software.
func (g *Gateway) whyNotInline(dev string) string {
	for _, p := range g.ports {
		if p.side == Unprotected && p.Name == dev {
			return fmt.Sprintf("offload to %s asked for, but this version has no inline engine", dev)
		}
	}
	return fmt.Sprintf("offload to %s asked for, but no unprotected port has that name", dev)
}

// countEncaps keeps the set of UDP ports that carry ESP; it reports whether the
// change touches it.
func (g *Gateway) countEncaps(c *sa.Change) bool {
	touched := false
	for _, s := range c.Added {
		if e := s.Params().Encap; e != nil {
			touched = true
			g.encaps[e.DstPort]++
		}
	}
	for _, s := range c.Removed {
		if e := s.Params().Encap; e != nil {
			touched = true
			if g.encaps[e.DstPort]--; g.encaps[e.DstPort] == 0 {
				delete(g.encaps, e.DstPort)
			}
		}
	}
	return touched
}

// waitQuiet returns when every running worker has passed a quiet point since
// the call, so that none holds what it loaded before.
func (g *Gateway) waitQuiet() {
	before := make([]uint64, len(g.workers))
	for i, w := range g.workers {
		before[i] = w.turn.Load()
	}
	for i, w := range g.workers {
		pause := 5 * time.Microsecond
		for w.thread != nil && !w.stopped.Load() && w.turn.Load() == before[i] {
			time.Sleep(pause)
			pause = min(2*pause, time.Millisecond)
		}
	}
}

// natPort is the port of RFC 3948; keepalives and IKE arrive there also while
// no SA uses it.
const natPort = 4500

// portSet is an immutable set of UDP ports.
type portSet struct{ bits [1 << 16 / 64]uint64 }

func newPortSet(ports map[uint16]int) *portSet {
	s := &portSet{}
	s.add(natPort)
	for p := range ports {
		s.add(p)
	}
	return s
}

func (s *portSet) add(p uint16)      { s.bits[p>>6] |= 1 << (p & 63) }
func (s *portSet) has(p uint16) bool { return s.bits[p>>6]&(1<<(p&63)) != 0 }
