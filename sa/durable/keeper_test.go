package durable

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/sa"
	"espgw/sa/journal"
)

// faulty is a journal that refuses while err is set, and can lie.
type faulty struct {
	store
	err  error
	lies bool // says that it has written, and has not
}

func (f *faulty) Commit(b *journal.Batch, sync bool) error {
	switch {
	case f.err != nil:
		return f.err
	case f.lies && b.Len() > 0:
		b.Reset()
		return nil
	}
	return f.store.Commit(b, sync)
}

// run is one life of a gateway's tables over a state folder.
type run struct {
	t     *testing.T
	dir   string
	k     *Keeper
	store *faulty
	db    *sa.DB
	log   bytes.Buffer
	clock time.Time
}

func begin(t *testing.T, dir string) *run {
	t.Helper()
	r := &run{t: t, dir: dir, clock: time.Unix(1_800_000_000, 0)}
	k, err := Open(dir, slog.New(slog.NewTextHandler(&r.log, nil)))
	require.NoError(t, err)
	r.store = &faulty{store: k.store}
	k.store, k.now = r.store, func() time.Time { return r.clock }
	r.k, r.db = k, sa.NewDB(sa.Options{Durable: k.Durable()})
	k.Attach(r.db)
	return r
}

// kill ends the run as a signal would: nothing more is written.
func (r *run) kill() { require.NoError(r.t, r.store.Close()) }

func (r *run) stop() { require.NoError(r.t, r.k.Close()) }

// tick lets a Period pass.
func (r *run) tick() {
	r.clock = r.clock.Add(Period)
	r.k.serve(true)
}

// change does what a gateway does for a change.
func (r *run) change(f func(tx *sa.Tx)) *sa.Change {
	r.t.Helper()
	tx := r.db.Begin()
	defer tx.Rollback()
	f(tx)
	c, err := tx.Prepare()
	require.NoError(r.t, err)
	r.k.Admit(c)
	require.NoError(r.t, tx.Commit())
	r.db.Release(c.Removed)
	r.k.Removed(c)
	return c
}

func (r *run) add(p *sa.Params) *sa.SA {
	r.t.Helper()
	return r.change(func(tx *sa.Tx) { require.NoError(r.t, tx.AddState(p)) }).Added[0]
}

func params(dir sa.Direction, spi uint32, key byte) *sa.Params {
	return &sa.Params{
		ID:  sa.ID{Dst: netip.MustParseAddr("14.0.0.70"), Proto: sa.ProtoESP, SPI: spi},
		Src: netip.MustParseAddr("14.0.0.52"), Dir: dir, Mode: sa.ModeTransport,
		Algorithm: sa.AlgAESGCM, ICVBits: 128, Key: sa.NewKey(bytes.Repeat([]byte{key}, 20)), Limits: sa.Unlimited(),
	}
}

// send sends n packets in runs and returns the numbers.
func send(t *testing.T, s *sa.SA, n int) (numbers []uint64) {
	t.Helper()
	for len(numbers) < n {
		first, got, why := s.ReserveOut(min(32, n-len(numbers)), 1, 1)
		if got == 0 {
			require.Fail(t, "refused", "%v after %d", why, len(numbers))
		}
		for i := range got {
			numbers = append(numbers, first+uint64(i))
		}
	}
	return numbers
}

func TestNothingComesTwice(t *testing.T) {
	dir, rng := filepath.Join(t.TempDir(), "state"), rand.New(rand.NewPCG(1, 2))
	seen := map[[2]uint64]bool{} // constant and number: what a nonce is made of
	for life := range 40 {
		r := begin(t, dir)
		s := r.add(params(sa.DirOut, 0x1000, 1))
		for range rng.IntN(5) {
			for _, n := range send(t, s, rng.IntN(2000)) {
				require.False(t, seen[[2]uint64{s.IVMask(), n}], "life %d: number %d again", life, n)
				seen[[2]uint64{s.IVMask(), n}] = true
			}
			switch rng.IntN(3) {
			case 0:
				r.tick()
			case 1:
				r.change(func(tx *sa.Tx) { tx.FlushStates() })
				s = r.add(params(sa.DirOut, 0x1000, 1))
			}
		}
		if rng.IntN(2) == 0 {
			r.kill()
			continue
		}
		last := s.LastSent()
		r.stop()
		r = begin(t, dir)
		s = r.add(params(sa.DirOut, 0x1000, 1))
		require.Equal(t, last, s.ResumesAfter(), "nothing is left out after a clean stop")
		r.kill()
		// What was granted to that one may have been sent, as far as the next can know.
		r = begin(t, dir)
		s = r.add(params(sa.DirOut, 0x1000, 1))
		require.GreaterOrEqual(t, s.ResumesAfter(), last+minChunk)
		r.stop()
	}
	require.Greater(t, len(seen), 10000)
}

