package ipsec

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"espgw/pmd"
)

// Taking an SA out of a device is the delicate part. What was marked for it and has
// not left yet would be sent in clear text or under another key, and some drivers
// switch a whole direction off when one SA is removed. So a removal is prepared:
// nothing new is marked, the lanes send what they hold, the device gets the time
// that it needs, and only then the session is closed.

// drop says that an SA's session is not to be used any more, and has it removed. No
// worker may reach the place through a table any more, or the place must say
// software already; the quiet point may still be ahead.
func (ip *inlinePort) drop(is *inlineSession) {
	ip.mu.Lock()
	ip.doomed = append(ip.doomed, is)
	ip.unlock()
	ip.gateway.wakeInline()
}

// forget takes a session off the list of those that wait.
func (ip *inlinePort) forget(s *session) {
	ip.mu.Lock()
	delete(ip.waiting, s)
	ip.unlock()
}

// remove closes the sessions that are not used any more. While the link is down
// egress SAs stay: what the device holds leaves when the link comes back.
func (ip *inlinePort) remove() error {
	ip.gateway.restart.Lock()
	defer ip.gateway.restart.Unlock()
	ip.mu.Lock()
	if ip.stopped || len(ip.doomed) == 0 {
		ip.unlock()
		return nil
	}
	batch := slices.DeleteFunc(slices.Clone(ip.doomed), func(is *inlineSession) bool {
		return is.egress && !ip.port.linkUp()
	})
	ip.unlock()
	if len(batch) == 0 {
		return nil
	}
	egress := slices.ContainsFunc(batch, func(is *inlineSession) bool { return is.egress })
	if egress {
		if ip.device.limits.RemovalStopsLookups {
			// All of the direction goes through software meanwhile: not all the time.
			if time.Since(ip.diverted) < divertPause {
				return nil
			}
			ip.sending.Store(false)
			defer func() { ip.diverted = time.Now() }()
		}
		ip.settle()
	} else {
		ip.gateway.waitQuiet()
	}
	if egress && !ip.port.linkUp() {
		ip.sending.Store(true)
		return nil // it went down meanwhile: another time
	}
	ip.mu.Lock()
	defer ip.unlock()
	err := ip.closeSessions(batch)
	ip.sending.Store(err == nil)
	return err
}

// divertPause is the least time between two removals for which a whole direction has
// to go through software; removals are gathered.
const divertPause = time.Second

// settle returns when nothing that was marked for the device before is on its way:
// workers have passed a quiet point, their lanes have sent what they held, and the
// device has had its time.
func (ip *inlinePort) settle() {
	g := ip.gateway
	g.waitQuiet()
	g.waitSent(ip.port)
	ip.mu.Lock()
	egress := len(ip.tables[tableEgress].sessions)
	ip.unlock()
	if egress > 0 {
		time.Sleep(ip.device.limits.TxDrain)
	}
}

// closeSessions closes sessions, and puts dummies back where a removal switched
// lookups off.
func (ip *inlinePort) closeSessions(batch []*inlineSession) error {
	var touched [2]bool
	for _, is := range batch {
		if err := is.hw.Close(); err != nil {
			ip.gateway.log.Warn("the device did not find an SA that was to be removed", "port", ip.port.Name, "error", err)
		}
		t := &ip.tables[tableOf(is.egress)]
		touched[tableOf(is.egress)] = true
		delete(t.sessions, is.key)
		if t.spis[is.key.spi]--; t.spis[is.key.spi] == 0 {
			delete(t.spis, is.key.spi)
		}
		if !is.egress {
			if ip.addresses[is.key.dst]--; ip.addresses[is.key.dst] == 0 {
				delete(ip.addresses, is.key.dst)
			}
			ip.cooling = append(ip.cooling, cooling{is.key, ip.gateway.receiveMarks(ip.port)})
		}
	}
	ip.doomed = slices.DeleteFunc(ip.doomed, func(is *inlineSession) bool { return slices.Contains(batch, is) })
	for _, w := range ip.waiting {
		w.after = time.Time{} // what the device had no room for may find some
	}
	if !ip.device.limits.RemovalStopsLookups {
		return nil
	}
	for i := range ip.tables {
		if touched[i] {
			if err := ip.renewDummy(i == tableEgress); err != nil {
				return err
			}
		}
	}
	return nil
}

// putDummies puts the dummies of both directions into an empty device, where it
// needs them.
func (ip *inlinePort) putDummies() error {
	if !ip.device.limits.RemovalStopsLookups {
		return nil
	}
	for i := range ip.tables {
		if i == tableIngress && ip.device.limits.EgressOnly {
			continue
		}
		if err := ip.renewDummy(i == tableEgress); err != nil {
			return err
		}
	}
	return nil
}

// renewDummy removes the dummy SA of a direction and puts it back: the last thing
// that the device's table sees is an addition.
func (ip *inlinePort) renewDummy(egress bool) error {
	t := &ip.tables[tableOf(egress)]
	if t.dummy != nil {
		if err := t.dummy.Close(); err != nil {
			ip.gateway.log.Warn("the device did not find its dummy SA", "port", ip.port.Name, "error", err)
		}
		t.dummy = nil
	}
	conf, err := ip.dummyConf(egress)
	if err != nil {
		return err
	}
	defer clear(conf.Key)
	if t.dummy, err = ip.security.Open(conf); err != nil {
		return fmt.Errorf("an SA that keeps lookups on: %w", err)
	}
	t.dummySPI = conf.SPI
	return nil
}

// dummyDst is an address that no packet has (RFC 6666, the discard prefix).
var dummyDst = netip.MustParseAddr("100::e59:1")

// dummyConf makes up an SA that nothing matches, with a key that nobody knows and
// an SPI that no SA in the device has.
func (ip *inlinePort) dummyConf(egress bool) (pmd.SessionConf, error) {
	random := make([]byte, 24)
	if _, err := rand.Read(random); err != nil {
		return pmd.SessionConf{}, err
	}
	t := &ip.tables[tableOf(egress)]
	spi := binary.BigEndian.Uint32(random[20:]) | 1<<31
	for t.spis[spi] > 0 {
		spi = spi%(1<<31) + 1<<31 + 1
	}
	return pmd.SessionConf{
		Action: pmd.InlineCrypto, Egress: egress, SPI: spi, Src: dummyDst, Dst: dummyDst,
		Algorithm: pmd.AEADAESGCM, Key: random[:16], Salt: random[16:20], ICVLen: 16,
	}, nil
}

// cooling is an ingress SA that was removed: packets that the device had opened with
// it may wait in a receive queue, and must not be taken for those of an SA that has
// its address and SPI later.
type cooling struct {
	key    inlineKey
	before []receiveMark
}

// cooled says whether all that a device had received for an SA before its removal
// has come out of the receive queues. It forgets those for which it has.
func (ip *inlinePort) cooled(key inlineKey) bool {
	if len(ip.cooling) == 0 {
		return true
	}
	now := ip.gateway.receiveMarks(ip.port)
	ip.cooling = slices.DeleteFunc(ip.cooling, func(c cooling) bool { return passed(c.before, now) })
	return !slices.ContainsFunc(ip.cooling, func(c cooling) bool { return c.key == key })
}
