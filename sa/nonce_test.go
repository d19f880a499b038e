package sa_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// TestIVMask computes the constant by RFC 5869 from HMAC alone: extract with a
// salt of zeros, expand one block.
func TestIVMask(t *testing.T) {
	k, err := hex.DecodeString("44434241343332312423222114131211f4f3f2f1")
	require.NoError(t, err)
	p := state("14.0.0.52", "14.0.0.70", 7, 7)
	p.Key = sa.NewKey(k)
	mac := func(key, data []byte) []byte {
		h := hmac.New(sha256.New, key)
		h.Write(data)
		return h.Sum(nil)
	}
	info := []byte("espgw ESP IV 1\x00\x00\x00\x07\x04")
	for _, last := range []byte{52, 70} {
		info = append(info, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 14, 0, 0, last)
	}
	prk := mac(make([]byte, 32), k)
	okm := mac(prk, append(info, 1))
	require.Equal(t, binary.BigEndian.Uint64(okm), sa.IVMask(p))

	other := state("14.0.0.70", "14.0.0.52", 7, 7)
	other.Key = p.Key
	require.NotEqual(t, sa.IVMask(p)>>32, sa.IVMask(other)>>32, "the other direction")
	require.Equal(t, sa.IVMask(p), sa.IVMask(p))
}

// TestNonceOverlap adds two SAs of one key whose constants agree above what
// either may send.
func TestNonceOverlap(t *testing.T) {
	const base = 0x1122_3344_5566_7788
	tests := []struct {
		name       string
		mask       uint64
		esn1, esn2 bool
		otherKey   bool
		refused    bool
	}{
		{name: "far apart", mask: 0x99 << 56, refused: false},
		{name: "the same", mask: base, refused: true},
		{name: "low half differs", mask: base ^ 0x8000_0000, refused: true},
		{name: "high half differs", mask: base ^ 1<<32, refused: false},
		{name: "ESN: high half differs", mask: base ^ 1<<32, esn1: true, refused: true},
		{name: "ESN, the later one", mask: base ^ 1<<47, esn2: true, refused: true},
		{name: "ESN: upper 16 bits differ", mask: base ^ 1<<48, esn1: true, esn2: true, refused: false},
		{name: "another key", mask: base, otherKey: true, refused: false},
	}
	for _, tt := range tests {
		for _, deleted := range []bool{false, true} {
			name := tt.name
			if deleted {
				name += ", the first deleted"
			}
			t.Run(name, func(t *testing.T) {
				a, b := state(hostA, hostB, 0x1000, 1), state(hostB, hostA, 0x2000, 1)
				db := sa.NewDB(sa.Options{IVMask: func(p *sa.Params) uint64 {
					if p.SPI == a.SPI {
						return base
					}
					return tt.mask
				}})
				a.Dir, b.Dir = sa.DirOut, sa.DirIn // whatever the directions
				b.Key = a.Key
				if tt.otherKey {
					b.Key = key(20, 99)
				}
				if tt.esn1 {
					a.Flags = sa.FlagESN
				}
				if tt.esn2 {
					b.Flags = sa.FlagESN
				}
				addState(t, db, a)
				if deleted {
					apply(t, db, func(tx *sa.Tx) { tx.FlushStates() })
				}
				tx := db.Begin()
				defer tx.Rollback()
				err := tx.AddState(b)
				if !tt.refused {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, sa.ErrNonceOverlap)
				require.ErrorContains(t, err, "0x00001000", "names the other SA")
			})
		}
	}
}