// TestALyingDisk shows that the test above can fail.
func TestALyingDisk(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	var first []uint64
	for range 2 {
		r := begin(t, dir)
		r.store.lies = true
		first = append(first, send(t, r.add(params(sa.DirOut, 0x1000, 1)), 1)...)
		r.kill()
	}
	require.Equal(t, first[0], first[1])
}

func TestReservesMoreForFasterOnes(t *testing.T) {
	r := begin(t, filepath.Join(t.TempDir(), "state"))
	defer r.stop()
	s := r.add(params(sa.DirOut, 0x1000, 1))
	sent := uint64(0)
	for range 30 { // 1 million packets/s
		sent += uint64(len(send(t, s, 100_000)))
		r.tick()
	}
	ahead := s.Kept().Granted() - sent
	require.Greater(t, ahead, uint64(1_900_000), "two seconds are left at least")
	require.LessOrEqual(t, ahead, uint64(4_100_000))
	for range 100 { // slow again
		send(t, s, 50_000)
		r.clock = r.clock.Add(time.Minute)
		r.tick()
	}
	require.LessOrEqual(t, s.Kept().Granted()-s.LastSent(), uint64(minChunk))
}

func accepts(s *sa.SA, seq uint32) bool {
	full, why := s.CheckIn(seq)
	return why == sa.OK && s.CommitIn(full, 1, 1) == sa.OK
}

func TestReplaysAfterARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	r := begin(t, dir)
	s := r.add(params(sa.DirIn, 0x2000, 2))
	for seq := range uint32(500) {
		accepts(s, seq+1)
	}
	r.tick()
	for seq := range uint32(20) {
		require.True(t, accepts(s, 501+seq))
	}
	r.kill()

	r = begin(t, dir)
	s = r.add(params(sa.DirIn, 0x2000, 2))
	for seq := range uint32(500) {
		require.False(t, accepts(s, seq+1), seq+1)
	}
	require.True(t, accepts(s, 501), "accepted since the last write")
	require.True(t, accepts(s, 520))
	r.stop()

	r = begin(t, dir)
	s = r.add(params(sa.DirIn, 0x2000, 2))
	for seq := range uint32(520) {
		require.False(t, accepts(s, seq+1), seq+1)
	}
	require.True(t, accepts(s, 521))
	// Deleted, and a kill before the next tick.
	r.change(func(tx *sa.Tx) { tx.FlushStates() })
	r.kill()
	r = begin(t, dir)
	s = r.add(params(sa.DirIn, 0x2000, 2))
	require.False(t, accepts(s, 521))
	require.True(t, accepts(s, 522))
	r.stop()
}

// TestFullDisk: what is reserved is sent, then nothing; when there is room again
// it goes on by itself. It is said once.
func TestFullDisk(t *testing.T) {
	r := begin(t, filepath.Join(t.TempDir(), "state"))
	s := r.add(params(sa.DirOut, 0x1000, 1))
	in := r.add(params(sa.DirIn, 0x2000, 2))
	r.store.err = errors.New("no space left on device")
	fresh := r.add(params(sa.DirOut, 0x3000, 3))
	_, n, why := fresh.ReserveOut(1, 1, 1)
	require.Equal(t, []any{0, sa.NoReserve}, []any{n, why}, "nothing was ever reserved for it")
	send(t, s, minChunk)
	accepts(in, 9)
	for range 50 {
		r.tick()
		_, n, why = s.ReserveOut(1, 1, 1)
		require.Equal(t, []any{0, sa.NoReserve}, []any{n, why})
	}
	require.Equal(t, 1, strings.Count(r.log.String(), "no space left"), r.log.String())
	r.store.err = nil
	for range retryPeriod/Period + 1 {
		r.tick()
	}
	send(t, s, 10)
	send(t, fresh, 10)
	require.Contains(t, r.log.String(), "again")
	r.kill()
	r = begin(t, r.dir)
	require.False(t, accepts(r.add(params(sa.DirIn, 0x2000, 2)), 9), "was written once there was room")
	r.stop()
}

