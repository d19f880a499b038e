package journal

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRefusedBatch: a batch with a mistake anywhere has no effect, in memory or on
// disk, is left to the caller, and what follows goes to the right entries.
func TestRefusedBatch(t *testing.T) {
	for _, c := range []struct {
		name    string
		mistake func(b *Batch)
		is      error
	}{
		{"there already", func(b *Batch) { b.Add(Entry{Identity: identity(0)}) }, ErrExists},
		{"added twice", func(b *Batch) { b.Add(Entry{Identity: identity(5)}) }, ErrExists},
		{"no index", func(b *Batch) { b.Reserve(0, 1) }, ErrNoEntry},
		{"index not given", func(b *Batch) { b.Settle(9, 1) }, ErrNoEntry},
		{"index of an entry of this batch", func(b *Batch) { b.Remove(3, time.Now()) }, ErrNoEntry},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDisk()
			o := Options{fileSystem: d}
			j := fill(t, o, 2)
			before, file := entries(j), string(d.names[fileName].data)
			b := &Batch{}
			b.Add(Entry{Identity: identity(5)})
			b.Add(Entry{Identity: identity(6)})
			b.Reserve(1, 100)
			b.Accept(2, 200)
			b.Accept(1, 300)
			b.Remove(1, time.Unix(5, 0))
			c.mistake(b)
			calls, n := d.calls, b.Len()
			require.ErrorIs(t, j.Commit(b, true), c.is)
			require.Equal(t, n, b.Len())
			require.Equal(t, calls, d.calls)
			require.Equal(t, before, entries(j))
			require.Equal(t, file, string(d.names[fileName].data))
			_, ok := j.Lookup(identity(6))
			require.False(t, ok)

			b.Reset()
			b.Add(Entry{Identity: identity(7)})
			require.NoError(t, j.Commit(b, true))
			i, _ := j.Lookup(identity(7))
			b.Reserve(i, 7)
			require.NoError(t, j.Commit(b, true))
			before[identity(7)] = Entry{Identity: identity(7), Reserved: 7}
			d.kill()
			again, err := Open("state", o)
			require.NoError(t, err)
			require.Equal(t, before, entries(again))
		})
	}
}

// TestCost: a Commit is one write, and one fdatasync if there is anything to sync;
// only the first after Open is more.
func TestCost(t *testing.T) {
	d := newDisk()
	j := fill(t, Options{fileSystem: d}, 10)
	cost := func(sync bool, updates func(b *Batch)) int {
		b, before := &Batch{}, d.calls
		updates(b)
		require.NoError(t, j.Commit(b, sync))
		require.Zero(t, b.Len())
		return d.calls - before
	}
	some := func(b *Batch) {
		for i := range Index(10) {
			b.Accept(i+1, uint64(d.calls)+100)
		}
	}
	none := func(b *Batch) { b.Accept(1, 0) }
	require.Equal(t, 2, cost(true, some))
	require.Equal(t, 0, cost(true, none))
	require.Equal(t, 1, cost(false, some))
	require.Equal(t, 1, cost(true, none), "what was written before without sync")
	require.Equal(t, 0, cost(false, none))

	d.kill()
	j, err := Open("state", Options{fileSystem: d})
	require.NoError(t, err)
	b, renames := &Batch{}, d.renames
	for n := range uint64(3) {
		b.Reserve(1, 1<<40+n)
		before := d.calls
		require.NoError(t, j.Commit(b, true))
		require.Equal(t, renames+1, d.renames)
		require.Equal(t, n > 0, d.calls-before == 2)
	}
}

// TestSettleBehindReserve: the order within a batch counts.
func TestSettleBehindReserve(t *testing.T) {
	j := fill(t, Options{fileSystem: newDisk()}, 1)
	b := &Batch{}
	b.Reserve(1, 100)
	b.Settle(1, 40)
	b.Reserve(1, 50)
	require.NoError(t, j.Commit(b, true))
	e, _ := j.Entry(1)
	require.EqualValues(t, 50, e.Reserved)
	c, bad := read(j.fileSystem.(*disk).names[fileName].data)
	require.Nil(t, bad)
	require.EqualValues(t, 50, c.table.slots[0].reserved)
}

// TestRemovedIsNeverInUse: no time, however odd, is read as "in use".
func TestRemovedIsNeverInUse(t *testing.T) {
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Unix(-5, 0), time.Unix(1, 999)} {
		j := fill(t, Options{fileSystem: newDisk()}, 1)
		b := &Batch{}
		b.Remove(1, at)
		require.NoError(t, j.Commit(b, true))
		e, _ := j.Entry(1)
		require.Equal(t, time.Unix(1, 0).UTC(), e.Removed)
	}
}

func TestPIDOfAnEarlierHolder(t *testing.T) {
	dir := folderFor(t)
	require.NoError(t, open(t, dir).Close())
	require.NoError(t, os.WriteFile(dir+"/lock", []byte("12345678901\n"), 0o600))
	open(t, dir)
	_, err := Open(dir, Options{})
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "in use by process "+strconv.Itoa(os.Getpid()))
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	j := fill(t, Options{fileSystem: newDisk(), limits: limits{length: 5000, entries: 10}}, 20)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			b := &Batch{}
			for n := range 100 {
				b.Add(Entry{Identity: identity(1000 + worker*1000 + n)})
				b.Reserve(Index(worker+1), uint64(1000+n))
				if err := j.Commit(b, n%2 == 0); err != nil {
					t.Error(err)
				}
				for i, e := range j.Entries() {
					if found, ok := j.Lookup(e.Identity); !ok || found != i {
						t.Error(errors.New("an entry is not where it was"))
					}
					if i > 5 {
						break
					}
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, 420, j.Len())
	for i := range Index(4) {
		e, _ := j.Entry(i + 1)
		require.EqualValues(t, 1099, e.Reserved)
	}
}
