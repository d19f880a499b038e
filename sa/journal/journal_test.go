package journal

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func identity(n int) Identity {
	id := Identity{Mask: uint64(n) << 32, SPI: uint32(n), V6: n%2 == 1, ESN: n%3 == 1}
	id.Print[0], id.Src[3], id.Dst[15] = byte(n), byte(n>>8), byte(n)
	return id
}

func folderFor(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "lan") }

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(dir, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

func entries(j *Journal) map[Identity]Entry {
	all := map[Identity]Entry{}
	for _, e := range j.Entries() {
		all[e.Identity] = e
	}
	return all
}

func TestCommitAndOpenAgain(t *testing.T) {
	dir := folderFor(t)
	j := open(t, dir)
	secret := j.Secret()
	require.NotZero(t, secret)
	var b Batch
	b.Add(Entry{Identity: identity(1), Reserved: 4096})
	b.Add(Entry{Identity: identity(2), Highest: 5})
	require.Equal(t, 2, b.Len())
	require.NoError(t, j.Commit(&b, true))
	require.Zero(t, b.Len())
	one, ok := j.Lookup(identity(1))
	require.True(t, ok)
	two, ok := j.Lookup(identity(2))
	require.True(t, ok)
	_, ok = j.Lookup(identity(3))
	require.False(t, ok)
	gone := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	b.Settle(one, 17)
	b.Reserve(one, 20)
	b.Accept(two, 9)
	b.Accept(two, 8)
	b.Remove(two, gone)
	require.NoError(t, j.Commit(&b, true))
	want := map[Identity]Entry{
		identity(1): {Identity: identity(1), Reserved: 20},
		identity(2): {Identity: identity(2), Highest: 9, Removed: gone},
	}
	require.Equal(t, want, entries(j))
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Commit(&b, true), ErrClosed)

	j = open(t, dir)
	require.Equal(t, secret, j.Secret())
	require.Equal(t, want, entries(j))
	require.Equal(t, 2, j.Len())
}
