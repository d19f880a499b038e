package esp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

const (
	headroom = 128
	tailroom = 64
	canary   = 0xa5
)

// room is a buffer like an mbuf's, with one frame in it. What is around the
// frame holds a pattern, so that writes beyond the allowed room show.
type room struct {
	buf        []byte
	start, end int
	meta       packet.Meta
}

func newRoom(frame []byte) *room {
	r := &room{buf: make([]byte, headroom+len(frame)+tailroom), start: headroom, end: headroom + len(frame)}
	for i := range r.buf {
		r.buf[i] = canary
	}
	copy(r.buf[headroom:], frame)
	packet.Parse(r.frame(), &r.meta)
	return r
}

func (r *room) frame() []byte { return r.buf[r.start:r.end] }

// ip is the IP packet in the frame.
func (r *room) ip() []byte { return r.frame()[r.meta.L3:] }

// checkAround fails where anything outside buf[lo:hi] was written.
func (r *room) checkAround(t testing.TB, lo, hi int) {
	t.Helper()
	for i, b := range r.buf {
		if (i < lo || i >= hi) && b != canary {
			require.Failf(t, "written outside the packet's room", "octet %d, room %d to %d", i, lo, hi)
		}
	}
}

// seal frames and seals the packet, all of it.
func (r *room) seal(s *Scratch, tr *Transform, a *AEAD, seq uint64) error {
	start, end, o, err := tr.Wrap(r.buf, r.start, r.end, &r.meta, seq)
	if err != nil {
		return err
	}
	r.start, r.end = start, end
	if err = a.Seal(s, r.buf, o, seq, tr.ESN); err == nil && tr.NeedsChecksum(&r.meta) {
		tr.PutChecksum(r.buf, r.start, &r.meta, o)
	}
	return err
}

// open does what a gateway does with an ESP packet whose SA it knows, but for
// window and policies. high is the high half of the sequence number.
func (r *room) open(s *Scratch, tr *Transform, a *AEAD, high uint64) error {
	o, low, err := tr.Locate(r.buf, r.start, &r.meta)
	if err != nil {
		return err
	}
	if err = a.Open(s, r.buf, o, high<<32|uint64(low), tr.ESN); err != nil {
		return err
	}
	start, end, next, err := tr.Unwrap(r.buf, r.start, &r.meta, o)
	if err != nil {
		return err
	}
	r.start, r.end = start, end
	packet.ParseUpper(r.frame(), next, &r.meta)
	return nil
}
