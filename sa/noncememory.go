package sa

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
)

// fingerprint tells keys apart without keeping them: the first 16 octets of
// HMAC-SHA256 over key and salt under a random key of this process.
type fingerprint [16]byte

// nonceMemory remembers, for as long as the process runs, which nonces were or
// may be used under each key: a key's SAs must never share one (RFC 4106,
// section 3.1), deleted ones included. It never forgets within a run; an entry
// is some 100 octets. With Options.Durable it begins with what earlier runs did.
type nonceMemory struct {
	secret  [32]byte
	durable bool
	entries map[nonceKey]*nonceEntry
}

// nonceKey finds the entries whose IVs may overlap at all: those of one key
// whose constants agree in the upper 16 bits.
type nonceKey struct {
	print fingerprint
	high  uint16
}

// nonceEntry is one SA identity under one key.
type nonceEntry struct {
	mask     uint64
	src, dst Addr
	spi      uint32
	v6, esn  bool
	live     bool   // an SA of the DB has it
	highest  uint64 // last sequence number sent, as far as owner does not know better
	accepted uint64 // highest accepted, likewise; kept with Options.Durable only
	owner    *live  // may still send or receive under it
	next     *nonceEntry
}

func newNonceMemory() nonceMemory {
	m := nonceMemory{entries: map[nonceKey]*nonceEntry{}}
	_, _ = rand.Read(m.secret[:]) // never fails (crypto/rand)
	return m
}

// recall takes in what earlier runs left.
func (m *nonceMemory) recall(d *Durable) {
	m.secret, m.durable = d.Secret, true
	for p := range d.Past {
		key := nonceKey{p.Print, uint16(p.Mask >> 48)}
		past := &nonceEntry{
			mask: p.Mask, src: p.Src, dst: p.Dst, spi: p.SPI, v6: p.V6, esn: p.ESN,
			highest: p.Reserved, accepted: p.Highest, next: m.entries[key],
		}
		// With ESN and without it is one identity here: the IVs are the same.
		for e := m.entries[key]; e != nil; e = e.next {
			if e.same(past) {
				e.esn = e.esn || past.esn
				e.highest = max(e.highest, past.highest)
				e.accepted = max(e.accepted, past.accepted)
				past = nil
				break
			}
		}
		if past != nil {
			m.entries[key] = past
		}
	}
}

func (m *nonceMemory) fingerprint(k Key) (f fingerprint) {
	h := hmac.New(sha256.New, m.secret[:])
	h.Write(k.Bytes())
	copy(f[:], h.Sum(nil))
	return f
}

// admit finds or makes the entry of an SA with these settings. The IVs of an SA
// are its constant with the low 32 bits (outbound ESN: 48) replaced, so two
// constants must differ above that.
func (m *nonceMemory) admit(p *Params, print fingerprint, mask uint64) (e *nonceEntry, undo func(), err error) {
	key := nonceKey{print, uint16(mask >> 48)}
	id := nonceEntry{
		mask: mask, src: AddrFrom(p.Src), dst: AddrFrom(p.Dst), spi: p.SPI,
		v6: p.Dst.Is6(), esn: p.Flags&FlagESN != 0,
	}
	var own *nonceEntry
	for e := m.entries[key]; e != nil; e = e.next {
		if e.same(&id) {
			own = e
			continue
		}
		if id.esn || e.esn || e.mask>>32 == mask>>32 {
			return nil, nil, fmt.Errorf("%w: SPI 0x%08x (%s); take another SPI or, better, another key",
				ErrNonceOverlap, e.spi, map[bool]string{true: "in use", false: "deleted"}[e.live])
		}
	}
	if own != nil {
		before := *own
		own.esn = own.esn || id.esn
		own.live = true
		return own, func() { own.esn, own.live = before.esn, before.live }, nil
	}
	e = &id
	e.live = true
	e.next = m.entries[key]
	m.entries[key] = e
	return e, func() { m.drop(key, e) }, nil
}

func (m *nonceMemory) drop(key nonceKey, e *nonceEntry) {
	if m.entries[key] == e {
		if m.entries[key] = e.next; e.next == nil {
			delete(m.entries, key)
		}
		return
	}
	for p := m.entries[key]; p != nil; p = p.next {
		if p.next == e {
			p.next = e.next
			return
		}
	}
}

func (e *nonceEntry) same(o *nonceEntry) bool {
	return e.spi == o.spi && e.src == o.src && e.dst == o.dst && e.v6 == o.v6
}

// sent is the highest sequence number known to have been sent.
func (e *nonceEntry) sent() uint64 {
	if e.owner != nil {
		return max(e.highest, e.owner.lastSent())
	}
	return e.highest
}

// takeOver ends sending by the entry's owner, if that is not l, and makes l the
// owner: it sends above start and everything sent before.
//
// With numbers that are kept, it also goes on above everything accepted before:
// an SA that is deleted and added again is not open to replays.
func (e *nonceEntry) takeOver(l *live, start uint64) {
	if e.owner == l {
		return
	}
	e.endOwner()
	e.owner = l
	if l.kept != nil && e.accepted > 0 && l.top.Load() <= e.accepted {
		l.top.Store(e.accepted)
		l.window.Store(nil) // fitWindow makes one that has received all below
		l.resumed = true
	}
	resume := max(start, e.highest)
	if l.kept != nil && l.ceiling.Load() < resume {
		l.ceiling.Store(resume) // so that LastSent never tells less
	}
	l.sequence.Store(resume)
}

// giveUp notes what l sent and accepted, which does neither any more.
func (e *nonceEntry) giveUp(l *live) {
	if e.owner == l {
		e.endOwner()
	}
}

func (e *nonceEntry) endOwner() {
	if l := e.owner; l != nil {
		e.highest = max(e.highest, l.close())
		if l.kept != nil {
			e.accepted = max(e.accepted, l.top.Load())
		}
		e.owner = nil
	}
}
