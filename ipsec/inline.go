package ipsec

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"espgw/pmd"
	"espgw/sa"
)

// inlinePort keeps the SAs in one unprotected port's device: which are there, which
// wait for a place, which are on their way out. The control plane's alone; workers
// see places and sending.
type inlinePort struct {
	gateway  *Gateway
	port     *port
	security *pmd.Security
	device   *inlineDevice

	// sending says that egress sessions may be used now. Cleared, all that leaves is
	// sealed in software, with the same numbers.
	sending atomic.Bool

	// shown is the row of listings, as it was when mu was last held: who reads it must
	// not wait for a device.
	shown atomic.Pointer[OffloadStats]

	mu sync.Mutex
	// tables by direction: egress, ingress.
	tables    [2]inlineTable
	addresses map[netip.Addr]int // destination addresses in the device, ingress
	doomed    []*inlineSession   // not used any more, still in the device
	waiting   map[*session]*waiter
	cooling   []cooling
	counted   time.Time  // when its counters were read last; of the loop alone
	diverted  time.Time  // when egress went through software last, for a removal
	stopped   bool       // sessions cannot be made now
	suspended []*session // were in the device when it was stopped
}

// inlineTable is one direction of a device.
type inlineTable struct {
	limit    int // SAs that there may be, dummy included
	sessions map[inlineKey]*inlineSession
	spis     map[uint32]int
	// dummy is an SA that nothing uses: put back last, after a removal, it switches
	// lookups on again where a removal switches them off.
	dummy *pmd.SecuritySession
	// dummySPI is its SPI, 0 when there is none.
	dummySPI uint32
}

// inlineKey identifies an SA in a device.
type inlineKey struct {
	dst netip.Addr
	spi uint32
}

const (
	tableEgress = iota
	tableIngress
)

func tableOf(egress bool) int {
	if egress {
		return tableEgress
	}
	return tableIngress
}

// newInlinePort opens the device of an unprotected port. It returns nil and why
// where there is nothing to be used.
func (g *Gateway) newInlinePort(p *port) (*inlinePort, string) {
	if g.config.Offload == OffloadOff {
		return nil, "inline IPsec is switched off (--offload off)"
	}
	info := p.Port.Info()
	security, err := p.Port.Security(maxInlineSessions)
	if err != nil {
		return nil, withoutContext(info, err)
	}
	device := newInlineDevice(info, security.Capabilities(), security.ContextFlags(), p.mtu, dpdkVersion())
	if device.depths() == "none" {
		return nil, device.why()
	}
	if rx, tx := p.Port.Offloads(); rx&pmd.RxSecurity == 0 || tx&pmd.TxSecurity == 0 {
		return nil, "the port was started without inline IPsec"
	}
	if err := p.Port.Watch(); err != nil {
		return nil, err.Error()
	}
	ip := &inlinePort{
		gateway: g, port: p, security: security, device: device,
		addresses: map[netip.Addr]int{}, waiting: map[*session]*waiter{},
	}
	limits := [2]int{device.limits.EgressSAs, device.limits.IngressSAs}
	for i := range ip.tables {
		ip.tables[i] = inlineTable{limit: limits[i], sessions: map[inlineKey]*inlineSession{}, spis: map[uint32]int{}}
	}
	ip.mu.Lock()
	defer ip.unlock()
	if err := ip.putDummies(); err != nil {
		return nil, err.Error()
	}
	ip.sending.Store(true)
	return ip, ""
}

// maxInlineSessions bounds the sessions of a port, of both directions.
const maxInlineSessions = 16384

// waiter is an SA that waits for a place.
type waiter struct {
	wish  inlineWish
	after time.Time // not to be tried before
}

// refused is why a device does not take an SA; again says that it may later, and
// device that it is the device's word, not ours.
type refused struct {
	reason        string
	again, device bool
}

// refusedPause is how long an SA is not tried again that the device has refused.
const refusedPause = 10 * time.Second

// install puts an SA into the device, if it can be there.
func (ip *inlinePort) install(s *session, wish inlineWish) *refused {
	ip.mu.Lock()
	defer ip.unlock()
	return ip.installLocked(s, wish)
}

// installLocked is install, with the lock held. An SA that may have a place later
// waits for it.
func (ip *inlinePort) installLocked(s *session, wish inlineWish) *refused {
	r := ip.put(s, wish)
	if r == nil || !r.again {
		delete(ip.waiting, s)
		return r
	}
	w := &waiter{wish: wish}
	if r.device {
		w.after = time.Now().Add(refusedPause)
	}
	ip.waiting[s] = w
	return r
}

