package pmd

// #include "security.h"
// #include "shim.h"
// #include "standin.h"
import "C"

import "fmt"

// EventKind is what happened to a device.
type EventKind uint8

// The kinds (enum rte_eth_event_type and rte_eth_event_ipsec_subtype,
// rte_ethdev.h).
const (
	EventSASoft   EventKind = C.PMD_EVENT_SA_SOFT  // a session reached a soft limit
	EventSAHard   EventKind = C.PMD_EVENT_SA_HARD  // a session reached a hard limit
	EventSequence EventKind = C.PMD_EVENT_SEQUENCE // a session has used up its sequence numbers
	EventReset    EventKind = C.PMD_EVENT_RESET    // the device stands still until Reset
	EventRemoved  EventKind = C.PMD_EVENT_REMOVED  // the device is gone
)

// Event is something that happened to a device. UserData is that of the session,
// for events about one.
type Event struct {
	Kind     EventKind
	UserData uint64
}

// Watch makes the port keep events until Events takes them. It may be called twice.
func (p *Port) Watch() error {
	p.life.RLock()
	defer p.life.RUnlock()
	if err := p.usable(); err != nil {
		return fmt.Errorf("watching port %s: %w", p, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.events != nil {
		return nil
	}
	if p.events = C.pmd_events_new(C.uint16_t(p.id), p.standIn); p.events == nil {
		return fmt.Errorf("watching port %s: %w", p, errNoMemory)
	}
	return nil
}

// Events takes what has happened since the last call. lost counts, since Watch,
// the events that found no room: then ask the device itself.
func (p *Port) Events() (list []Event, lost uint64) {
	p.life.RLock()
	defer p.life.RUnlock()
	if p.usable() != nil {
		return nil, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.events == nil {
		return nil, 0
	}
	var c [C.PMD_EVENTS_MAX]C.struct_pmd_event
	var missed C.uint64_t
	n := int(C.pmd_events_take(p.events, &c[0], C.PMD_EVENTS_MAX, &missed))
	for _, e := range c[:n] {
		list = append(list, Event{Kind: EventKind(e.kind), UserData: uint64(e.user_data)})
	}
	return list, uint64(missed)
}

// unwatch is a step of Close, under its lock.
func (p *Port) unwatch() {
	if p.events != nil {
		C.pmd_events_free(p.events, C.uint16_t(p.id), p.standIn)
		p.events = nil
	}
}
