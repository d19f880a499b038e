package sa_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// clock is the time of a DB under test.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Unix(1_700_000_000, 0)} }

func (c *clock) db(o sa.Options) *sa.DB {
	o.Now = func() time.Time { return c.now }
	return sa.NewDB(o)
}

func (c *clock) ns() int64 { return c.now.UnixNano() }

func kinds(events []sa.Event) (list []sa.EventKind) {
	for _, e := range events {
		list = append(list, e.Kind)
	}
	return list
}

// advance ticks every second and gives the kinds of events with their second.
func (c *clock) advance(db *sa.DB, seconds int) (log []string) {
	for range seconds {
		c.now = c.now.Add(time.Second)
		for _, e := range db.Tick(c.now) {
			log = append(log, fmt.Sprintf("%d %v", c.now.Unix()-1_700_000_000, e.Kind))
		}
	}
	return log
}

func TestLifetimesInSeconds(t *testing.T) {
	s := time.Second
	tests := []struct {
		name   string
		limits func(*sa.Limits)
		use    int // second of the first packet, 0: never
		want   []string
	}{
		{"none", func(*sa.Limits) {}, 2, nil},
		{"since added", func(m *sa.Limits) { m.SoftAdd, m.HardAdd = 3*s, 6*s }, 0, []string{"3 soft limit", "6 hard limit"}},
		{"hard only", func(m *sa.Limits) { m.HardAdd = 4 * s }, 0, []string{"4 hard limit"}},
		{"soft only", func(m *sa.Limits) { m.SoftAdd = 4 * s }, 0, []string{"4 soft limit"}},
		{"hard before soft", func(m *sa.Limits) { m.SoftAdd, m.HardAdd = 8*s, 4*s }, 0, []string{"4 hard limit"}},
		{"since use, never used", func(m *sa.Limits) { m.SoftUse, m.HardUse = 3*s, 6*s }, 0, nil},
		{"since use", func(m *sa.Limits) { m.SoftUse, m.HardUse = 3*s, 6*s }, 2, []string{"5 soft limit", "8 hard limit"}},
		{"the earlier of both", func(m *sa.Limits) { m.HardAdd, m.HardUse = 9*s, 3*s }, 2, []string{"5 hard limit"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			db := c.db(sa.Options{})
			p := state(hostA, hostB, 0x1000, 1)
			p.Dir = sa.DirOut
			tt.limits(&p.Limits)
			x := addState(t, db, p)
			var log []string
			for second := 1; second <= 12; second++ {
				if second-1 == tt.use && tt.use > 0 {
					x.ReserveOut(1, 1, c.ns())
				}
				log = append(log, c.advance(db, 1)...)
			}
			require.Equal(t, tt.want, log)
		})
	}
}

// TestHardExpiry follows one SA through its end: the packets after it are
// counted as expired, listings do not have it, and its ID is free.
func TestHardExpiry(t *testing.T) {
	c := newClock()
	db := c.db(sa.Options{MaxSAs: 1})
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir, p.Limits.HardPackets, p.Limits.SoftPackets = sa.DirOut, 3, 2
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddState(p))
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 1)))
	})
	f := flow(hostA, hostB, 6, 1, 2)
	s := inbound(db, p)
	for i := range 3 {
		require.Equal(t, sa.Protect, db.Table().Outbound(f).Verdict)
		_, n, _ := s.ReserveOut(1, 10, c.ns())
		require.Equal(t, 1, n)
		require.Equal(t, []sa.LifeState{sa.Usable, sa.Dying, sa.ExpiredState}[i], s.State())
	}
	d := db.Table().Outbound(f)
	require.Equal(t, sa.Expired, d.Verdict)
	require.Same(t, s, d.SA)
	require.Same(t, s, inbound(db, p), "still in lookups")
	_, why := s.CheckIn(1)
	require.Equal(t, sa.StateExpired, why)
	require.Zero(t, db.Count())

	events := db.Tick(c.now)
	require.ElementsMatch(t, []sa.EventKind{sa.EventSoft, sa.EventHard}, kinds(events))
	require.Same(t, s, events[0].SA)
	require.Contains(t, events[0].Text, "SPI 0x00001000 to 14.0.0.70")
	require.Empty(t, db.Tick(c.now))
	db.Release([]*sa.SA{s})
	require.Equal(t, make([]byte, 20), s.Params().Key.Bytes())
	require.EqualValues(t, 3, s.LastSequence())

	tx := db.Begin()
	require.Empty(t, spis(tx))
	all := 0
	for range tx.AllStates() {
		all++
	}
	require.Equal(t, 1, all)
	require.NoError(t, tx.AddState(p), "the ID is free, and so is the one place")
	change, err := tx.Prepare()
	require.NoError(t, err)
	require.Equal(t, []*sa.SA{s}, change.Removed)
	require.NoError(t, tx.Commit())
	db.Release(change.Removed)
	require.Equal(t, sa.Protect, db.Table().Outbound(f).Verdict)
	first, _, _ := inbound(db, p).ReserveOut(1, 1, 1)
	require.EqualValues(t, 4, first)
}

