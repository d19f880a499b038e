package silicon_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// failing is a fault that a card has from its beginning on.
func failing(text string) func(*silicon.Config) {
	return func(c *silicon.Config) {
		if err := c.Faults.Set(text); err != nil {
			panic(err)
		}
	}
}

// TestFaultICV: each n-th packet that is opened fails, and nothing of it is changed but
// for the deciphering.
func TestFaultICV(t *testing.T) {
	r, q := openRig(t, failing("icv:3"))
	for k := range 9 {
		e := good()
		e.iv = uint64(k)
		got := q.receive(fromPeerESP(host4, e.sealed()))
		want := uint32(statusMatched)
		if k%3 == 2 {
			want = statusICV
		}
		require.Equal(t, want, got[0].status(), "packet %d", k)
		require.Equal(t, fromPeerESP(host4, e.opened()), got[0].data)
	}
	require.NoError(t, r.card.SetFault("icv:0"))
	for range 5 {
		require.EqualValues(t, statusMatched, q.receive(fromPeerESP(host4, good().sealed()))[0].status())
	}
	require.EqualValues(t, 3, r.counts().RxICVFailed)
}

// TestFaultICVOfGMAC: of packets that are not enciphered, too.
func TestFaultICVOfGMAC(t *testing.T) {
	r, q := openRig(t, failing("icv"))
	r.rxKey(1, saOf(1), modValid|modESP)
	frame := fromPeerESP(host4, good().authentic())
	got := q.receive(frame)
	require.EqualValues(t, statusICV, got[0].status())
	require.Equal(t, frame, got[0].data)
}

// TestFaultICVCountsWhatIsOpened: packets without an SA do not count.
func TestFaultICVCountsWhatIsOpened(t *testing.T) {
	_, q := openRig(t, failing("icv:2"))
	other := good()
	other.sa.spi++
	for k, e := range []esp{good(), other, other, good()} {
		require.Equal(t, k == 3, q.receive(fromPeerESP(host4, e.sealed()))[0].status() == statusICV)
	}
}

// TestFaultTxICV: each n-th packet that is sealed leaves with a wrong ICV, else as it
// should.
func TestFaultTxICV(t *testing.T) {
	_, q := sealRig(t, failing("tx-icv:2"))
	for k := range 6 {
		e := esp{sa: saOf(1), seq: 1, iv: uint64(k), payload: counting(50)}
		want := toPeer("IPv4", e.sealed())
		got := q.send(e.asks("IPv4", 1))[0]
		last := len(want) - 16
		require.Equal(t, want[:last], got[:last])
		require.Equal(t, k%2 == 1, string(want[last:]) != string(got[last:]), "packet %d", k)
	}
}

// saltOf reads entry i's salt back.
func (r *rig) saltOf(i int) uint32 {
	r.t.Helper()
	r.access(ipsTxIdx, indexRead|uint32(i)<<3|indexOn)
	return r.get(ipsTxSalt)
}

// TestFaultLostWrite: each n-th write of a table, of either direction, is acknowledged and
// not done.
func TestFaultLostWrite(t *testing.T) {
	r := newRig(t, failing("lost-write:3"))
	for i := range 9 {
		r.txSA(i, saOf(i))
	}
	for i := range 9 {
		require.Equal(t, i%3 == 2, r.saltOf(i) == 0, "entry %d", i)
	}
	r.txSA(20, saOf(20))
	r.txSA(21, saOf(21))
	r.rxKey(20, saOf(20), modValid) // the third
	r.access(ipsRxIdx, indexRead|tableKey|20<<3)
	require.Zero(t, r.get(ipsRxMod))
	require.EqualValues(t, 12, r.counts().TableWrites)
}

// TestFaultStuckWrite: each n-th is not acknowledged, however long one waits, and not done;
// the next write is.
func TestFaultStuckWrite(t *testing.T) {
	r := newRig(t, failing("stuck-write:2"))
	for i := range 6 {
		r.putKey(ipsTxKey, ipsTxSalt, saOf(i))
		v := indexWrite | uint32(i)<<3 | indexOn
		r.put(ipsTxIdx, v)
		r.settle()
		want := v &^ indexWrite
		if i%2 == 1 {
			want = v
		}
		require.Equal(t, want, r.get(ipsTxIdx), "entry %d", i)
	}
	require.NoError(t, r.card.SetFault("stuck-write:0"))
	for i := range 6 {
		require.Equal(t, i%2 == 1, r.saltOf(i) == 0, "entry %d", i)
	}
	require.EqualValues(t, 6, r.counts().TableWrites)
}

// TestFaultStuckWriteOfOneDirection: what is stuck in one register stays so when the other is
// used, and a driver that is seen to write the same again has written again.
func TestFaultStuckWriteOfOneDirection(t *testing.T) {
	r := newRig(t, failing("stuck-write:2"))
	r.txSA(0, saOf(0))
	v := indexWrite | uint32(1)<<3 | indexOn
	r.putKey(ipsTxKey, ipsTxSalt, saOf(1))
	r.put(ipsTxIdx, v)
	r.settle()
	require.Equal(t, v, r.get(ipsTxIdx))
	r.rxKey(0, saOf(0), modValid)
	require.Equal(t, v, r.get(ipsTxIdx), "it is looked at again")
	require.EqualValues(t, 3, r.counts().TableWrites)
	require.NoError(t, r.card.SetFault("stuck-write:0"))
	r.card.Write(ipsTxIdx, v)
	require.Equal(t, v&^indexWrite, r.get(ipsTxIdx))
	require.NotZero(t, r.saltOf(1))
}

// TestFaultNotReady: from the next reset on.
func TestFaultNotReady(t *testing.T) {
	r := newRig(t, failing("not-ready"))
	require.Zero(t, r.get(secTxStat)|r.get(secRxStat))
	require.NoError(t, r.card.SetFault("not-ready:0"))
	r.put(ctrl, 1<<26)
	r.settle()
	require.EqualValues(t, 1, r.get(secTxStat)&r.get(secRxStat))
	require.NoError(t, r.card.SetFault("not-ready"))
	r.put(ctrl, 1<<26)
	r.settle()
	require.Zero(t, r.get(secTxStat)|r.get(secRxStat))
}

func TestFaultSlow(t *testing.T) {
	r := newRig(t, failing("slow:2000"))
	start := time.Now()
	r.step()
	r.step()
	require.GreaterOrEqual(t, time.Since(start), 4*time.Millisecond)
}

// TestFaultFlap: the link goes down after so many milliseconds, for a second, and again.
func TestFaultFlap(t *testing.T) {
	r := newRig(t, failing("flap:300"))
	up := func(after time.Duration) bool {
		r.now = r.now.Add(after)
		r.step()
		require.Equal(t, r.card.LinkUp(), r.get(links)>>30&1 == 1)
		return r.card.LinkUp()
	}
	require.True(t, up(0))
	for range 3 {
		require.True(t, up(295*time.Millisecond))
		require.False(t, up(5*time.Millisecond))
		require.False(t, up(995*time.Millisecond))
		require.True(t, up(5*time.Millisecond))
	}
	require.EqualValues(t, 6, r.counts().LinkChanges)
	require.Equal(t, time.Second, silicon.FlapDown)
}
