package journal

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// full is a journal of 100,000 entries in a real folder.
func full(b *testing.B, dir string) *Journal {
	folder, err := openFolder(dir)
	require.NoError(b, err)
	j := fill(b, Options{fileSystem: folder}, 100000)
	b.Cleanup(func() { require.NoError(b, j.Close()) })
	return j
}

// BenchmarkAccept10000 is a tick of 10,000 SAs: a Commit without sync.
func BenchmarkAccept10000(b *testing.B) {
	j := full(b, filepath.Join(b.TempDir(), "state"))
	batch, n := &Batch{}, uint64(0)
	for b.Loop() {
		n++
		for i := range Index(10000) {
			batch.Accept(i+1, n)
		}
		if err := j.Commit(batch, false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReserve is a Commit with sync of one SA.
func BenchmarkReserve(b *testing.B) {
	j := full(b, filepath.Join(b.TempDir(), "state"))
	batch, n := &Batch{}, uint64(1)<<32
	for b.Loop() {
		n++
		batch.Reserve(1, n)
		if err := j.Commit(batch, true); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen100000 opens and closes; octets/entry is the heap that it holds.
func BenchmarkOpen100000(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "state")
	require.NoError(b, full(b, dir).Close())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	j, err := Open(dir, Options{})
	require.NoError(b, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.NoError(b, j.Close())
	for b.Loop() {
		j, err := Open(dir, Options{})
		if err != nil || j.Len() != 100000 || j.Close() != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/100000, "octets/entry")
}

// BenchmarkRewrite100000 is what the first Commit after Open costs, and now and then
// a later one.
func BenchmarkRewrite100000(b *testing.B) {
	j := full(b, filepath.Join(b.TempDir(), "state"))
	for b.Loop() {
		j.unknown = true
		if err := j.Commit(nil, true); err != nil {
			b.Fatal(err)
		}
	}
}
