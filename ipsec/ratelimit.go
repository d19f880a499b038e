package ipsec

import "espgw/sa"

// answerLimiter bounds how many ICMP errors a worker sends (RFC 1812, 4.3.2.8; RFC
// 4443, 2.4(f)): in all, so that a flood of packets that are too large does not
// become a flood of answers, and for each pair of addresses, so that one sender
// that does not listen cannot use up what others need. Pairs share buckets by
// chance: the memory is fixed.
type answerLimiter struct {
	all   bucket
	pairs [512]bucket
}

// The limits of a worker: answers a second, and how many may come at once.
const (
	answersPerSecond     = 1000
	answersAtOnce        = 100
	pairAnswersPerSecond = 10
	pairAnswersAtOnce    = 10
)

// allow takes one answer to the sender of a packet; now is in Unix nanoseconds.
func (l *answerLimiter) allow(f *sa.Flow, now int64) bool {
	pair := &l.pairs[addressHash(f)%uint64(len(l.pairs))]
	// The pair is asked first: its refusal must not cost the others anything.
	if !pair.has(now, pairAnswersPerSecond, pairAnswersAtOnce) || !l.all.has(now, answersPerSecond, answersAtOnce) {
		return false
	}
	pair.take(pairAnswersPerSecond)
	l.all.take(answersPerSecond)
	return true
}

// bucket is a token bucket, kept as the time (Unix nanoseconds) at which it was,
// or will be, full less one token for each one taken.
type bucket struct{ full int64 }

func (b *bucket) has(now, perSecond, atOnce int64) bool {
	period := int64(1e9) / perSecond
	b.full = max(b.full, now)
	return b.full-now <= (atOnce-1)*period
}

func (b *bucket) take(perSecond int64) { b.full += int64(1e9) / perSecond }

func addressHash(f *sa.Flow) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := f.Src.Hi
	for _, w := range [...]uint64{f.Src.Lo, f.Dst.Hi, f.Dst.Lo} {
		h = (h ^ h>>29) * odd
		h += w
	}
	return (h ^ h>>32) * odd >> 32
}