// TestNewestUsable: several SAs of one pair coexist.
func TestNewestUsable(t *testing.T) {
	c := newClock()
	db := c.db(sa.Options{})
	f := flow(hostA, hostB, 6, 1, 2)
	add := func(spi uint32, change func(*sa.Params)) *sa.SA {
		p := state(hostA, hostB, spi, 1)
		change(p)
		return addState(t, db, p)
	}
	apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 1))) })
	sends := func() *sa.SA { return db.Table().Outbound(f).SA }
	old := add(0x1000, func(*sa.Params) {})
	require.Same(t, old, sends())
	limited := add(0x1001, func(p *sa.Params) { p.Limits.SoftPackets, p.Limits.HardPackets = 1, 2 })
	require.Same(t, limited, sends(), "the newest")
	limited.ReserveOut(1, 1, 1)
	require.Same(t, old, sends(), "not the dying one")
	apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.DeleteState(old.ID(), old.Params().Src)) })
	require.Same(t, limited, sends(), "the dying one if there is no other")
	newest := add(0x1002, func(p *sa.Params) { p.Sel = &sa.Selector{Src: prefix(hostA), Dst: prefix(hostB), Proto: 17} })
	require.Same(t, limited, sends(), "the newest does not carry TCP")
	f.Proto = 17
	require.Same(t, newest, sends())
	add(0x1003, func(p *sa.Params) { p.Dir = sa.DirIn })
	add(0x1004, func(p *sa.Params) { p.ReqID = 2 })
	require.Same(t, newest, sends())
	f.Proto = 6
	limited.ReserveOut(1, 1, 1)
	d := db.Table().Outbound(f)
	require.Equal(t, sa.Expired, d.Verdict)
	require.Same(t, limited, d.SA)
}

func TestAcquire(t *testing.T) {
	c := newClock()
	db := c.db(sa.Options{})
	use := policy(sa.DirOut, hostB+"/32", hostA+"/32", 1)
	use.Templates[0].Level = sa.LevelUse
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 1)))
		require.NoError(t, tx.AddPolicy(use))
	})
	require.Equal(t, sa.Pass, db.Table().Outbound(flow(hostB, hostA, 6, 1, 2)).Verdict, "level use")
	require.Equal(t, sa.Pass, db.Table().InboundClear(flow(hostB, hostA, 6, 1, 2)).Verdict)
	var log []string
	for range 25 {
		for range 3 {
			require.Equal(t, sa.NoState, db.Table().Outbound(flow(hostA, hostB, 6, 1, 2)).Verdict)
		}
		log = append(log, c.advance(db, 1)...)
	}
	require.Equal(t, []string{"1 acquire", "12 acquire", "23 acquire"}, log)
	db.Table().Outbound(flow(hostA, hostB, 6, 1, 2))
	c.now = c.now.Add(time.Minute)
	db.Tick(c.now)
	db.Table().Outbound(flow(hostA, hostB, 6, 1, 2))
	events := db.Tick(c.now)
	require.Len(t, events, 1)
	require.Contains(t, events[0].Text, "no SA from 14.0.0.52 to 14.0.0.70")
	require.Equal(t, *flow(hostA, hostB, 6, 1, 2), events[0].Flow)
}

func TestSequenceEvents(t *testing.T) {
	c := newClock()
	db := c.db(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir, p.ReplayOSeq = sa.DirOut, (1<<32-1)/10*9-5
	s := addState(t, db, p)
	s.ReserveOut(5, 1, 1)
	require.Empty(t, db.Tick(c.now))
	s.ReserveOut(6, 1, 1)
	s.ReserveOut(5, 1, 1)
	require.Equal(t, []sa.EventKind{sa.EventSequenceLow}, kinds(db.Tick(c.now)))
	s.ReserveOut(5, 1, 1)
	require.Empty(t, db.Tick(c.now), "once")
	s.ReserveOut(1<<32, 1, 1)
	s.ReserveOut(5, 1, 1)
	require.Equal(t, []sa.EventKind{sa.EventSequenceExhausted}, kinds(db.Tick(c.now)))
	s.ReserveOut(5, 1, 1)
	require.Empty(t, db.Tick(c.now), "once")
}

// TestTombsAreBounded expires many SAs: lookups keep some of them only.
func TestTombsAreBounded(t *testing.T) {
	c := newClock()
	db := c.db(sa.Options{})
	const n = 3000
	apply(t, db, func(tx *sa.Tx) {
		for i := range uint32(n) {
			p := state(hostA, hostB, 0x1000+i, 1)
			p.Limits.HardAdd = time.Second
			require.NoError(t, tx.AddState(p))
		}
	})
	require.Len(t, c.advance(db, 1), n)
	change := apply(t, db, func(*sa.Tx) {})
	require.Len(t, change.Removed, n-1024)
	require.Empty(t, apply(t, db, func(*sa.Tx) {}).Removed)
	apply(t, db, func(tx *sa.Tx) { tx.FlushStates() })
	require.Nil(t, inbound(db, state(hostA, hostB, 0x1000+n-1, 1)))
}

// TestLifetimesAfterUpdate shortens and lengthens lifetimes of a running SA.
func TestLifetimesAfterUpdate(t *testing.T) {
	c := newClock()
	db := c.db(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	p.Limits.SoftAdd, p.Limits.HardAdd = 3*time.Second, 5*time.Second
	addState(t, db, p)
	update := func(change func(*sa.Params)) {
		q := *p
		change(&q)
		apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.UpdateState(&q)) })
		p = &q
	}
	update(func(p *sa.Params) { p.Limits.SoftAdd, p.Limits.HardAdd = 30*time.Second, 50*time.Second })
	require.Empty(t, c.advance(db, 10))
	update(func(p *sa.Params) { p.Limits.SoftAdd = 12 * time.Second })
	update(func(p *sa.Params) { p.ReqID = 2 }) // another object, the same life
	require.Equal(t, []string{"12 soft limit"}, c.advance(db, 4))
	update(func(p *sa.Params) { p.Limits.HardAdd = 15 * time.Second })
	require.Equal(t, []string{"15 hard limit"}, c.advance(db, 4))

	addState(t, db, state(hostA, hostB, 0x1000, 1))
	apply(t, db, func(tx *sa.Tx) { tx.FlushStates() })
	require.Empty(t, c.advance(db, 60))
}
