package ipsec

import (
	"fmt"

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
	carried, err := g.openSessions(next, tx.SharesKey)
	if err != nil {
		return err
	}
	for _, p := range g.ports {
		if p.inline != nil {
			p.inline.partKeys(tx.SharesKey)
		}
	}
	ports := g.generation.Load().encapPorts
	if g.countEncaps(next) {
		ports = newPortSet(g.encaps)
	}
	if k := g.config.Keeper; k != nil {
		k.Admit(next)
	}
	if err := tx.Commit(); err != nil {
		g.closeNew(next.Added, carried)
		return err
	}
	g.generation.Store(&generation{table: next.Table, encapPorts: ports})
	g.waitQuiet()
	for _, s := range next.Removed {
		old := g.sessions[s.Slot()].Swap(nil)
		if old != nil && !carried[old.place] {
			g.unplace(old)
		}
	}
	for _, p := range g.ports {
		if p.inline != nil {
			p.inline.adopt(next.Added)
			p.inline.replaceTurned()
		}
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
		choice := g.session(s).place.choice.Load()
		if s.Params().Offload == nil || choice.engine == EngineInline {
			continue
		}
		if said == maxFallbacks {
			more++
			continue
		}
		said++
		g.log.Warn(fmt.Sprintf("SA %v is served in software", s), "engine", choice.engine, "why", choice.reason)
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
// where that one was, on the path that it knew. One that goes on with the other's
// key and numbers keeps its place in a device, too: carried lists those places.
// shares says whether an SA's key is another's, too.
func (g *Gateway) openSessions(next *sa.Change, shares func(*sa.SA) bool) (carried map[*place]bool, err error) {
	before := map[sa.ID]*session{}
	for _, s := range next.Removed {
		if old := g.session(s); old != nil {
			before[s.ID()] = old
		}
	}
	carried = map[*place]bool{}
	for i, s := range next.Added {
		session, err := openSession(s)
		if err == nil {
			old := before[s.ID()]
			if old != nil {
				session.errors, session.pathMTU = old.errors, old.pathMTU
			}
			if old != nil && s.Continues(old.sa) && sameOffload(s.Params().Offload, old.sa.Params().Offload) {
				session.place = old.place
				carried[old.place] = true
			} else {
				err = g.placeInline(session, shares(s))
			}
		}
		if err != nil {
			g.closeNew(next.Added[:i], carried)
			return nil, err
		}
		g.sessions[s.Slot()].Store(session)
	}
	return carried, nil
}

// closeNew undoes openSessions.
func (g *Gateway) closeNew(added []*sa.SA, carried map[*place]bool) {
	for _, s := range added {
		session := g.sessions[s.Slot()].Swap(nil)
		if !carried[session.place] {
			g.unplace(session)
		}
	}
}

func sameOffload(a, b *sa.Offload) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// adopt makes added SAs that were carried over the owners of their sessions.
func (ip *inlinePort) adopt(added []*sa.SA) {
	ip.mu.Lock()
	defer ip.unlock()
	owners := map[*place]*session{}
	for _, s := range added {
		session := ip.gateway.session(s)
		owners[session.place] = session
	}
	for i := range ip.tables {
		for _, is := range ip.tables[i].sessions {
			if s := owners[is.session.place]; s != nil {
				is.session = s
			}
		}
	}
	for old, w := range ip.waiting {
		if s := owners[old.place]; s != nil && s != old {
			delete(ip.waiting, old)
			ip.waiting[s] = w
		}
	}
	for i, old := range ip.suspended {
		if s := owners[old.place]; s != nil {
			ip.suspended[i] = s
		}
	}
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
