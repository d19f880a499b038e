package ipsec

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// TestSentLately: a number counts for one to two believedTimes.
func TestSentLately(t *testing.T) {
	r := newTurner(t, turnState(t, sa.DirOut, false))
	g := r.w.gateway
	var s *session
	for i := range g.sessions {
		if g.sessions[i].Load() != nil {
			s = g.sessions[i].Load()
		}
	}
	require.False(t, s.sentLately(0))
	require.False(t, s.sentLately(1), "not sent yet")
	s.sa.ReserveOut(10, 1, 1)
	require.True(t, s.sentLately(1))
	require.True(t, s.sentLately(10))
	require.False(t, s.sentLately(11))
	require.False(t, s.sentLately(0))
	g.agePathMTUs()
	s.sa.ReserveOut(5, 1, 1)
	require.True(t, s.sentLately(1))
	g.agePathMTUs()
	require.False(t, s.sentLately(10))
	require.True(t, s.sentLately(11))
	require.True(t, s.sentLately(15))
	g.agePathMTUs()
	require.False(t, s.sentLately(15), "a silent SA believes nothing")
}

func TestPathMTUEnds(t *testing.T) {
	p := &pathMTU{least: 600}
	now := int64(1)
	require.Equal(t, 1500, p.limit(1500, now))
	require.False(t, p.learn(1500, 1500, now), "no news")
	require.True(t, p.learn(1400, 1500, now))
	require.Equal(t, 1400, p.limit(1500, now))
	require.Equal(t, 1300, p.limit(1300, now), "the link has less")
	later := now + int64(pathMTULife)
	require.False(t, p.learn(1400, 1500, later-1), "no news, but it goes on")
	require.Equal(t, 1400, p.limit(1500, later))
	require.False(t, p.learn(1450, 1500, later), "not raised")
	require.Equal(t, 1400, p.limit(1500, later))
	end := later - 1 + int64(pathMTULife)
	require.Equal(t, 1500, p.limit(1500, end))
	require.True(t, p.learn(1450, 1500, end), "may be higher now")
	require.True(t, p.learn(68, 1500, end))
	require.Equal(t, 600, p.limit(1500, end))
	require.Equal(t, 10*time.Minute, pathMTULife)
}

func TestAnswerLimiter(t *testing.T) {
	var l answerLimiter
	flow := func(n uint64) *sa.Flow { return &sa.Flow{Src: sa.Addr{Lo: n}, Dst: sa.Addr{Lo: 7}} }
	count := func(now int64, flows, each int) (n int) {
		for i := range flows {
			for range each {
				if l.allow(flow(uint64(i)*7919), now) {
					n++
				}
			}
		}
		return n
	}
	now := int64(1_800_000_000) * 1e9
	require.Equal(t, pairAnswersAtOnce, count(now, 1, 100), "one pair")
	require.Equal(t, answersAtOnce-pairAnswersAtOnce, count(now, 400, 100), "all of them")
	require.Zero(t, count(now, 400, 1))
	require.Equal(t, 1, count(now+1e6, 400, 1), "1000 a second")
	now += 3600 * 1e9
	require.Equal(t, pairAnswersAtOnce, count(now, 1, 100), "no more than that after an hour")
	require.Equal(t, 1, count(now+1e8, 1, 100), "10 a second")
}

func TestHandoff(t *testing.T) {
	r := newTurner(t, turnState(t, sa.DirOut, false))
	var h handoff
	require.Nil(t, h.take())
	for round := range 3 {
		n := 0
		for m := r.pool.Alloc(); ; m = r.pool.Alloc() {
			if !h.put(m) {
				m.Free()
				break
			}
			n++
		}
		require.Equal(t, 64, n, round)
		for m := h.take(); m != nil; m = h.take() {
			m.Free()
			n--
		}
		require.Zero(t, n)
	}
}
