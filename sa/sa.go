package sa

import (
	"sync/atomic"
	"time"
)

// SA is a live security association: its settings, and what the packet path
// counts. All methods are for concurrent use, take no lock and do not allocate.
//
// What a lookup compares comes first and does not change, so it stays in every
// core's cache; what changes with packets is in live. An update that keeps the
// sequence numbers makes a new SA over the same live.
type SA struct {
	src, dst Addr
	spi      uint32
	reqID    uint32
	slot     uint32
	flags    saFlags
	dir      atomic.Uint32
	ivMask   uint64

	sel    *matcher // nil: the SA's own addresses
	live   *live
	status *atomic.Uint32
	params atomic.Pointer[Params]
	order  uint64 // larger is newer

	writer writerState // the DB's own, under its lock
}

type saFlags uint32

const (
	saV6 saFlags = 1 << iota
	saESN
	saEncap
)

// Params returns the settings. They do not change; an update of limits replaces
// them by others. The key in them is wiped once the SA is released.
func (s *SA) Params() *Params { return s.params.Load() }

// Source returns the source address.
func (s *SA) Source() Addr { return s.src }

// ID returns destination, protocol and SPI.
func (s *SA) ID() ID { return s.params.Load().ID }

// SPI returns the SPI in host order.
func (s *SA) SPI() uint32 { return s.spi }

// Slot is a dense index for what others keep about the SA: below DB.Slots, the
// lowest that is free, unique among the SAs that were added and not yet
// released.
func (s *SA) Slot() uint32 { return s.slot }

// Dir is the one direction in which the SA is used. Only DirOut sends; DirIn
// and DirNone open; DirAmbiguous does neither. It changes when policies do.
func (s *SA) Dir() Direction { return Direction(s.dir.Load()) }

// ESN reports whether sequence numbers have 64 bits (RFC 4303, 2.2.1).
func (s *SA) ESN() bool { return s.flags&saESN != 0 }

// V6 reports whether the SA's addresses are IPv6 addresses.
func (s *SA) V6() bool { return s.flags&saV6 != 0 }

// Encap reports whether ESP is in UDP (RFC 3948).
func (s *SA) Encap() bool { return s.flags&saEncap != 0 }

// IVMask is the constant that IVs are made with: see the function IVMask.
func (s *SA) IVMask() uint64 { return s.ivMask }

// Continues reports whether s goes on with the key, the sequence numbers and the
// window of old, in whose place an update has put it.
func (s *SA) Continues(old *SA) bool { return s.live == old.live }

// Limited reports whether a byte or packet limit is set. Runs of such an SA are
// reserved packet by packet, so that limits are exact.
func (s *SA) Limited() bool { return s.live.limits.Load() != nil }

// Window is the anti-replay window in packets; 0 is none.
func (s *SA) Window() uint32 {
	if w := s.live.window.Load(); w != nil {
		return uint32(w.size)
	}
	return 0
}

// Packets counts packets sent, or authenticated and accepted.
func (s *SA) Packets() uint64 { return s.live.packets.Load() }

// Bytes counts the IP bytes of those packets, before sealing and after opening.
func (s *SA) Bytes() uint64 { return s.live.bytes.Load() }

// LastSequence is the last sequence number sent if the SA sends, else the
// highest accepted.
func (s *SA) LastSequence() uint64 {
	if s.Dir() == DirOut {
		return s.LastSent()
	}
	return s.Highest()
}

// LastSent is the last sequence number sent (`oseq`).
func (s *SA) LastSent() uint64 { return s.live.lastSent() }

// Highest is the highest sequence number accepted (`seq`).
func (s *SA) Highest() uint64 { return s.live.top.Load() }

// Received reports whether seq lies in the window and was accepted; without a
// window it is always false.
func (s *SA) Received(seq uint64) bool {
	w := s.live.window.Load()
	return w != nil && w.received(seq, s.live.top.Load())
}

// Added is when the SA was added.
func (s *SA) Added() time.Time { return s.live.added }

// FirstUse is when the SA carried its first packet; zero before.
func (s *SA) FirstUse() time.Time { return unixTime(s.live.firstUse.Load()) }

// LastUse is when the SA carried its last packet, to the second; zero before
// the first.
func (s *SA) LastUse() time.Time { return unixTime(s.live.lastUse.Load()) }

func unixTime(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// Dying reports whether a soft limit was reached. The SA is still used where no
// other is.
func (s *SA) Dying() bool { return s.live.state.Load() == stateDying }

// Expired reports whether a hard limit was reached. The SA is not used any
// more; it stays in lookups so that its packets can be counted as expired.
func (s *SA) Expired() bool { return s.live.state.Load() == stateExpired }

// LifeState says how far an SA's lifetime has gone.
type LifeState uint8

// The states of an SA.
const (
	Usable       LifeState = iota
	Dying                  // a soft limit was reached
	ExpiredState           // a hard limit was reached
)

// String names the state.
func (s LifeState) String() string { return name(s, "usable", "dying", "expired") }

// State says how far the SA's lifetime has gone.
func (s *SA) State() LifeState { return LifeState(s.live.state.Load()) }
