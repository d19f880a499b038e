package silicon_test

import (
	"encoding/binary"
	"slices"

	"espgw/pmd/silicon"
)

type deeds = map[string]deed

func init() {
	add := func(b silicon.Breach, is, isNot deeds) {
		breaches[b] = struct{ is, isNot map[string]deed }{is, isNot}
	}
	add(silicon.BreachClear, deeds{
		"lookups are off": func(r *rig, q *txRing) { r.put(ipsTxIdx, 0); r.settle(); sends()(r, q) },
		"engine is off":   func(r *rig, q *txRing) { r.put(secTxCtrl, 5); r.settle(); sends()(r, q) },
	}, deeds{"both are on": sends()})
	add(silicon.BreachNoSA, deeds{
		"never programmed": sends(func(p *packet) { p.context.sa = 2 }),
		"emptied": func(r *rig, q *txRing) {
			r.txSA(2, saOf(2))
			r.txSA(2, sa{})
			sends(func(p *packet) { p.context.sa = 2 })(r, q)
		},
	}, deeds{
		"programmed":     sendsBy(saOf(2)),
		"without a salt": sendsBy(sa{key: [16]byte{15: 1}}),
		"a key of zeros": sendsBy(sa{salt: [4]byte{3: 1}}),
	})
	add(silicon.BreachAliased, deeds{"another SPI": twice(func(e *esp) { e.sa.spi++; e.iv++ })},
		deeds{"the same": twice(func(e *esp) { e.seq++; e.iv++ })})
	add(silicon.BreachIV, deeds{
		"the same": twice(func(e *esp) { e.seq++ }),
		"of an SA that sealed 200 others": func(r *rig, q *txRing) {
			for i := range 201 {
				q.send(esp{sa: saOf(1), seq: uint32(i), iv: uint64(i%200) << 40, payload: counting(9)}.asks("IPv4", 1))
			}
		},
	}, deeds{
		"another": twice(func(e *esp) { e.iv++ }),
		"the same with a new key": func(r *rig, q *txRing) {
			sends()(r, q)
			r.txSA(1, saOf(2))
			sends()(r, q)
		},
	})
	add(silicon.BreachNoContext, deeds{"none": sends(func(p *packet) { p.context = nil })},
		deeds{"index 1": sends(func(p *packet) { p.context.idx = 1; p.options |= idx(1) })})
	add(silicon.BreachNotESP, deeds{
		"UDP":              sends(func(p *packet) { p.frame[23] = 17 }),
		"AH":               sends(func(p *packet) { p.frame[23] = 51 }),
		"a first fragment": sends(func(p *packet) { p.frame[20] = 0x20 }),
		"a later fragment": sends(func(p *packet) { p.frame[21] = 1 }),
		"options":          sends(func(p *packet) { p.frame[14] = 0x46 }),
		"a next header":    sends6(func(p *packet) { p.frame[20] = 60 }),
	}, deeds{"don't fragment": sends(func(p *packet) { p.frame[20] = 0x40 }), "IPv6": sends6()})
	add(silicon.BreachFraming, deeds{
		"IPv4's total length":   sends(func(p *packet) { addTo(p.frame[16:], 1) }),
		"IPv6's payload length": sends6(func(p *packet) { addTo(p.frame[18:], -4) }),
		"PAYLEN":                sends(func(p *packet) { p.payLen = len(p.frame) - 1 }),
		"no room for a trailer": sends(func(p *packet) { p.frame = p.frame[:34+8+8+17] }),
	}, deeds{"the least": sends(func(p *packet) { *p = esp{sa: saOf(1), next: 59}.asks("IPv4", 1) })})
	add(silicon.BreachICV, deeds{
		"first": sends(func(p *packet) { p.frame[len(p.frame)-16] = 1 }),
		"last":  sends(func(p *packet) { p.frame[len(p.frame)-1] = 1 }),
	}, deeds{"the octet in front": sends(func(p *packet) { p.frame[len(p.frame)-17] = 41 })})
	add(silicon.BreachESPLength, deeds{
		"one less": sends(func(p *packet) { p.context.espLen-- }),
		"none":     sends(func(p *packet) { p.context.espLen = 0 }),
	}, deeds{"18 and the padding": sends(func(p *packet) {
		*p = esp{sa: saOf(1), payload: counting(9), padding: 248}.asks("IPv4", 1)
	})})
	add(silicon.BreachPadding, deeds{
		"zeros": sends(func(p *packet) { clear(p.frame[len(p.frame)-18-2:][:2]) }),
		"longer than the packet": sends(func(p *packet) {
			p.frame[len(p.frame)-18] = 200
			p.context.espLen = 218
		}),
		"not of 4": sends(func(p *packet) {
			p.frame = slices.Insert(p.frame, 60, 0)
			addTo(p.frame[16:], 1)
		}),
	}, deeds{"1, 2, 3": sends(func(p *packet) { *p = esp{sa: saOf(1), payload: counting(7)}.asks("IPv4", 1) })})
	add(silicon.BreachVersion, deeds{
		"IPv4 said to be IPv6": sends(func(p *packet) { p.context.v6, p.context.ipLen = true, 20 }),
		"IPv6 said to be IPv4": sends6(func(p *packet) { p.context.v6, p.context.ipLen = false, 40 }),
	}, deeds{"IPv4": sends(), "IPv6": sends6()})
	add(silicon.BreachHeaders, deeds{
		"IPLEN": sends(func(p *packet) { p.context.ipLen = 28 }),
		"MACLEN with a tag that is none": sends(func(p *packet) {
			*p = esp{sa: saOf(1)}.asks("IPv4", 1, 7)
			p.frame[12], p.frame[13] = 0x91, 0x00
		}),
		"MACLEN beyond the packet": sends(func(p *packet) {
			*p = esp{sa: saOf(1)}.asks("IPv4", 1)
			p.context.macLen = len(p.frame) - 19
		}),
	}, deeds{
		"IPLEN with ESP": sends(func(p *packet) { p.context.ipLen = 36 }),
		"a tag":          sends(func(p *packet) { *p = esp{sa: saOf(1)}.asks("IPv4", 1, 7) }),
	})
	add(silicon.BreachOffloads, deeds{
		"L4 checksum": sends(func(p *packet) { p.options |= txTXSM; p.context.l4, p.context.ipLen = 0, 36 }),
		"segmentation": sends(func(p *packet) {
			p.options |= txTSE
			p.context.l4, p.context.ipLen, p.context.l4Len, p.context.mss = 1, 36, 20, 10
			p.payLen = len(p.frame) - 14 - 36 - 20
		}),
	}, deeds{"IPv4's checksum": sends(func(p *packet) { p.options |= txIXSM })})
	add(silicon.BreachMode, deeds{
		"AH":      sends(func(p *packet) { p.context.ah = true }),
		"no key":  sends(func(p *packet) { p.context.clear = true }),
		"neither": sends(func(p *packet) { p.context.ah, p.context.clear = true, true }),
	}, deeds{"ESP, encrypted": sends()})
}

