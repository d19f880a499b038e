package silicon

import "time"

// link is the state of the port's link.
type link struct {
	wanted bool // what the other end does
	up     bool
	flaps  time.Time // of the fault: the last change
	// asserted is when the cause was last shown in EICR.
	asserted time.Time
}

const (
	// linksValue is LINKS without the up bit: negotiation is complete, 10 Gbit/s.
	linksValue = 1<<31 | 3<<28
	// causeShown is how long an interrupt's cause stays in EICR when the driver's read,
	// which clears it, cannot be seen.
	causeShown = 50 * time.Millisecond
)

// SetLink has the other end of the wire bring the link up or down.
func (c *Card) SetLink(up bool) { c.link.wanted = up }

// LinkUp says whether the link is up.
func (c *Card) LinkUp() bool { return c.link.up }

func (c *Card) serveLink(now time.Time) {
	l := &c.link
	if every := c.faults.FlapEvery; every > 0 {
		span := every
		if !l.wanted {
			span = FlapDown
		}
		if l.flaps.IsZero() {
			l.flaps = now
		} else if now.Sub(l.flaps) >= span {
			l.wanted, l.flaps = !l.wanted, now
		}
	}
	if !c.watched && !l.asserted.IsZero() && now.Sub(l.asserted) > causeShown {
		l.asserted = time.Time{}
		c.reg.clear(regEICR, eicrLinkChange)
	}
	if l.up == l.wanted {
		return
	}
	c.showLink()
	c.stat.counts.LinkChanges++
	c.reg.set(regEICR, eicrLinkChange)
	l.asserted = now
	c.interrupt()
}

func (c *Card) showLink() {
	c.link.up = c.link.wanted
	v := uint32(linksValue)
	if c.link.up {
		v |= linksUp
	}
	c.reg.store(regLINKS, v)
}
