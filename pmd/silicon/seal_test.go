package silicon_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublishedPacketsAreSealed octet for octet; this holds the byte order of key, salt and
// IV, too.
func TestPublishedPacketsAreSealed(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			r, q := sealRig(t)
			s, text, want := v.read(t)
			r.txSA(9, s)
			open := slices.Concat(want[:16], text, make([]byte, 16))
			padding := int(text[len(text)-2])
			p := packet{
				frame: toPeer("IPv4", open), options: txIPSEC,
				context: &context{sa: 9, espLen: padding + 18, l4: 3},
			}
			require.Equal(t, [][]byte{pad(toPeer("IPv4", want))}, q.send(p))
			r.breached()
		})
	}
}

// TestTheTestsOwnSealing is the published one, too.
func TestTheTestsOwnSealing(t *testing.T) {
	s, text, want := vectors[0].read(t)
	e := esp{sa: s, seq: 10, iv: 0xfacedbaddecaf888, payload: text[:62], next: 1}
	require.Equal(t, want, e.sealed())
	s, text, want = gmacVector.read(t)
	e = esp{sa: s, seq: 7, payload: text[:48], next: 1}
	require.Equal(t, want, e.authentic())
}

func TestSealEveryLength(t *testing.T) {
	for version := range versions {
		r, q := sealRig(t)
		for n := range 200 {
			e := esp{sa: saOf(1), seq: uint32(n + 1), iv: uint64(n), payload: counting(n), next: 17}
			sent := q.send(e.asks(version, 1))
			require.Equal(t, [][]byte{toPeer(version, e.sealed())}, sent, "%s, %d octets", version, n)
		}
		r.breached()
		require.EqualValues(t, 200, r.counts().TxSealed)
		require.EqualValues(t, 200, r.counts().TxIPsec)
		require.Zero(t, r.counts().TxClear)
	}
}

// TestSealPadding: up to 255 octets of it.
func TestSealPadding(t *testing.T) {
	r, q := sealRig(t)
	for padding := 0; padding <= 252; padding += 4 {
		for n := range 4 {
			e := esp{sa: saOf(1), seq: 1, iv: uint64(padding + n), payload: counting(40 + n), next: 6, padding: padding}
			require.Equal(t, [][]byte{toPeer("IPv4", e.sealed())}, q.send(e.asks("IPv4", 1)))
		}
	}
	r.breached()
}

// TestSealOverBuffers: ESP may be cut anywhere, as in the middle of IV and ICV.
func TestSealOverBuffers(t *testing.T) {
	r, q := sealRig(t)
	frame := toPeer("IPv4", esp{payload: counting(1400)}.open())
	for i, cuts := range [][]int{{14}, {34, 42, 50}, {37, 45}, {len(frame) - 16}, {len(frame) - 17, len(frame) - 3}} {
		e := esp{sa: saOf(1), seq: 1, iv: uint64(i), payload: counting(1400), next: 4}
		p := e.asks("IPv4", 1)
		p.cuts = cuts
		require.Equal(t, [][]byte{toPeer("IPv4", e.sealed())}, q.send(p))
	}
	r.breached()
}

// TestSealLeavesMemoryAlone: the card enciphers a copy; a driver's buffer stays in clear
// text.
func TestSealLeavesMemoryAlone(t *testing.T) {
	r, q := sealRig(t)
	at := r.mem.used
	e := esp{sa: saOf(1), seq: 1, payload: counting(100), next: 4}
	p := e.asks("IPv4", 1)
	q.send(p)
	at = (at + 127) &^ 127
	require.Equal(t, p.frame, r.mem.octets[at:at+len(p.frame)])
}

// TestSealBehindTags: in the frame (MACLEN counts them), and inserted by VLE (it does not).
func TestSealBehindTags(t *testing.T) {
	r, q := sealRig(t)
	e := esp{sa: saOf(1), seq: 1, iv: 1, payload: counting(100), next: 4}
	require.Equal(t, [][]byte{toPeer("IPv6", e.sealed(), 5)}, q.send(e.asks("IPv6", 1, 5)))
	e.iv = 2
	require.Equal(t, [][]byte{toPeer("IPv6", e.sealed(), 5, 6)}, q.send(e.asks("IPv6", 1, 5, 6)))
	e.iv = 3
	p := e.asks("IPv4", 1)
	p.options |= txVLE
	p.context.tag = 7
	require.Equal(t, [][]byte{toPeer("IPv4", e.sealed(), 7)}, q.send(p))
	r.breached()
}

// TestSealWithIPv4Checksum: the card sums 20 octets, also where IPLEN counts the ESP header
// as the datasheet wants it.
func TestSealWithIPv4Checksum(t *testing.T) {
	r, q := sealRig(t)
	for i, ipLen := range []int{20, 36} {
		e := esp{sa: saOf(1), seq: 1, iv: uint64(i), payload: counting(100), next: 4}
		p := e.asks("IPv4", 1)
		p.options |= txIXSM
		p.context.ipLen = ipLen
		p.frame[24], p.frame[25] = 0xaa, 0xbb
		require.Equal(t, [][]byte{toPeer("IPv4", e.sealed())}, q.send(p), "IPLEN %d", ipLen)
	}
	r.breached()
}

// TestEachSAHasItsKey, at both ends of the table; all in one burst, with both contexts.
func TestEachSAHasItsKey(t *testing.T) {
	r, q := sealRig(t)
	var packets []packet
	var want [][]byte
	for k, i := range []int{0, 1, 2, 127, 128, 255, 0, 2} {
		r.txSA(i, saOf(i))
		e := esp{sa: saOf(i), seq: 1, iv: uint64(k), payload: counting(80), next: 4}
		p := e.asks("IPv4", i)
		p.context.idx = k & 1
		p.options |= idx(k & 1)
		packets, want = append(packets, p), append(want, toPeer("IPv4", e.sealed()))
	}
	require.Equal(t, want, q.send(packets...))
	r.breached()
}

// TestSAIndexHasTenBits: entry 1023 is not entry 255.
func TestSAIndexHasTenBits(t *testing.T) {
	r, q := sealRig(t)
	r.txSA(1023, saOf(1023))
	e := esp{sa: saOf(1023), seq: 1, payload: counting(80), next: 4}
	require.Equal(t, [][]byte{toPeer("IPv4", e.sealed())}, q.send(e.asks("IPv4", 1023)))
}

// TestRekey: an entry that is written anew seals with the new key.
func TestRekey(t *testing.T) {
	r, q := sealRig(t)
	for i := range 5 {
		r.txSA(1, saOf(i))
		e := esp{sa: saOf(i), seq: 1, payload: counting(80), next: 4}
		require.Equal(t, [][]byte{toPeer("IPv4", e.sealed())}, q.send(e.asks("IPv4", 1)))
	}
	r.breached()
}

// TestUnmarkedIsNotSealed: ESP without POPTS.IPSEC leaves as it is, whatever the context
// says.
func TestUnmarkedIsNotSealed(t *testing.T) {
	r, q := sealRig(t)
	p := esp{sa: saOf(1), seq: 1, payload: counting(80), next: 4}.asks("IPv4", 1)
	p.options = 0
	require.Equal(t, [][]byte{p.frame}, q.send(p))
	r.breached()
	require.Zero(t, r.counts().TxIPsec)
}
