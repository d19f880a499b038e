package ipsec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"espgw/pmd"
	"espgw/sa"
)

// inlineLoop removes and promotes SAs in devices until the gateway stops.
func (g *Gateway) inlineLoop() {
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for {
		select {
		case <-g.quit:
			return
		case <-g.inlineWork:
		case <-tick.C:
		}
		for _, p := range g.ports {
			if p.inline == nil {
				continue
			}
			g.watchEvents(p)
			if err := p.inline.remove(); err != nil {
				// Without lookups nothing may be sent inline; software goes on.
				g.log.Error("the device lost its SAs: its traffic is sealed in software", "port", p.Name, "error", err)
			}
			p.inline.extend()
			p.inline.readCounters()
			p.inline.promote()
		}
	}
}

// wakeInline has the loop look now.
func (g *Gateway) wakeInline() {
	select {
	case g.inlineWork <- struct{}{}:
	default:
	}
}

// promote gives places that are free to SAs that wait, busiest first.
func (ip *inlinePort) promote() {
	said, more := 0, 0
	for _, s := range ip.candidates() {
		ip.mu.Lock()
		w, waits := ip.waiting[s]
		var r *refused
		if waits {
			r = ip.installLocked(s, w.wish)
		}
		ip.unlock()
		switch {
		case !waits:
		case r == nil && said == maxFallbacks:
			more++
		case r == nil:
			said++
			ip.gateway.log.Info("SA moved to hardware", "sa", s.sa.String(), "engine", EngineInline, "port", ip.port.Name)
		default:
			s.place.software(r.reason)
		}
	}
	if more > 0 {
		ip.gateway.log.Info("and other SAs, too", "number", more, "engine", EngineInline, "port", ip.port.Name)
	}
}

// candidates are the SAs that wait, those first that have carried most since the
// last look. There are none while the device is stopped or nothing is free.
func (ip *inlinePort) candidates() []*session {
	ip.mu.Lock()
	defer ip.unlock()
	ip.cooled(inlineKey{}) // those that have, are forgotten
	if ip.stopped || len(ip.waiting) == 0 {
		return nil
	}
	var free [2]bool
	for i := range ip.tables {
		free[i] = ip.tables[i].used() < ip.tables[i].limit
	}
	if !free[tableEgress] && !free[tableIngress] {
		return nil
	}
	now := time.Now()
	list := make([]*session, 0, len(ip.waiting))
	for s, w := range ip.waiting {
		dir := s.sa.Dir()
		known := dir == sa.DirOut || dir == sa.DirIn
		if known && free[tableOf(dir == sa.DirOut)] && now.After(w.after) {
			list = append(list, s)
		}
	}
	busy := make(map[*session]uint64, len(list))
	for _, s := range list {
		n := s.sa.Packets()
		busy[s] = n - s.place.seen
		s.place.seen = n
	}
	slices.SortFunc(list, func(a, b *session) int {
		return cmp.Or(cmp.Compare(busy[b], busy[a]), cmp.Compare(a.sa.Slot(), b.sa.Slot()))
	})
	return list[:min(len(list), maxPromotions)]
}

// maxPromotions bounds the work of one look.
const maxPromotions = 256

// watchEvents deals with what a device says of itself.
func (g *Gateway) watchEvents(p *port) {
	events, _ := p.Port.Events()
	for _, e := range events {
		switch e.Kind {
		case pmd.EventSASoft: // more numbers are due: that is done in any case
		case pmd.EventSAHard, pmd.EventSequence:
			name := "one that is gone"
			if s := g.sessionOf(e.UserData); s != nil {
				name = s.sa.String()
			}
			g.log.Warn("the device carries no more packets of an SA: it has used its sequence numbers", "port", p.Name, "sa", name)
		case pmd.EventReset:
			g.log.Warn("the device asks for a reset", "port", p.Name)
			if err := g.ResetPort(strconv.Itoa(p.id())); err != nil {
				g.log.Error("reset a port", "port", p.Name, "error", err)
			}
		case pmd.EventRemoved:
			g.log.Error("the device is gone", "port", p.Name)
			g.abandonPort(p)
		}
	}
}

// portFor finds the unprotected port whose device an SA wishes; nil and why if there
// is none.
func (g *Gateway) portFor(wish inlineWish) (*port, string) {
	if wish.dev != "" {
		for _, p := range g.ports {
			if p.side == Unprotected && p.Name == wish.dev {
				if p.inline == nil {
					return nil, "port " + p.Name + ": " + p.whyNotInline
				}
				return p, ""
			}
		}
		return nil, "no unprotected port is named " + wish.dev
	}
	var found *port
	why := "no unprotected port has inline IPsec"
	for _, p := range g.ports {
		switch {
		case p.side != Unprotected:
		case p.inline == nil:
			why = "port " + p.Name + ": " + p.whyNotInline
		case found != nil:
			return nil, "several unprotected ports have inline IPsec: say which with offload dev NAME"
		default:
			found = p
		}
	}
	if found == nil {
		return nil, why
	}
	return found, ""
}

// placeInline gives a new session a place in a device, where the SA wishes that; on
// --offload require, and where only devices are to be used, a refusal is an error.
func (g *Gateway) placeInline(s *session, sharesKey bool) error {
	wish, ok := g.wishesInline(s.sa)
	wish.sharesKey = sharesKey
	if !ok {
		if g.config.InlineOnly {
			return refusalError(s.sa, "it does not say offload, and only inline engines are to be used")
		}
		if s.sa.Params().Offload != nil {
			s.place.software("offload asked for, but --offload off")
		}
		return nil
	}
	p, why := g.portFor(wish)
	if p != nil {
		r := p.inline.install(s, wish)
		if r != nil && wish.packet && g.config.Offload != OffloadRequire {
			r = p.inline.installInstead(s, wish, r)
		}
		if r == nil {
			return nil
		}
		why = r.reason
	}
	if g.config.InlineOnly || wish.asked && g.config.Offload == OffloadRequire {
		if p != nil {
			p.inline.forget(s)
		}
		return refusalError(s.sa, why)
	}
	s.place.software(why)
	return nil
}

// unplace takes a session that is not used any more out of its device.
func (g *Gateway) unplace(s *session) {
	for _, p := range g.ports {
		if p.inline != nil {
			p.inline.forget(s)
		}
	}
	if is := s.place.inline.Swap(nil); is != nil {
		is.back()
		is.port.inline.drop(is)
	}
}

// replaceTurned takes SAs whose direction has changed out of a device that has them
// the other way, and lets them wait for a new place.
func (ip *inlinePort) replaceTurned() {
	ip.mu.Lock()
	var turned []*inlineSession
	for i := range ip.tables {
		for _, is := range ip.tables[i].sessions {
			if is.session.place.inline.Load() == is && is.egress != (is.session.sa.Dir() == sa.DirOut) {
				turned = append(turned, is)
			}
		}
	}
	ip.unlock()
	for _, is := range turned {
		s := is.session
		is.back()
		s.place.software("its direction has changed")
		wish, ok := ip.gateway.wishesInline(s.sa)
		ip.mu.Lock()
		if ok {
			ip.waiting[s] = &waiter{wish: wish}
		}
		ip.unlock()
		ip.drop(is)
	}
}

// ErrNotOffloaded says that an SA has to be in a device and cannot be there.
var ErrNotOffloaded = errors.New("the SA cannot be offloaded")

func refusalError(s *sa.SA, why string) error {
	return fmt.Errorf("SA %v: %w: %s", s, ErrNotOffloaded, why)
}
