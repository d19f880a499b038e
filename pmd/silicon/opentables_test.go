package silicon_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEntriesAreFoundByAddressAndSPI: SAs at both ends of the tables, of one SPI for two
// addresses, and of one address for two SPIs.
func TestEntriesAreFoundByAddressAndSPI(t *testing.T) {
	r := newRig(t)
	r.engines()
	q := r.rxQueue(0, 64, 2)
	other := netip.MustParseAddr("192.0.2.255")
	r.rxIP(0, host4)
	r.rxIP(127, other)
	r.rxIP(5, host6)
	const esp4 = modValid | modESP | modDecrypt
	places := []struct {
		entry, address int
		spi            uint32
		dst            netip.Addr
		mode           uint32
	}{
		{0, 0, 0x100, host4, esp4},
		{1, 127, 0x100, other, esp4},
		{1023, 0, 0xffffffff, host4, esp4},
		{512, 127, 1, other, esp4},
		{700, 5, 0x100, host6, esp4 | modIPv6},
	}
	for _, p := range places {
		r.rxSPI(p.entry, p.spi, p.address)
		r.rxKey(p.entry, saOf(p.entry), p.mode)
	}
	for _, p := range places {
		s := saOf(p.entry)
		s.spi = p.spi
		e := esp{sa: s, seq: 1, payload: counting(60), next: 17}
		got := q.receive(fromPeerESP(p.dst, e.sealed()))
		require.Equal(t, fromPeerESP(p.dst, e.opened()), got[0].data, "entry %d", p.entry)
	}
	r.breached()
}

// TestEntriesMove: an SPI that is written over another is found, the other is not any more;
// 0 is nobody's.
func TestEntriesMove(t *testing.T) {
	r, q := openRig(t)
	matches := func(spi uint32) bool {
		s := saOf(1)
		s.spi = spi
		return q.receive(fromPeerESP(host4, esp{sa: s, payload: counting(60)}.sealed()))[0].status()&rxSECP != 0
	}
	old := saOf(1).spi
	require.True(t, matches(old))
	r.rxSPI(1, 77, 1)
	require.False(t, matches(old))
	require.True(t, matches(77))
	r.rxSPI(1, 0, 0)
	require.False(t, matches(77))
	require.False(t, matches(0))
	r.rxIP(1, peer4)
	r.rxSPI(1, old, 1)
	require.False(t, matches(old), "the address has changed")
	r.rxIP(1, host4)
	require.True(t, matches(old))
}

// TestEntriesOfOneSPI: where one goes, the others stay.
func TestEntriesOfOneSPI(t *testing.T) {
	r, q := openRig(t)
	s := saOf(1)
	r.rxSA(3, s, peer4)
	r.rxSA(4, s, netip.MustParseAddr("192.0.2.1"))
	r.rxSPI(3, 0, 0)
	r.rxSPI(4, 4711, 4)
	sealed := esp{sa: s, payload: counting(60)}.sealed()
	require.EqualValues(t, statusMatched, q.receive(fromPeerESP(host4, sealed))[0].status())
	require.EqualValues(t, statusNoSA, q.receive(fromPeerESP(peer4, sealed))[0].status())
}

// TestReceiveTablesAfterReset: with a new key alone an SA is whole again, for its address
// and SPI were kept.
func TestReceiveTablesAfterReset(t *testing.T) {
	r, _ := openRig(t)
	r.put(ctrl, 1<<26)
	r.settle()
	q := r.rxQueue(0, 64, 2)
	r.engines()
	r.put(ipsRxIdx, indexOn)
	e := esp{sa: saOf(1), seq: 1, payload: counting(60), next: 17}
	require.EqualValues(t, statusNoSA, q.receive(fromPeerESP(host4, e.sealed()))[0].status())
	r.rxKey(1, saOf(1), modValid|modESP|modDecrypt)
	require.EqualValues(t, statusMatched, q.receive(fromPeerESP(host4, e.sealed()))[0].status())
}