func (ip *inlinePort) put(s *session, wish inlineWish) *refused {
	p := s.sa.Params()
	egress := s.sa.Dir() == sa.DirOut
	if !egress && s.sa.Dir() != sa.DirIn {
		return &refused{reason: "no policy says yet which way it works", again: true}
	}
	if why := ip.device.refusal(p, s.sa.Window(), egress, wish.packet); why != "" {
		return &refused{reason: why}
	}
	if r := ip.room(p, egress); r != nil {
		return r
	}
	if wish.packet {
		if r := ip.protocolRoom(s, wish); r != nil {
			return r
		}
	}
	is := &inlineSession{
		port: ip.port, session: s, egress: egress, key: inlineKey{p.Dst, p.SPI},
		noTagged: ip.device.limits.NoTagged, noOptions: ip.device.limits.NoIPv4Options,
		noExtensions: ip.device.limits.NoExtensionHeaders, ipChecksum: ip.port.ipChecksum,
	}
	before := s.place.marks.Load()
	if !egress {
		s.place.marks.Store(int32(ip.port.id()) + 1)
	}
	conf := sessionConf(p, egress)
	if conf.Sequence = s.sa.Highest(); egress { // for the high half
		conf.Sequence = s.sa.LastSent()
	}
	depth := "crypto"
	if wish.packet {
		is.protocol, depth = true, "packet"
		protocolConf(&conf, s, is)
	}
	var err error
	if is.hw, err = ip.security.Open(conf); err != nil {
		s.place.marks.Store(before)
		return &refused{reason: err.Error(), again: true, device: true}
	}
	t := &ip.tables[tableOf(egress)]
	t.sessions[is.key] = is
	t.spis[p.SPI]++
	if !egress {
		ip.addresses[p.Dst]++
	}
	s.place.device(is, fmt.Sprintf("%s offload on %s (%s)", depth, ip.port.Name, driverOf(ip.port.Port.Info())))
	return nil
}

// protocolRoom says whether a device may have all of an SA's ESP.
func (ip *inlinePort) protocolRoom(s *session, wish inlineWish) *refused {
	switch {
	case wish.sharesKey:
		return &refused{reason: sharedKey}
	case !s.sa.Fresh() && !ip.device.limits.StartsAtSequence:
		return &refused{reason: "the SA has carried packets, and the device would begin to number them anew"}
	}
	return nil
}

// installInstead puts an SA that asks for packet offload, and was refused that, into
// the device for crypto offload.
func (ip *inlinePort) installInstead(s *session, wish inlineWish, r *refused) *refused {
	wish.packet = false
	if ip.install(s, wish) != nil {
		return r
	}
	is := s.place.inline.Load()
	s.place.device(is, s.place.choice.Load().reason+"; no packet offload: "+r.reason)
	return nil
}

// room says whether there is place for an SA.
func (ip *inlinePort) room(p *sa.Params, egress bool) *refused {
	t := &ip.tables[tableOf(egress)]
	key := inlineKey{p.Dst, p.SPI}
	_, there := t.sessions[key]
	switch {
	case ip.stopped:
		return &refused{reason: fmt.Sprintf("port %s is stopped", ip.port.Name), again: true}
	case there || ip.device.limits.RemovesBySPI && (t.spis[p.SPI] > 0 || p.SPI == t.dummySPI):
		return &refused{reason: fmt.Sprintf("%s has an SA of SPI 0x%x already, and the driver tells SAs apart by it", ip.port.Name, p.SPI), again: true}
	case !egress && !ip.cooled(key):
		return &refused{reason: "packets of the SA that had its place may still be on their way", again: true}
	case t.used() >= t.limit:
		return &refused{reason: fmt.Sprintf("the device is full: %d %s SAs", t.forSAs(), directionWord(egress)), again: true}
	case !egress && ip.addresses[p.Dst] == 0 && ip.addressesFull():
		return &refused{reason: fmt.Sprintf("the device is full: %d destination addresses", len(ip.addresses)), again: true}
	}
	return nil
}

// addressesFull says whether there is no place for another destination address; the
// dummy has one of its own.
func (ip *inlinePort) addressesFull() bool {
	n, limit := len(ip.addresses), ip.device.limits.Addresses
	if ip.tables[tableIngress].dummy != nil {
		n++
	}
	return limit > 0 && n >= limit
}

// used counts what is in the device, dummy included.
func (t *inlineTable) used() int {
	if t.dummy != nil {
		return len(t.sessions) + 1
	}
	return len(t.sessions)
}

// forSAs is how many SAs there may be.
func (t *inlineTable) forSAs() int {
	if t.dummy != nil {
		return t.limit - 1
	}
	return t.limit
}

func directionWord(egress bool) string {
	if egress {
		return "egress"
	}
	return "ingress"
}

// sessionConf is an SA in the device's terms.
func sessionConf(p *sa.Params, egress bool) pmd.SessionConf {
	c := pmd.SessionConf{
		Action: pmd.InlineCrypto, Egress: egress, SPI: p.SPI, Src: p.Src, Dst: p.Dst,
		Algorithm: pmd.AEADAESGCM, Key: p.Key.Cipher(), Salt: p.Key.Salt(), ICVLen: p.ICVBits / 8,
		ESN: p.Flags&sa.FlagESN != 0,
	}
	if p.Algorithm == sa.AlgChaCha20Poly1305 {
		c.Algorithm = pmd.AEADChaCha20Poly1305
	}
	if p.Encap != nil {
		c.UDPEncap, c.UDPSrc, c.UDPDst = true, p.Encap.SrcPort, p.Encap.DstPort
	}
	return c
}

func driverOf(info pmd.PortInfo) string {
	if info.Emulates != "" {
		return info.Emulates + ", emulated"
	}
	return info.Driver
}