// TestFullDiskAtStop: the next run goes on above what was reserved.
func TestFullDiskAtStop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	r := begin(t, dir)
	send(t, r.add(params(sa.DirOut, 0x1000, 1)), 100)
	r.store.err = errors.New("no space left on device")
	require.ErrorContains(t, r.k.Close(), "no space left")
	r = begin(t, dir)
	require.EqualValues(t, minChunk, r.add(params(sa.DirOut, 0x1000, 1)).ResumesAfter())
	r.stop()
}

// TestNeverGranted: a run that could reserve nothing and stops cleanly must not
// write that nothing was sent.
func TestNeverGranted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	r := begin(t, dir)
	send(t, r.add(params(sa.DirOut, 0x1000, 1)), 777)
	r.stop()
	r = begin(t, dir)
	r.store.err = errors.New("input/output error")
	r.add(params(sa.DirOut, 0x1000, 1))
	r.store.err = nil
	r.stop()
	r = begin(t, dir)
	require.EqualValues(t, 777, r.add(params(sa.DirOut, 0x1000, 1)).ResumesAfter())
	r.stop()
}

// TestStopOfReplacedOnes: an SA that was deleted and added again while nothing
// could be written has two rows of numbers; the last one counts.
func TestStopOfReplacedOnes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	r := begin(t, dir)
	send(t, r.add(params(sa.DirOut, 0x1000, 1)), 100)
	for range 10 {
		r.store.err = errors.New("no space left on device")
		r.change(func(tx *sa.Tx) { tx.FlushStates() })
		r.store.err = nil
		send(t, r.add(params(sa.DirOut, 0x1000, 1)), 100)
	}
	r.store.err = errors.New("no space left on device")
	r.change(func(tx *sa.Tx) { tx.FlushStates() })
	s := r.add(params(sa.DirOut, 0x1000, 1))
	r.store.err = nil
	r.k.serve(true)
	require.Len(t, r.k.numbers, 2, "the journal is not asked again before a second has passed")
	require.EqualValues(t, 1100, s.ResumesAfter())
	r.stop()
	r = begin(t, dir)
	require.EqualValues(t, 1100, r.add(params(sa.DirOut, 0x1000, 1)).ResumesAfter())
	r.stop()
}

func TestDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	r := begin(t, dir)
	send(t, r.add(params(sa.DirOut, 0x1000, 1)), 100)
	r.stop()
	path := filepath.Join(dir, "journal")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(path, data, 0o600))

	r = begin(t, dir)
	require.ErrorContains(t, r.k.Damage(), "fresh key")
	s := r.add(params(sa.DirOut, 0x1000, 1))
	for range 20 {
		_, n, why := s.ReserveOut(1, 1, 1)
		require.Equal(t, []any{0, sa.NoReserve}, []any{n, why})
		r.tick()
	}
	r.change(func(tx *sa.Tx) { tx.FlushStates() })
	require.Empty(t, r.k.numbers)
	r.stop()
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, data, after, "left as it is, for whoever looks into it")
}

func TestRunServes(t *testing.T) {
	r := begin(t, filepath.Join(t.TempDir(), "state"))
	r.k.now = time.Now
	s := r.add(params(sa.DirOut, 0x1000, 1))
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() { r.k.Run(quit); close(ended) }()
	for s.LastSent() < 4*minChunk {
		s.ReserveOut(32, 1, 1)
	}
	close(quit)
	<-ended
	r.stop()
}
