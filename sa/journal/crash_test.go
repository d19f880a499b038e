package journal

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type state = map[Identity]Entry

// rig drives a journal on a disk that fails, beside a map that says what it holds.
type rig struct {
	t    *testing.T
	r    *rand.Rand
	disk *disk
	j    *Journal
	now  state
	// possible is what may be found after a loss of power: what was last committed
	// with sync, and each state and failed attempt since. Of these, those from killed
	// on may be found after a kill.
	possible []state
	killed   int
}

// open opens the journal; planted failures may hit it.
func (g *rig) open() {
	for {
		j, err := Open("state", Options{fileSystem: g.disk, limits: limits{length: 1000, entries: 1 << 20}})
		if err == nil {
			g.j = j
			return
		}
		require.ErrorIs(g.t, err, errPlanted)
		require.Nil(g.t, j)
	}
}

// batch makes a batch and what the state would be after it.
func (g *rig) batch() (*Batch, state) {
	b, after := &Batch{}, maps.Clone(g.now)
	if len(after) == 0 || len(after) < 4 && g.r.IntN(3) == 0 {
		e := Entry{Identity: identity(len(after)), Reserved: g.r.Uint64N(100), Highest: g.r.Uint64N(100)}
		b.Add(e)
		after[e.Identity] = e
	}
	for range g.r.IntN(6) {
		if len(g.now) == 0 {
			break
		}
		id := identity(g.r.IntN(len(g.now)))
		i, ok := g.j.Lookup(id)
		require.True(g.t, ok)
		after[id] = updateBoth(g.r, b, i, after[id])
	}
	return b, after
}

// updateBoth puts one random update into b and carries it out on e.
func updateBoth(r *rand.Rand, b *Batch, i Index, e Entry) Entry {
	n := r.Uint64N(1000)
	switch r.IntN(5) {
	case 0:
		b.Reserve(i, n)
		e.Reserved, e.Removed = max(e.Reserved, n), time.Time{}
	case 1:
		b.Settle(i, n)
		e.Reserved = n
	case 2:
		b.Accept(i, n)
		e.Highest, e.Removed = max(e.Highest, n), time.Time{}
	case 3:
		e.Removed = time.Unix(int64(n+1), 0).UTC()
		b.Remove(i, e.Removed)
	case 4:
		b.Restore(i)
		e.Removed = time.Time{}
	}
	return e
}

// step commits a batch, up to as many times as it may be tried, and checks what
// readers see. It reports whether a try succeeded.
func (g *rig) step(tries int) bool {
	b, after := g.batch()
	sync := g.r.IntN(2) == 0
	for ; ; tries-- {
		if tries == 0 {
			return false
		}
		err := g.j.Commit(b, sync)
		if err == nil {
			break
		}
		require.ErrorIs(g.t, err, errPlanted)
		g.holds(g.now)
		g.possible = append(g.possible, after)
	}
	g.now = after
	g.holds(g.now)
	if sync {
		g.possible = nil
	}
	g.killed = len(g.possible)
	g.possible = append(g.possible, after)
	return true
}

// holds compares what readers see. (require.Equal alone would take most of the time.)
func (g *rig) holds(want state) {
	if got := entries(g.j); !maps.Equal(want, got) {
		require.Equal(g.t, want, got)
	}
}

// found opens the journal after an end of any kind and checks what it holds.
func (g *rig) found(power bool) {
	g.open()
	got := entries(g.j)
	from := g.killed
	if power {
		from = 0
	}
	if !slices.ContainsFunc(g.possible[from:], func(s state) bool { return maps.Equal(s, got) }) {
		require.Contains(g.t, g.possible[from:], got)
	}
	g.now = got
	require.NoError(g.t, g.j.Commit(nil, true))
	g.possible, g.killed = []state{got}, 0
}

func newRig(t *testing.T, seed uint64) *rig {
	g := &rig{t: t, r: rand.New(rand.NewPCG(seed, 7)), disk: newDisk(), now: state{}}
	g.possible = []state{g.now}
	return g
}

// end ends the process or the machine and checks what is found then.
func (g *rig) end(how int) {
	switch how {
	case 0:
		g.disk.kill()
	case 1:
		g.disk.loseAllUnsynced()
	case 2:
		g.disk.loseSome(g.r)
	}
	g.found(how != 0)
}

// TestRandomOperations: kills and losses of power at any moment between commits,
// without failures and with many.
func TestRandomOperations(t *testing.T) {
	for seed := range uint64(100) {
		g := newRig(t, seed)
		g.open()
		for range 150 {
			if seed%2 == 1 && g.disk.plan == nil {
				g.disk.plan = func(int) (bool, effect) { return g.r.IntN(15) == 0, effect(g.r.IntN(3)) }
			}
			if !g.step(1+g.r.IntN(4)) || g.r.IntN(5) == 0 {
				g.end(g.r.IntN(3))
			}
		}
		require.NoError(t, g.j.Close())
	}
}

// TestEveryCallFails lets each call to the file system fail, once or from then on,
// and then the process or the machine end: at once, or after it went on for a while.
func TestEveryCallFails(t *testing.T) {
	for end, name := range []string{"kill", "power", "some"} {
		for e := effectNone; e <= effectFull; e++ {
			t.Run(fmt.Sprintf("%s/effect %d", name, e), func(t *testing.T) {
				t.Parallel()
				renames, reached := 0, true
				for n := 1; reached; n++ {
					for more := range 3 {
						g := newRig(t, uint64(n%5))
						g.disk.plan = func(call int) (bool, effect) { return call == n, e }
						reached = g.run(n, more)
						renames = max(renames, g.disk.renames)
						g.end(end)
					}
				}
				require.Greater(t, renames, 2, "rewrites for space, behind that of the start")
			})
		}
	}
}

// run goes on until call n has failed and for some steps more; it reports whether
// there was such a call within 90 steps.
func (g *rig) run(n, more int) bool {
	g.open()
	for range 90 {
		if !g.step(min(more+1, 2)) {
			return true
		}
		if g.disk.calls >= n {
			for range more {
				require.True(g.t, g.step(2))
			}
			return true
		}
	}
	return false
}
