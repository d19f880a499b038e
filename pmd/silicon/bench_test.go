package silicon_test

import (
	"testing"

	"espgw/pmd/silicon"
)

// sink is a wire that forgets what is sent, and brings one frame over and over while there
// is still something to bring.
type sink struct {
	frame []byte
	left  int
}

func (s *sink) Send([]byte) {}

func (s *sink) Receive(buf []byte) int {
	if s.left == 0 {
		return 0
	}
	s.left--
	return copy(buf, s.frame)
}

// benchRig is a rig with engines and SAs that is plugged into a sink.
func benchRig(b *testing.B) (*rig, *sink) {
	s := &sink{}
	r := newRig(b, func(c *silicon.Config) { c.Wire = s })
	r.engines()
	r.txSA(1, saOf(1))
	r.rxSA(1, saOf(1), host4)
	return r, s
}

// benchTransmit sends one packet again and again, so many to a doorbell; next is called in
// front of each with its number.
func benchTransmit(b *testing.B, p packet, burst int, next func(frame []byte, k int)) {
	r, _ := benchRig(b)
	q := r.txQueue(0, 512)
	if p.context != nil {
		q.write(p.context.words())
		p.context = nil
	}
	slot := q.add(p)
	low, high := r.mem.word(q.address, int(2*slot)), q.upper(slot)
	q.send()
	frame := r.mem.Slice(low, len(p.frame))
	b.SetBytes(int64(len(p.frame)))
	b.ReportAllocs()
	sent := 0
	for b.Loop() {
		next(frame, sent)
		q.write(low, high)
		if sent++; sent%burst == 0 {
			q.doorbell()
			for q.head() != q.tail {
				r.step()
			}
		}
	}
	b.StopTimer()
	if n := r.card.Report(); n.BreachCount() > 0 || int(n.Counts.TxFrames) != 1+sent/burst*burst {
		b.Fatal(n)
	}
}

func BenchmarkTransmitPlain64(b *testing.B) {
	benchTransmit(b, packet{frame: fromHost(60)}, 32, func([]byte, int) {})
}

// BenchmarkTransmitSealed1420 has a new IV for each packet, so a packet to a doorbell.
func BenchmarkTransmitSealed1420(b *testing.B) {
	e := esp{sa: saOf(1), seq: 1, payload: counting(1420 - 14 - 20 - 16 - 2 - 16)}
	benchTransmit(b, e.asks("IPv4", 1), 1, func(frame []byte, k int) {
		for i := range 8 {
			frame[42+i] = byte((k + 1) >> (56 - 8*i))
		}
	})
}

// benchReceive has one frame come in again and again, 32 at a time.
func benchReceive(b *testing.B, frame []byte) *silicon.Card {
	r, s := benchRig(b)
	q := r.rxQueue(0, 512, 2)
	s.frame = frame
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	came := 0
	for b.Loop() {
		if came++; came%32 == 0 {
			s.left = 32
			for r.step() {
			}
			q.tail((q.head() + 511) % 512)
			for i := range 32 { // the driver gives the buffers back
				q.arm((q.head() + 512 - 1 - i) % 512)
			}
		}
	}
	b.StopTimer()
	if n := r.card.Report(); n.BreachCount() > 0 || int(n.Counts.RxFrames) != came/32*32 {
		b.Fatal(n)
	}
	return r.card
}

func BenchmarkReceivePlain64(b *testing.B) { benchReceive(b, fromPeer(60)) }

func BenchmarkReceiveOpened1420(b *testing.B) {
	e := esp{sa: saOf(1), seq: 1, payload: counting(1420 - 14 - 20 - 16 - 2 - 16)}
	counts := benchReceive(b, fromPeerESP(host4, e.sealed())).Report().Counts
	if counts.RxOpened != counts.RxFrames {
		b.Fatal(counts)
	}
}
