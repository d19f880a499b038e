package ipsec

import (
	"espgw/ipsec/packet"
)

// tooBig drops a packet of the protected side that does not fit and has its sender
// told how large it may be: mtu octets of IP packet.
func (p *packetState) tooBig(mtu int) {
	p.fate, p.reason, p.answerMTU = fateAnswer, OutTooBig, mtu
}

// answer counts a packet that was too big and turns it into the answer to its
// sender, or frees it: where none may be sent (packet.MayAnswer), too many were,
// or the sender's link is down.
func (w *worker) answer(l *lane, p *packetState) {
	w.count(p)
	m := p.mbuf
	if l.rx.unsendable() != ReasonNone || !packet.MayAnswer(m.Buffer()[p.start:p.end], &p.meta) ||
		!w.limiter.allow(&p.meta.Flow, w.now) {
		l.Drop(m)
		return
	}
	start, end, ok := packet.TooBig(m.Buffer(), p.start, &p.meta, p.answerMTU)
	if !ok {
		l.Drop(m)
		return
	}
	m.SetBounds(start, end)
	m.ClearTx()
	if l.back == nil {
		bump(&w.counters.originated, 1) // before the other worker may have sent it
		if !l.handoff.put(m) {
			bump(&w.counters.originated, ^uint64(0))
			l.Drop(m)
		}
		return
	}
	w.originated++
	if !l.back.Send(m) {
		w.drops[TxFull]++
		l.Drop(m)
	}
}

// takeAnswers sends what other workers have left for a lane.
func (w *worker) takeAnswers(l *lane) {
	for _, h := range l.answers {
		for m := h.take(); m != nil; m = h.take() {
			if !l.out.Send(m) {
				w.drops[TxFull]++
				l.Drop(m)
			}
		}
	}
}
