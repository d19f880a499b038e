package ipsec

import (
	"sync/atomic"

	"espgw/pmd"
)

// place says where the packets of an SA are processed. That may change while they
// flow: an SA goes to a device when a slot there is free, and comes back to software
// when the device cannot have it any more. SAs that go on with each other's live
// state share it.
type place struct {
	// inline is the device's session; nil: software. Workers load it once per run.
	inline atomic.Pointer[inlineSession]
	// marks is 1 + the number of the port whose marks on received packets are
	// believed; 0: none are. It is set before the device has the SA and stays when it
	// has it no more, because packets that it opened may still be on their way.
	marks atomic.Int32
	// choice is what listings say about it.
	choice atomic.Pointer[engineChoice]
	// serial is what tells packets of this SA from those of another that had its slot.
	serial uint32
	// gap counts the sequence numbers that were skipped because a device's window is
	// not known.
	gap atomic.Uint64
	// seen is how many packets the SA had when its device last looked who is busy.
	seen uint64
}

// engineChoice is the engine of an SA and why it is this one.
type engineChoice struct{ engine, reason string }

// EngineInline is the name of the engine that is a device: it works while packets
// are sent and received.
const EngineInline = "inline"

// placesMade numbers places.
var placesMade atomic.Uint32

func newPlace(reason string) *place {
	p := &place{serial: placesMade.Add(1)}
	p.software(reason)
	return p
}

// software says that the Go engine has the SA, and why.
func (p *place) software(reason string) {
	p.inline.Store(nil)
	p.choice.Store(&engineChoice{EngineGo, reason})
}

// device says that a session of a device has it.
func (p *place) device(is *inlineSession, reason string) {
	p.choice.Store(&engineChoice{EngineInline, reason})
	p.inline.Store(is)
}

// inlineSession is an SA in a device.
type inlineSession struct {
	port *port
	hw   *pmd.SecuritySession
	// protocol says that the device does all of ESP (INLINE_PROTOCOL); see
	// inlineprotocol.go.
	protocol bool
	end      atomic.Uint64 // egress: the last sequence number that it may use
	base     uint64        // the number that it began after
	accepted atomic.Uint64 // ingress: packets of it that were accepted
	// counters are what the device counted, a second ago at most; nil: not read yet, or
	// it does not count.
	counters atomic.Pointer[pmd.SessionStats]
	session  *session // whose it is; guarded by the port's inline.mu
	egress   bool
	key      inlineKey
	// What the device leaves to software, packet by packet.
	noTagged, noOptions, noExtensions bool
	ipChecksum                        bool // the device fills in IPv4's header checksum
}

// egressOn returns the session in which packets that leave by p are sealed by the
// device now; nil: software seals them. With INLINE_PROTOCOL software never does:
// then it is ok or not.
func (s *session) egressOn(p *port) (is *inlineSession, ok bool) {
	is = s.place.inline.Load()
	switch {
	case is == nil:
		return nil, true
	case is.protocol:
		return is, is.egress && is.port == p
	case !is.egress || is.port != p || !p.inline.sending.Load():
		return nil, true
	}
	return is, true
}
