package silicon_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// linkCause is EICR's bit of a change of the link.
const linkCause = 1 << 20

func TestLinkShows(t *testing.T) {
	r := newRig(t)
	require.True(t, r.card.LinkUp())
	r.card.SetLink(false)
	r.step()
	require.False(t, r.card.LinkUp())
	require.EqualValues(t, 0xb0000000, r.get(links), "down; negotiation is complete")
	require.EqualValues(t, linkCause, r.get(eicr))
	r.step()
	r.card.SetLink(true)
	r.step()
	require.True(t, r.card.LinkUp())
	require.EqualValues(t, 0xf0000000, r.get(links))
	require.EqualValues(t, 2, r.counts().LinkChanges)
}

// TestLinkIsUpWithoutAWire, and sends into nothing.
func TestLinkIsUpWithoutAWire(t *testing.T) {
	r := newRig(t, func(c *silicon.Config) { c.Wire = nil })
	require.True(t, r.card.LinkUp())
	q := r.txQueue(0, 64)
	q.send(packet{frame: fromHost(60)})
	require.EqualValues(t, 1, r.counts().TxFrames)
}

// TestResetKeepsTheLink as it is at the other end, without a cause.
func TestResetKeepsTheLink(t *testing.T) {
	r := newRig(t)
	r.card.SetLink(false)
	r.step()
	r.put(ctrl, 1<<26)
	r.step()
	require.EqualValues(t, 0xb0000000, r.get(links))
	require.Zero(t, r.get(eicr))
}

// TestFramesWaitForTheLink: the wire keeps what the card does not take, and the ring what it
// does not send.
func TestFramesWaitForTheLink(t *testing.T) {
	r := newRig(t)
	tx, rx := r.txQueue(0, 64), r.rxQueue(0, 64, 2)
	r.card.SetLink(false)
	r.step()
	tx.add(packet{frame: fromHost(60)})
	tx.doorbell()
	require.Empty(t, rx.receive(fromPeer(60)))
	r.card.SetLink(true)
	r.settle()
	require.Len(t, rx.take(), 1)
	require.Equal(t, [][]byte{fromHost(60)}, r.wire.take())
}

// TestInterrupt: only a cause that EIMS allows raises one.
func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		mask uint32
		want int
	}{{0, 0}, {linkCause, 1}, {0xffffffff, 1}, {^uint32(linkCause), 0}} {
		r := newRig(t)
		r.put(eims, test.mask)
		r.card.SetLink(false)
		r.settle()
		require.Equal(t, test.want, r.interrupts, "EIMS %#x", test.mask)
		require.EqualValues(t, test.want, r.counts().Interrupts)
	}
}

// TestInterruptNowhere: a card without a callback counts none.
func TestInterruptNowhere(t *testing.T) {
	r := newRig(t, func(c *silicon.Config) { c.Interrupt = nil })
	r.put(eims, linkCause)
	r.card.SetLink(false)
	r.settle()
	require.Zero(t, r.counts().Interrupts)
	require.EqualValues(t, linkCause, r.get(eicr))
}

// TestCauseUnseen: where reads are not seen, the cause goes away by itself after 50 ms, or a
// driver would find it for ever.
func TestCauseUnseen(t *testing.T) {
	r := newRig(t)
	r.card.SetLink(false)
	r.step()
	r.now = r.now.Add(49 * time.Millisecond)
	r.step()
	require.EqualValues(t, linkCause, r.get(eicr))
	r.now = r.now.Add(2 * time.Millisecond)
	r.step()
	require.Zero(t, r.get(eicr))
}

// TestCauseSeen: where they are seen, reading clears it, and nothing else does.
func TestCauseSeen(t *testing.T) {
	r := newRig(t)
	r.card.Write(eims, linkCause)
	r.card.SetLink(false)
	r.step()
	r.now = r.now.Add(time.Hour)
	r.step()
	require.EqualValues(t, linkCause, r.card.Read(eicr))
	require.Zero(t, r.card.Read(eicr))
	require.Equal(t, 1, r.interrupts)
}

// TestInterruptRegistersSeen: EICS sets causes, writing EICR clears those that are 1, EIMS
// and EIMC change the mask; a cause that waits raises when it is allowed.
func TestInterruptRegistersSeen(t *testing.T) {
	r := newRig(t)
	r.card.Write(eics, 0x5)
	require.EqualValues(t, 0x5, r.get(eicr))
	require.Zero(t, r.interrupts, "nothing is allowed")
	r.card.Write(eims, 0x2)
	require.Zero(t, r.interrupts)
	r.card.Write(eims, 0x4)
	require.EqualValues(t, 0x6, r.get(eims))
	require.Equal(t, 1, r.interrupts)
	r.card.Write(eimc, 0x2)
	require.EqualValues(t, 0x4, r.get(eims))
	r.card.Write(eicr, 0x1)
	require.EqualValues(t, 0x4, r.get(eicr))
	r.card.Write(eics, 0x4)
	require.Equal(t, 2, r.interrupts, "software's own cause")
	r.card.Write(eimc, 0xffffffff)
	r.card.Write(eics, 0x4)
	require.Equal(t, 2, r.interrupts)
	require.EqualValues(t, 0x4, r.card.Read(eicr))
	require.Zero(t, r.get(eicr))
}
