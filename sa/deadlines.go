package sa

import (
	"container/heap"
	"time"
)

// deadlines is a heap of the live states in which a lifetime runs, the next to
// end first.
type deadlines []*live

// Len implements heap.Interface.
func (d deadlines) Len() int { return len(d) }

// Less implements heap.Interface.
func (d deadlines) Less(i, j int) bool { return d[i].due < d[j].due }

// Swap implements heap.Interface.
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].dueAt, d[j].dueAt = i+1, j+1
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	l := x.(*live)
	*d = append(*d, l)
	l.dueAt = len(*d)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	l := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	l.dueAt = 0
	return l
}

// schedule notes when the next lifetime of l ends, if any runs.
func (d *deadlines) schedule(l *live) {
	soft, hard := l.deadlines(&l.sa.Params().Limits)
	if l.state.Load() != stateUsable {
		soft = time.Time{}
	}
	at := soft
	if at.IsZero() || !hard.IsZero() && hard.Before(at) {
		at = hard
	}
	switch {
	case at.IsZero() || l.state.Load() == stateExpired:
		d.drop(l)
	case l.dueAt > 0:
		l.due = at.UnixNano()
		heap.Fix(d, l.dueAt-1)
	default:
		l.due = at.UnixNano()
		heap.Push(d, l)
	}
}

// drop forgets l.
func (d *deadlines) drop(l *live) {
	if l.dueAt > 0 {
		heap.Remove(d, l.dueAt-1)
	}
}

// next takes out one live state whose time has come, nil if there is none.
func (d *deadlines) next(now time.Time) *live {
	if len(*d) == 0 || now.UnixNano() < (*d)[0].due {
		return nil
	}
	return heap.Pop(d).(*live)
}

// deadlines are the earliest times of the soft and hard lifetimes, zero if none
// is running. Lifetimes since first use start with it.
func (l *live) deadlines(m *Limits) (soft, hard time.Time) {
	earliest := func(add, use time.Duration) (at time.Time) {
		if add > 0 {
			at = l.added.Add(add)
		}
		if first := l.firstUse.Load(); use > 0 && first != 0 {
			if t := unixTime(first).Add(use); at.IsZero() || t.Before(at) {
				at = t
			}
		}
		return at
	}
	return earliest(m.SoftAdd, m.SoftUse), earliest(m.HardAdd, m.HardUse)
}
