package ipsec

import (
	"time"

	"espgw/sa"
)

// watchPeriod is how often link states and lifetimes are looked at.
const watchPeriod = 100 * time.Millisecond

// watchLoop follows links and lifetimes until the gateway stops.
func (g *Gateway) watchLoop() {
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	aged := time.Now()
	for {
		select {
		case <-g.quit:
			return
		case now := <-tick.C:
			g.watchLinks()
			g.watchPathMTUs()
			g.watchLifetimes(now)
			if now.Sub(aged) >= believedTime {
				g.agePathMTUs()
				aged = now
			}
		}
	}
}

func (g *Gateway) watchLinks() {
	for _, p := range g.ports {
		if p.refreshLink() {
			g.log.Info("link changed", "port", p.id(), "name", p.Name, "up", p.up.Load())
		}
	}
}

// watchPathMTUs logs the path MTUs that workers have learnt.
func (g *Gateway) watchPathMTUs() {
	if !g.pathMTUNews.Swap(false) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	said, more := 0, 0
	for i := range g.sessions {
		s := g.sessions[i].Load()
		if s == nil || !s.pathMTU.news.Swap(false) {
			continue
		}
		if said == maxFallbacks {
			more++
			continue
		}
		said++
		inner, path := g.mtuOf(s)
		g.log.Info("path MTU learnt from an ICMP error", "sa", s.sa.String(), "path_mtu", path, "mtu", inner)
	}
	if more > 0 {
		g.log.Info("and path MTUs of other SAs", "number", more)
	}
}

// watchLifetimes reports what happened to SAs, and wipes the keys of those that
// have reached a hard limit. They stay in the tables, so that their packets are
// counted as expired.
func (g *Gateway) watchLifetimes(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var expired []*sa.SA
	for _, e := range g.config.DB.Tick(now) {
		g.log.Warn(e.Text, "event", e.Kind.String())
		if e.Kind == sa.EventHard {
			expired = append(expired, e.SA)
		}
	}
	if len(expired) == 0 {
		return
	}
	for _, s := range expired {
		if old := g.session(s); old != nil {
			g.unplace(old)
			g.sessions[s.Slot()].Store(old.withoutKey())
		}
	}
	g.waitQuiet()
	g.config.DB.Release(expired)
}
