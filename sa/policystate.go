package sa

import (
	"sync/atomic"
	"time"
)

// PolicyState is a live policy: its settings and what it counted. All methods
// are for concurrent use.
type PolicyState struct {
	match  matcher
	policy *Policy
	tmpl   *Template // nil: none
	order  uint64    // age; larger is newer
	index  uint32

	added   time.Time
	packets atomic.Uint64
	lastUse atomic.Int64

	acquire acquireState
}

// Policy returns the settings; Index is the one given by the DB.
func (p *PolicyState) Policy() *Policy { return p.policy }

// Index is the number by which `ip xfrm policy` knows the policy.
func (p *PolicyState) Index() uint32 { return p.index }

// Add counts n packets that the policy decided about at now (Unix nanoseconds).
func (p *PolicyState) Add(n uint64, now int64) {
	p.packets.Add(n)
	if now-p.lastUse.Load() >= second {
		p.lastUse.Store(now)
	}
}

// Packets counts the packets that the policy decided about.
func (p *PolicyState) Packets() uint64 { return p.packets.Load() }

// Added is when the policy was added.
func (p *PolicyState) Added() time.Time { return p.added }

// LastUse is when the policy decided about a packet, to the second; zero before.
func (p *PolicyState) LastUse() time.Time { return unixTime(p.lastUse.Load()) }

// protects says that the policy demands ESP.
func (p *PolicyState) protects() bool { return p.entry().rule == ruleRequire }

// rule is what a policy does.
type rule uint8

const (
	rulePass    rule = iota // allow without template
	ruleBlock               // block
	ruleRequire             // level required
	ruleUse                 // level use
)

// policyEntry is what a lookup needs of a policy, in the classifier's array.
type policyEntry struct {
	state *PolicyState
	reqID uint32 // of the template
	spi   uint32 // of the template, 0 for any
	rule  rule
}

func (p *PolicyState) entry() policyEntry {
	e := policyEntry{state: p}
	switch {
	case p.policy.Action == ActionBlock:
		e.rule = ruleBlock
	case p.tmpl != nil:
		e.reqID, e.spi, e.rule = p.tmpl.ReqID, p.tmpl.SPI, ruleRequire
		if p.tmpl.Level == LevelUse {
			e.rule = ruleUse
		}
	}
	return e
}

// before says whether p is looked at before o: the smaller priority, then age.
func (p *PolicyState) before(o *PolicyState) bool {
	if p.policy.Priority != o.policy.Priority {
		return p.policy.Priority < o.policy.Priority
	}
	return p.order < o.order
}

// acquireState lets one packet that found no SA leave its flow for an event.
type acquireState struct {
	raised atomic.Bool // until the DB has reported it and some time has passed
	events *acquireStack
	next   *PolicyState
	flow   Flow
}

type acquireStack struct{ head atomic.Pointer[PolicyState] }

// wantSA notes that f found no SA under p. It costs a load when that is noted.
func (p *PolicyState) wantSA(f *Flow) {
	a := &p.acquire
	if a.raised.Load() || a.events == nil || !a.raised.CompareAndSwap(false, true) {
		return
	}
	a.flow = *f
	for {
		head := a.events.head.Load()
		a.next = head
		if a.events.head.CompareAndSwap(head, p) {
			return
		}
	}
}
