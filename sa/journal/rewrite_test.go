package journal

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fill makes a journal on a disk with n entries, in batches.
func fill(t testing.TB, o Options, n int) *Journal {
	j, err := Open("state", o)
	require.NoError(t, err)
	b := &Batch{}
	for i := range n {
		id := identity(i)
		id.Print[15], id.Print[14], id.Print[13] = byte(i), byte(i>>8), byte(i>>16)
		b.Add(Entry{Identity: id, Reserved: uint64(i)})
		if b.Len() == 5000 || i == n-1 {
			require.NoError(t, j.Commit(b, true))
		}
	}
	return j
}

// TestShrink: with the limits of real use, a file of few entries does not grow
// beyond 4 MiB and a batch, and one of many not beyond four times what they need.
func TestShrink(t *testing.T) {
	for _, c := range []struct{ entries, limit int }{
		{10, 4 << 20}, {20000, 4 * (headerSize + 20000*entrySize)},
	} {
		d := newDisk()
		j := fill(t, Options{fileSystem: d}, c.entries)
		b, longest, renames := &Batch{}, 0, d.renames
		for n := range uint64(70) {
			for range 500 {
				for i := range Index(10) { // there and back: updates that are written
					b.Settle(i+1, 1<<40)
					b.Settle(i+1, n)
				}
			}
			require.NoError(t, j.Commit(b, false))
			longest = max(longest, len(d.names[fileName].data))
		}
		require.Greater(t, longest, c.limit-10000*updateSize-frameHead-frameTail)
		require.LessOrEqual(t, longest, c.limit)
		require.Greater(t, d.renames, renames)
		want := entries(j)
		d.kill()
		again, err := Open("state", Options{fileSystem: d})
		require.NoError(t, err)
		require.True(t, maps.Equal(want, entries(again)))
	}
}

// TestShrinkFails: what cannot be rewritten for space is appended to, and tried again
// only when it has grown by as much again.
func TestShrinkFails(t *testing.T) {
	d := newDisk()
	j := fill(t, Options{fileSystem: d, limits: limits{length: 1000, entries: 10}}, 1)
	tries := 0
	d.plan = func(int) (bool, effect) { return d.call == "create", effectNone }
	b := &Batch{}
	for n := range uint64(200) {
		b.Reserve(1, n+10)
		before := d.calls
		require.NoError(t, j.Commit(b, false))
		if d.calls > before+1 {
			tries++
		}
	}
	require.InDelta(t, 200*(frameHead+updateSize+frameTail)/1000, tries, 1)
	d.plan = nil
	for n := range uint64(100) {
		b.Reserve(1, n+1000)
		require.NoError(t, j.Commit(b, false))
	}
	require.Less(t, len(d.names[fileName].data), 1100)
}

// TestForget: beyond the number of entries that are always kept, a rewrite leaves out
// those removed long ago; their indices are not given again and name nothing.
func TestForget(t *testing.T) {
	now := time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC)
	old, recent := now.Add(-forgetAfter-time.Second), now.Add(-forgetAfter+time.Second)
	for _, c := range []struct {
		name  string
		keeps int
		kept  []Index
	}{
		{"few entries", 6, []Index{1, 2, 3, 4, 5, 6}},
		{"many entries", 5, []Index{2, 3, 5, 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDisk()
			o := Options{fileSystem: d, Now: func() time.Time { return now }, limits: limits{1 << 20, c.keeps}}
			j := fill(t, o, 6)
			b := &Batch{}
			b.Remove(1, old)
			b.Remove(2, recent)
			b.Remove(4, old)
			b.Remove(5, old)
			b.Remove(6, old)
			require.NoError(t, j.Commit(b, true))
			b.Restore(5)
			b.Reserve(6, 0) // in use again, though it reserves no more than there is
			require.NoError(t, j.Commit(b, true))
			require.Equal(t, 6, j.Len())
			all := entries(j)
			j.unknown = true
			require.NoError(t, j.Commit(nil, true))

			var kept []Index
			want := state{}
			for i, e := range j.Entries() {
				kept = append(kept, i)
				want[e.Identity] = e
				require.Equal(t, all[e.Identity], e)
				found, ok := j.Lookup(e.Identity)
				require.True(t, ok)
				require.Equal(t, i, found)
			}
			require.Equal(t, c.kept, kept)
			require.Equal(t, len(kept), j.Len())
			if len(kept) < 6 {
				b.Accept(3, 5)
				b.Accept(1, 1)
				require.ErrorIs(t, j.Commit(b, true), ErrNoEntry)
				b.Reset()
				_, ok := j.Entry(1)
				require.False(t, ok)
			}
			// Updates go to the right entries, and a new one gets a place of its own.
			fresh := Entry{Identity: identity(1000), Highest: 4}
			b.Add(fresh)
			b.Reserve(6, 1<<30)
			require.NoError(t, j.Commit(b, true))
			i, ok := j.Lookup(fresh.Identity)
			require.True(t, ok)
			require.Equal(t, Index(7), i)
			six, _ := j.Entry(6)
			require.EqualValues(t, 1<<30, six.Reserved)
			want[six.Identity], want[fresh.Identity] = six, fresh
			d.kill()
			again, err := Open("state", o)
			require.NoError(t, err)
			require.Equal(t, want, entries(again))
		})
	}
}

// TestSameHash: identities that share a hash are told apart, and each can go.
func TestSameHash(t *testing.T) {
	for gone := range Index(4) {
		tab := newTable(0)
		tab.hash = func(*Identity) uint64 { return 1 }
		ids := []Identity{identity(0), identity(1), identity(2), identity(3)}
		for i := range ids {
			tab.add(&slot{id: ids[i]})
		}
		require.Len(t, tab.first, 1)
		tab.forget(gone + 1)
		for i := range ids {
			if Index(i) == gone {
				require.Zero(t, tab.find(&ids[i]))
			} else {
				require.Equal(t, Index(i+1), tab.find(&ids[i]))
			}
		}
	}
}
