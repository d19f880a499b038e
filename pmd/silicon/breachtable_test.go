package silicon_test

import "espgw/pmd/silicon"

// pending hands descriptors to the card that it has not looked at yet: the next thing that
// a test does happens before the card's next step.
func pending(q *txRing, p packet) {
	q.add(p)
	q.doorbell()
}

func marked() packet { return esp{sa: saOf(1), seq: 1, iv: 1, payload: counting(80)}.asks("IPv4", 1) }

func init() {
	add := func(b silicon.Breach, is, isNot deeds) {
		breaches[b] = struct{ is, isNot map[string]deed }{is, isNot}
	}
	add(silicon.BreachLong, deeds{
		"9,729 octets with CRC": func(_ *rig, q *txRing) { q.send(packet{frame: fromHost(9725)}) },
	}, deeds{"9,728": func(_ *rig, q *txRing) { q.send(packet{frame: fromHost(9724)}) }})
	add(silicon.BreachDescriptor, deeds{
		"legacy":    func(_ *rig, q *txRing) { q.write(memoryBase, 60|txEOP); q.send() },
		"context 2": func(_ *rig, q *txRing) { q.write(context{idx: 2}.words()); q.send() },
	}, deeds{"context 1": func(_ *rig, q *txRing) { q.write(context{idx: 1}.words()); q.send() }})
	add(silicon.BreachDMA, deeds{
		"a buffer at 0 for reception": func(r *rig, _ *txRing) {
			rx := r.rxQueue(0, 64, 2)
			r.mem.setWord(rx.address, 0, 0)
			rx.receive(fromPeer(60))
		},
	}, deeds{"a good one": func(r *rig, _ *txRing) { r.rxQueue(0, 64, 2).receive(fromPeer(60)) }})
	add(silicon.BreachRing, deeds{
		"tail 64 of 64":  func(r *rig, _ *txRing) { r.put(txBlock(0)+ringTail, 64) },
		"of 64,1 octets": func(r *rig, _ *txRing) { r.txQueue(1, 9) },
	}, deeds{
		"tail 0":       func(r *rig, _ *txRing) { r.put(txBlock(0)+ringTail, 0) },
		"the smallest": func(r *rig, _ *txRing) { r.txQueue(1, 8) },
	})
	add(silicon.BreachBusyTable, deeds{
		"the SA is written": func(r *rig, q *txRing) { pending(q, marked()); r.txSA(1, saOf(1)) },
		"the SA that a context in front names": func(r *rig, q *txRing) {
			r.txSA(2, saOf(2))
			q.send(marked()) // the queue's context is of SA 1
			p := esp{sa: saOf(2), iv: 2, payload: counting(80)}.asks("IPv4", 2)
			pending(q, p)
			r.txSA(2, saOf(3))
		},
		"the SA that a kept context names": func(r *rig, q *txRing) {
			q.send(marked())
			p := esp{sa: saOf(1), seq: 2, iv: 2, payload: counting(80)}.asks("IPv4", 1)
			p.context = nil
			pending(q, p)
			r.txSA(1, saOf(1))
		},
	}, deeds{
		"another SA":        func(r *rig, q *txRing) { pending(q, marked()); r.txSA(2, saOf(2)) },
		"afterwards":        func(r *rig, q *txRing) { q.send(marked()); r.txSA(1, saOf(1)) },
		"nothing is marked": func(r *rig, q *txRing) { pending(q, packet{frame: fromHost(60)}); r.txSA(1, saOf(1)) },
		"lookups off, idle": func(r *rig, _ *txRing) { r.put(ipsTxIdx, 0) },
		"a receive SA":      func(r *rig, q *txRing) { pending(q, marked()); r.rxSA(1, saOf(1), host4) },
		"the SA is read": func(r *rig, q *txRing) {
			pending(q, marked())
			r.access(ipsTxIdx, indexRead|1<<3|indexOn)
		},
	})
	add(silicon.BreachBusyEngine, deeds{
		"on": func(r *rig, q *txRing) {
			r.put(secTxCtrl, 5)
			r.settle()
			pending(q, marked())
			r.put(secTxCtrl, 4)
		},
	}, deeds{
		"afterwards":        func(r *rig, q *txRing) { q.send(marked()); r.put(secTxCtrl, 5) },
		"nothing is marked": func(r *rig, q *txRing) { pending(q, packet{frame: fromHost(60)}); r.put(secTxCtrl, 5) },
		"the receiver's":    func(r *rig, q *txRing) { pending(q, marked()); r.put(secRxCtrl, 1) },
	})
	add(silicon.BreachTooMany, deeds{
		"256":  func(r *rig, _ *txRing) { r.txSA(256, saOf(256)) },
		"1023": func(r *rig, _ *txRing) { r.txSA(1023, saOf(1023)) },
	}, deeds{
		"255":            func(r *rig, _ *txRing) { r.txSA(255, saOf(255)) },
		"256 is emptied": func(r *rig, _ *txRing) { r.txSA(256, sa{}) },
	})
	add(silicon.BreachDuplicate, deeds{
		"both valid": func(r *rig, _ *txRing) { r.rxSA(4, saOf(1), host4); r.rxSA(5, saOf(1), host4) },
		"the SPI comes last": func(r *rig, _ *txRing) {
			r.rxSA(4, saOf(1), host4)
			r.rxKey(5, saOf(2), modValid|modESP)
			r.rxIP(5, host4)
			r.rxSPI(5, saOf(1).spi, 5)
		},
		"the address comes last": func(r *rig, _ *txRing) {
			r.rxSA(4, saOf(1), host4)
			r.rxKey(5, saOf(2), modValid|modESP)
			r.rxSPI(5, saOf(1).spi, 5)
			r.rxIP(5, host4)
		},
		"by one address entry": func(r *rig, _ *txRing) {
			r.rxSA(4, saOf(1), host4)
			r.rxSPI(900, saOf(1).spi, 4)
			r.rxKey(900, saOf(2), modValid|modESP)
		},
	}, deeds{
		"another SPI":     func(r *rig, _ *txRing) { r.rxSA(4, saOf(1), host4); r.rxSA(5, saOf(2), host4) },
		"another address": func(r *rig, _ *txRing) { r.rxSA(4, saOf(1), host4); r.rxSA(5, saOf(1), peer4) },
		"not valid": func(r *rig, _ *txRing) {
			r.rxSA(4, saOf(1), host4)
			r.rxIP(5, host4)
			r.rxSPI(5, saOf(1).spi, 5)
			r.rxKey(5, saOf(1), modESP|modDecrypt)
		},
		"the same entry again": func(r *rig, _ *txRing) { r.rxSA(4, saOf(1), host4); r.rxSA(4, saOf(1), host4) },
	})
	add(silicon.BreachIndex, deeds{
		"address 128": func(r *rig, _ *txRing) { r.access(ipsRxIdx, indexWrite|tableIP|128<<3) },
		"no table":    func(r *rig, _ *txRing) { r.access(ipsRxIdx, indexWrite|5<<3) },
		"reading 128": func(r *rig, _ *txRing) { r.access(ipsRxIdx, indexRead|tableIP|128<<3) },
	}, deeds{
		"address 127": func(r *rig, _ *txRing) { r.access(ipsRxIdx, indexWrite|tableIP|127<<3) },
		"SPI 1023":    func(r *rig, _ *txRing) { r.access(ipsRxIdx, indexWrite|tableSPI|1023<<3) },
	})
}