// TestAddAgainAttack deletes and adds one SA with the same key while senders
// use whatever the table has, holding on to removed SAs: no sequence number is
// ever sent twice. Releases come late, as behind slow workers.
func TestAddAgainAttack(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir = sa.DirOut
	addState(t, db, p)
	const perSender = 30000
	var progress atomic.Uint32
	var wg sync.WaitGroup
	sent := make([][]uint64, 3)
	for w := range sent {
		wg.Go(func() { sent[w] = sendFromAll(db, p, perSender, &progress) })
	}
	var late []*sa.SA
	for i := 0; progress.Load() < uint32(len(sent)); i++ {
		tx := db.Begin()
		tx.FlushStates()
		if i%3 == 0 { // in two steps
			require.NoError(t, tx.Commit())
			tx = db.Begin()
		}
		require.NoError(t, tx.AddState(p))
		c, err := tx.Prepare()
		require.NoError(t, err)
		require.NoError(t, tx.Commit())
		late = append(late, c.Removed...)
		if i%7 == 0 {
			db.Release(late)
			late = nil
		}
	}
	wg.Wait()
	all := slices.Concat(sent...)
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 3*perSender, "a sequence number was sent twice")
}

// sendFromAll reserves n sequence numbers from the SA that the table has and
// from those that it had.
func sendFromAll(db *sa.DB, p *sa.Params, n int, progress *atomic.Uint32) (mine []uint64) {
	defer progress.Add(1)
	held := []*sa.SA{nil}
	for i := 0; ; i++ {
		if s := inbound(db, p); s != nil && s != held[len(held)-1] {
			held = append(held, s)
		}
		for _, s := range held[max(1, len(held)-4):] {
			first, got, _ := s.ReserveOut(1+i%5, 1, 1)
			for j := range got {
				if mine = append(mine, first+uint64(j)); len(mine) == n {
					return mine
				}
			}
		}
	}
}

func TestResumeAbove(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir = sa.DirOut
	addState(t, db, p).ReserveOut(100, 1, 1)
	again := func(change func(*sa.Params)) uint64 {
		q := *p
		change(&q)
		apply(t, db, func(tx *sa.Tx) { tx.FlushStates() })
		first, n, _ := addState(t, db, &q).ReserveOut(1, 1, 1)
		require.Equal(t, 1, n)
		return first
	}
	require.EqualValues(t, 101, again(func(*sa.Params) {}))
	require.EqualValues(t, 102, again(func(p *sa.Params) { p.ReplayOSeq = 50 }), "raised")
	require.EqualValues(t, 1001, again(func(p *sa.Params) { p.ReplayOSeq = 1000 }), "as configured")
	require.EqualValues(t, 1, again(func(p *sa.Params) { p.Key = key(20, 200) }), "another key")
	require.EqualValues(t, 1002, again(func(*sa.Params) {}), "never forgotten")
	require.EqualValues(t, 1, again(func(p *sa.Params) { p.SPI++ }), "another identity has other IVs")
	require.EqualValues(t, 1003, again(func(p *sa.Params) { p.Flags = sa.FlagESN }))
}

// TestClassicKeys: the commands that everybody pastes use one key for both
// directions. No IV comes twice, whoever sends, and a warning names the SAs.
func TestClassicKeys(t *testing.T) {
	masks := map[uint64]bool{}
	for _, host := range []string{"a", "b"} {
		out, in := state(hostA, hostB, 7, 7), state(hostB, hostA, 7, 7)
		out.Dir, in.Dir = sa.DirOut, sa.DirIn
		if host == "b" {
			out.Dir, in.Dir = sa.DirIn, sa.DirOut
		}
		db := sa.NewDB(sa.Options{})
		c := apply(t, db, func(tx *sa.Tx) {
			require.NoError(t, tx.AddState(out))
			require.NoError(t, tx.AddState(in))
			require.True(t, tx.SharesKey(tx.GetState(in.ID)))
		})
		require.Contains(t, strings.Join(c.Warnings, "\n"),
			"SA SPI 0x00000007 to 14.0.0.52 and SA SPI 0x00000007 to 14.0.0.70 share a key")
		require.Contains(t, strings.Join(c.Warnings, "\n"), "reserved")
		for _, p := range []*sa.Params{out, in} {
			masks[inbound(db, p).IVMask()>>32] = true
		}
	}
	require.Len(t, masks, 2, "both gateways agree on two constants")
}
