package contract_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
	"espgw/pmd/pmdtest"
)

// bench is what a row works with: the near end of the wire through package pmd, the far
// end as frames.
type bench struct {
	*testing.T
	device device
	port   port
	lane   *pmd.Lane
	sec    *pmd.Security
}

// sessions is how many a row may have open.
const sessions = 4096

func newBench(t *testing.T, d device, s setup) *bench {
	t.Helper()
	b := &bench{T: t, device: d, port: d.ready(t, s)}
	var err error
	b.lane, err = pmd.NewLane(pmd.LaneConfig{RxPort: b.port.Port, TxPort: b.port.Port})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.lane.Close()) })
	b.sec, err = b.port.Security(sessions)
	require.NoError(t, err)
	return b
}

// open makes a session, closed at the end of the row if not before; whether the driver
// finds it then is not the row's matter.
func (b *bench) open(c pmd.SessionConf) *pmd.SecuritySession {
	b.Helper()
	s, err := b.sec.Open(c)
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// rawConf is conf(i, egress) as rte_security is asked for it: the salt is behind the key.
func rawConf(i int, egress bool, change ...func(*probe.Conf)) probe.Conf {
	key, salt := keyOf(i)
	c := probe.Conf{
		Egress: egress, SPI: spiOf(i), KeyLen: 16, ICVLen: 16, Salt: salt,
		Key: append(append([]byte(nil), key[:16]...), salt...),
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

// raw makes a session behind package pmd's back. It stays in the device.
func (b *bench) raw(c probe.Conf) *probe.Session {
	b.Helper()
	s := b.port.raw.Open(c)
	require.NotNil(b, s)
	return s
}

// ruleTo is an ordinary flow rule, in DPDK 22.11's terms.
func ruleTo(to string) probe.Rule {
	a := netip.MustParseAddr(to)
	kind := probe.IPv4
	if a.Is6() {
		kind = probe.IPv6
	}
	return probe.Rule{
		Items:   []probe.Item{{Type: probe.ETH}, {Type: kind, Dst: a}, {Type: probe.ESP}},
		Actions: []int{probe.Security},
	}
}

func (b *bench) mbuf(frame []byte) *pmd.Mbuf {
	b.Helper()
	return pmdtest.NewMbuf(b, b.port.pool, frame)
}

// packet is a frame that is to be sent; session nil: as it is.
type packet struct {
	frame   []byte
	session *pmd.SecuritySession
}

// send sends packets as one burst, and returns the wire.
func (b *bench) send(packets ...packet) [][]byte {
	b.Helper()
	for _, p := range packets {
		m := b.mbuf(p.frame)
		if p.session == nil {
			require.True(b, b.lane.Send(m))
			continue
		}
		six := p.frame[12] == 0x86
		require.True(b, b.lane.SendSecured(m, p.session, 1,
			pmd.Secured{L2: 14, L3: espAt(p.frame) - 14, V6: six, IPChecksum: !six}))
	}
	require.Zero(b, b.lane.Flush(time.Second))
	wire := b.device.take(b.T, len(packets))
	require.Len(b, wire, len(packets), "frames on the wire")
	return wire
}

// sendOne is send of a packet in a session.
func (b *bench) sendOne(frame []byte, s *pmd.SecuritySession) []byte {
	b.Helper()
	return b.send(packet{frame, s})[0]
}

// sendRaw sends frames in a raw session, as one burst.
func (b *bench) sendRaw(s *probe.Session, frames ...[]byte) [][]byte {
	b.Helper()
	for _, frame := range frames {
		m := b.mbuf(frame)
		require.NoError(b, s.Metadata(m, 1))
		flags := pmd.FlagTxSecOffload | pmd.FlagTxIPv4 | pmd.FlagTxIPChecksum
		if frame[12] == 0x86 {
			flags = pmd.FlagTxSecOffload | pmd.FlagTxIPv6
		}
		probe.Mark(m, flags, 14, espAt(frame)-14)
		require.True(b, b.lane.Send(m))
	}
	require.Zero(b, b.lane.Flush(time.Second))
	wire := b.device.take(b.T, len(frames))
	require.Len(b, wire, len(frames), "frames on the wire")
	return wire
}

// sealsAs says that a frame from the wire is what c's key makes of the clear one.
func (b *bench) sealsAs(c *pmd.SessionConf, clear, wire []byte, why ...any) {
	b.Helper()
	require.Equal(b, sealed(b.T, c, clear), wire, why...)
}

// clearText says that a frame left as it was, but for the header checksum.
func (b *bench) clearText(clear, wire []byte, why ...any) {
	b.Helper()
	require.Equal(b, summed(append([]byte(nil), clear...)), wire, why...)
}

// got is a packet as the lane receives it.
type got struct {
	frame []byte
	flags uint64
}

func (g *got) marks() uint64 { return g.flags & (pmd.FlagRxSecOffload | pmd.FlagRxSecOffloadFailed) }

const (
	goodMark = pmd.FlagRxSecOffload
	badMark  = pmd.FlagRxSecOffload | pmd.FlagRxSecOffloadFailed
)

// receive puts frames on the wire and returns what the lane gets: all of them.
func (b *bench) receive(frames ...[]byte) (list []got) {
	b.Helper()
	b.device.put(b.T, frames...)
	for end := time.Now().Add(2 * time.Second); len(list) < len(frames) && time.Now().Before(end); {
		b.lane.Exchange()
		for _, m := range b.lane.Rx() {
			list = append(list, got{m.AppendTo(nil), m.Flags()})
			b.lane.Drop(m)
		}
	}
	require.Zero(b, b.lane.Flush(time.Second))
	require.Len(b, list, len(frames), "received packets")
	return list
}

// marksOf is what one frame from the wire is marked with.
func (b *bench) marksOf(frame []byte) uint64 {
	b.Helper()
	g := b.receive(frame)[0]
	return g.marks()
}

// opens says that the device opens, in place, a packet that c's key sealed.
func (b *bench) opens(c *pmd.SessionConf, why ...any) {
	b.Helper()
	clear := espFrame(c, 7, counting(50))
	wire := sealed(b.T, c, clear)
	g := b.receive(wire)[0]
	require.Equal(b, goodMark, g.marks(), why...)
	require.Equal(b, openedInPlace(clear, wire), g.frame, why...)
}

// leaves says that the device leaves a packet alone that c's key sealed.
func (b *bench) leaves(c *pmd.SessionConf, why ...any) {
	b.Helper()
	wire := wireFrame(b.T, c, 7, counting(50))
	g := b.receive(wire)[0]
	require.Zero(b, g.marks(), why...)
	require.Equal(b, wire, g.frame, why...)
}

// openedInPlace is a received frame after the device opened it: headers, padding, trailer
// and ICV stay.
func openedInPlace(clear, wire []byte) []byte {
	f := append([]byte(nil), wire...)
	at := espAt(clear) + espHeader + espIV
	copy(f[at:len(clear)-espICV], clear[at:])
	return f
}