// sends is to send one packet of SA 1 that the card cannot object to, but for a change.
func sends(change ...func(*packet)) deed { return sendsOf("IPv4", change) }

// sendsBy is to program entry 2 and to send a packet by it.
func sendsBy(s sa) deed {
	return func(r *rig, q *txRing) {
		r.txSA(2, s)
		sends(func(p *packet) { p.context.sa = 2 })(r, q)
	}
}

func sends6(change ...func(*packet)) deed { return sendsOf("IPv6", change) }

func sendsOf(version string, change []func(*packet)) deed {
	return func(_ *rig, q *txRing) {
		p := esp{sa: saOf(1), seq: 1, iv: 1, payload: counting(80), next: 4, padding: 0}.asks(version, 1)
		for _, f := range change {
			f(&p)
		}
		q.send(p)
	}
}

// twice is to send a packet, and then another.
func twice(change func(*esp)) deed {
	return func(_ *rig, q *txRing) {
		e := esp{sa: saOf(1), seq: 1, iv: 1, payload: counting(80), next: 4}
		q.send(e.asks("IPv4", 1))
		change(&e)
		q.send(e.asks("IPv4", 1))
	}
}

// addTo changes a 16-bit field.
func addTo(field []byte, n int) {
	binary.BigEndian.PutUint16(field, uint16(int(binary.BigEndian.Uint16(field))+n))
}
