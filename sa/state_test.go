package sa_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// TestDumpAndRestore moves a receiver into a new DB, through JSON: it refuses
// what the old one had accepted, accepts what it had missed, and sends on.
func TestDumpAndRestore(t *testing.T) {
	for _, highest := range []uint64{0, 1, 40, 5000, 1<<32 + 17} {
		for _, size := range []uint32{32, 100, 1024} {
			p := state(hostA, hostB, 0x1000, 1)
			p.ReplayWindow, p.ReplayWindowSet = size, true
			p.Flags = sa.FlagESN
			if highest > 3000 {
				p.ReplaySeq = highest - 3000
			}
			old := addState(t, sa.NewDB(sa.Options{}), p)
			r := rand.New(rand.NewPCG(highest, uint64(size)))
			for seq := max(1, p.ReplaySeq); seq <= highest; seq++ {
				if r.IntN(3) > 0 || seq == highest {
					old.CommitIn(seq, 10, 7)
				}
			}
			data, err := json.Marshal(old.Dump())
			require.NoError(t, err)
			var d sa.State
			require.NoError(t, json.Unmarshal(data, &d))

			db := sa.NewDB(sa.Options{})
			apply(t, db, func(tx *sa.Tx) {
				require.NoError(t, tx.AddState(p))
				require.NoError(t, tx.RestoreState(&d))
			})
			s := inbound(db, p)
			require.Equal(t, old.Dump(), s.Dump())
			for back := range uint64(size) + 2 {
				if highest < back {
					break
				}
				_, want := old.CheckIn(uint32(highest - back))
				_, got := s.CheckIn(uint32(highest - back))
				require.Equal(t, want, got, "T=%d W=%d: %d", highest, size, highest-back)
			}
		}
	}
}

func TestRestoreSender(t *testing.T) {
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir = sa.DirOut
	db := sa.NewDB(sa.Options{})
	d := sa.State{ID: p.ID, LastSent: 999, Packets: 5, Bytes: 50}
	tx := db.Begin()
	require.ErrorIs(t, tx.RestoreState(&d), sa.ErrNotFound)
	require.NoError(t, tx.AddState(p))
	require.NoError(t, tx.RestoreState(&d))
	require.EqualValues(t, 999, tx.GetState(p.ID).LastSent())
	tooFar := sa.State{ID: p.ID, LastSent: 1 << 32}
	require.ErrorIs(t, tx.RestoreState(&tooFar), sa.ErrInvalid)
	require.NoError(t, tx.Commit())
	first, _, _ := inbound(db, p).ReserveOut(1, 10, 1)
	require.EqualValues(t, 1000, first)
	require.EqualValues(t, 6, inbound(db, p).Packets())
	tx = db.Begin()
	defer tx.Rollback()
	require.ErrorIs(t, tx.RestoreState(&d), sa.ErrInvalid, "in use")
}
