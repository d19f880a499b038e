package ipsec

import (
	"time"

	"espgw/pmd"
	"espgw/sa"
)

// Stats are all counters of a gateway at one moment; its JSON is what
// --stats-json writes. Names are a contract.
type Stats struct {
	Seconds  float64        `json:"seconds"`
	Ports    []PortStats    `json:"ports"`
	Lcores   []LcoreStats   `json:"lcores"`
	Totals   Totals         `json:"totals"`
	Drops    DropCounts     `json:"drops"`
	SAs      []SAStats      `json:"sas"`
	Policies []PolicyStats  `json:"policies"`
	Offload  []OffloadStats `json:"offload"`
	// Emulation holds the counters of emulated devices, by port name.
	Emulation map[string]map[string]uint64 `json:"emulation"`
}

// PortStats are a port's whole Ethernet frames as the gateway counted them, and
// what its driver counts.
type PortStats struct {
	Port      int               `json:"port"`
	Name      string            `json:"name"`
	Device    string            `json:"device"`
	Side      Side              `json:"side"`
	Link      bool              `json:"link"`
	MTU       int               `json:"mtu"`
	RxPackets uint64            `json:"rx_packets"`
	RxBytes   uint64            `json:"rx_bytes"`
	TxPackets uint64            `json:"tx_packets"`
	TxBytes   uint64            `json:"tx_bytes"`
	Driver    map[string]uint64 `json:"driver"`
}

// LcoreStats are the turns of one worker.
type LcoreStats struct {
	Lcore     int    `json:"lcore"`
	Turns     uint64 `json:"turns"`
	IdleTurns uint64 `json:"idle_turns"`
	Packets   uint64 `json:"packets"`
}

// Totals balance: Received + Originated = Transmitted + Dropped + InFlight.
type Totals struct {
	Received    uint64 `json:"received"`
	Originated  uint64 `json:"originated"`
	Transmitted uint64 `json:"transmitted"`
	Dropped     uint64 `json:"dropped"`
	InFlight    uint64 `json:"in_flight"`
}

// SAStats are one SA's counters. Bytes are IP octets before sealing and after
// opening; Sequence is the last one sent or the highest accepted.
type SAStats struct {
	SPI          uint32            `json:"spi"`
	Dst          string            `json:"dst"`
	Src          string            `json:"src"`
	Dir          string            `json:"dir"`
	State        string            `json:"state"`
	Mode         string            `json:"mode"`
	ReqID        uint32            `json:"reqid"`
	Algorithm    string            `json:"algorithm"`
	KeyBits      int               `json:"key_bits"`
	ICVBits      int               `json:"icv_bits"`
	ESN          bool              `json:"esn"`
	Window       uint32            `json:"window"`
	Engine       string            `json:"engine"`
	EngineReason string            `json:"engine_reason"`
	Packets      uint64            `json:"packets"`
	Bytes        uint64            `json:"bytes"`
	Sequence     uint64            `json:"sequence"`
	Reserved     uint64            `json:"reserved"` // sequence numbers that may be sent before more are reserved
	Limits       map[string]uint64 `json:"limits"`
	MTU          int               `json:"mtu"`      // the largest IP packet, without options, that fits sealed; 0 for inbound SAs
	PathMTU      int               `json:"path_mtu"` // the largest sealed packet, as learnt from ICMP; 0: nothing learnt
	Errors       map[string]uint64 `json:"errors"`
	// WindowGap counts the sequence numbers that were skipped when a device's window
	// could not be known.
	WindowGap uint64 `json:"window_gap"`
	// Device is what the device counted, where it does all of ESP; a second old at most.
	Device *DeviceStats `json:"device,omitempty"`
}

// DeviceStats are a device's own counters of an SA.
type DeviceStats struct {
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
	Errors  uint64 `json:"errors"`
}

// PolicyStats count the packets that a policy decided.
type PolicyStats struct {
	Dir      string `json:"dir"`
	Index    uint32 `json:"index"`
	Priority uint32 `json:"priority"`
	Packets  uint64 `json:"packets"`
}

// OffloadStats are the inline SAs of an unprotected port. Slots are what its device
// has for SAs of ours, in both directions, less what espgw needs for itself.
type OffloadStats struct {
	Port          int    `json:"port"`
	Name          string `json:"name"`
	Depth         string `json:"depth"`  // none, crypto, packet or crypto+packet
	Reason        string `json:"reason"` // why there is no inline IPsec
	SlotsUsed     int    `json:"slots_used"`
	SlotsFree     int    `json:"slots_free"`
	Waiting       int    `json:"waiting"`
	EgressUsed    int    `json:"egress_used"`
	EgressFree    int    `json:"egress_free"`
	IngressUsed   int    `json:"ingress_used"`
	IngressFree   int    `json:"ingress_free"`
	AddressesUsed int    `json:"addresses_used"` // destination addresses of ingress SAs
}

// Stats reads all counters. While workers run, packets that are between two
// counters show up in InFlight.
func (g *Gateway) Stats() *Stats {
	s := &Stats{Drops: DropCounts{}}
	if !g.started.IsZero() {
		end := time.Now()
		if g.ended.Load() && !g.stopped.IsZero() {
			end = g.stopped
		}
		s.Seconds = end.Sub(g.started).Seconds()
	}
	g.addWorkers(s)
	g.addPorts(s)
	g.addTables(s)
	s.Emulation = map[string]map[string]uint64{}
	if g.config.Emulation != nil {
		s.Emulation = g.config.Emulation()
	}
	return s
}

func (g *Gateway) addWorkers(s *Stats) {
	for _, w := range g.workers {
		c := &w.counters
		s.Lcores = append(s.Lcores, LcoreStats{
			Lcore: w.lcore, Turns: c.turns.Load(), IdleTurns: c.idleTurns.Load(), Packets: c.packets.Load(),
		})
		for r := range c.drops {
			n := c.drops[r].Load()
			s.Drops[r] += n
			s.Totals.Dropped += n
		}
		for _, l := range w.lanes {
			s.Totals.Transmitted += l.Counters().TxPackets
		}
	}
	// What was received is read last, so that it is never behind what became of it.
	for _, w := range g.workers {
		s.Totals.Originated += w.counters.originated.Load()
		for _, l := range w.lanes {
			s.Totals.Received += l.Counters().RxPackets
		}
	}
	t := &s.Totals
	t.InFlight = t.Received + t.Originated - t.Transmitted - t.Dropped
}

func (g *Gateway) addPorts(s *Stats) {
	for _, p := range g.ports {
		info := p.Port.Info()
		row := PortStats{
			Port: p.id(), Name: p.Name, Device: info.Device, Side: p.side,
			Link: p.up.Load(), MTU: p.mtu, Driver: driverCounters(p.Port),
		}
		for _, w := range g.workers {
			for _, l := range w.lanes {
				c := l.Counters()
				if l.rx == p {
					row.RxPackets += c.RxPackets
					row.RxBytes += c.RxBytes
				}
				if l.tx == p {
					row.TxPackets += c.TxPackets
					row.TxBytes += c.TxBytes
				}
			}
		}
		s.Ports = append(s.Ports, row)
		if p.side == Unprotected {
			s.Offload = append(s.Offload, p.offloadStats())
		}
	}
}

func (g *Gateway) addTables(s *Stats) {
	s.SAs, s.Policies = []SAStats{}, []PolicyStats{}
	g.mu.Lock()
	defer g.mu.Unlock()
	tx := g.config.DB.Begin()
	defer tx.Rollback()
	for state := range tx.AllStates() {
		s.SAs = append(s.SAs, g.saStats(state))
	}
	for p := range tx.Policies(nil) {
		settings := p.Policy()
		s.Policies = append(s.Policies, PolicyStats{
			Dir: settings.Dir.String(), Index: settings.Index, Priority: settings.Priority, Packets: p.Packets(),
		})
	}
}

func (g *Gateway) saStats(state *sa.SA) SAStats {
	p := state.Params()
	row := SAStats{
		SPI: p.SPI, Dst: p.Dst.String(), Src: p.Src.String(), Dir: state.Dir().String(), State: stateText(state),
		Mode: p.Mode.String(), ReqID: p.ReqID, Algorithm: p.Algorithm.String(), KeyBits: 8 * (p.Key.Len() - sa.SaltLen),
		ICVBits: p.ICVBits, ESN: p.Flags&sa.FlagESN != 0, Window: state.Window(),
		Packets: state.Packets(), Bytes: state.Bytes(), Sequence: state.LastSequence(),
		Limits: limitMap(p.Limits), Errors: map[string]uint64{},
	}
	if k := state.Kept(); k != nil && state.Dir() == sa.DirOut {
		row.Reserved = k.Granted() - min(state.LastSent(), k.Granted())
	}
	if session := g.session(state); session != nil {
		choice := session.place.choice.Load()
		row.WindowGap = session.place.gap.Load()
		if is := session.place.inline.Load(); is != nil {
			row.Device = is.deviceStats()
		}
		row.Engine, row.EngineReason = choice.engine, choice.reason
		if state.Dir() == sa.DirOut {
			row.MTU, row.PathMTU = g.mtuOf(session)
		}
		for r := range session.errors {
			if n := session.errors[r].Load(); n != 0 {
				row.Errors[Reason(r).String()] = n
			}
		}
	}
	return row
}

func stateText(s *sa.SA) string {
	switch {
	case s.Expired():
		return "expired"
	case s.Dying():
		return "dying"
	default:
		return "valid"
	}
}

func limitMap(l sa.Limits) map[string]uint64 {
	m := map[string]uint64{}
	count := func(name string, n uint64) {
		if n != sa.NoLimit {
			m[name] = n
		}
	}
	seconds := func(name string, d time.Duration) {
		if d != 0 {
			m[name] = uint64(d / time.Second)
		}
	}
	count("byte_soft", l.SoftBytes)
	count("byte_hard", l.HardBytes)
	count("packet_soft", l.SoftPackets)
	count("packet_hard", l.HardPackets)
	seconds("time_soft", l.SoftAdd)
	seconds("time_hard", l.HardAdd)
	seconds("time_use_soft", l.SoftUse)
	seconds("time_use_hard", l.HardUse)
	return m
}

// Received returns how many packets all lanes have received.
func (g *Gateway) Received() uint64 {
	n := uint64(0)
	for _, w := range g.workers {
		for _, l := range w.lanes {
			n += l.Counters().RxPackets
		}
	}
	return n
}

// driverCounters are what the driver counts, in its own sense of packets and
// octets; what it cannot tell is 0.
func driverCounters(p *pmd.Port) map[string]uint64 {
	s, err := p.Stats()
	if err != nil {
		return map[string]uint64{}
	}
	return map[string]uint64{
		"rx_packets": s.RxPackets, "rx_bytes": s.RxBytes, "rx_missed": s.RxMissed, "rx_errors": s.RxErrors,
		"rx_no_buffer": s.RxNoBuffer, "tx_packets": s.TxPackets, "tx_bytes": s.TxBytes, "tx_errors": s.TxErrors,
	}
}

// Errors returns how many packets of an SA ended with a reason.
func (g *Gateway) Errors(s *sa.SA, r Reason) uint64 {
	if session := g.session(s); session != nil {
		return session.errors[r].Load()
	}
	return 0
}

// Counts returns how many SAs and policies there are.
func (g *Gateway) Counts() (states, policies int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	tx := g.config.DB.Begin()
	defer tx.Rollback()
	for _, dir := range []sa.Direction{sa.DirIn, sa.DirOut, sa.DirForward} {
		policies += tx.CountPolicies(dir)
	}
	return tx.CountStates(), policies
}

func (is *inlineSession) deviceStats() *DeviceStats {
	c := is.counters.Load()
	switch {
	case c == nil:
		return nil
	case is.egress:
		return &DeviceStats{c.OutPackets, c.OutBytes, c.OutErrors}
	}
	return &DeviceStats{c.InPackets, c.InBytes, c.InErrors}
}

func (p *port) offloadStats() OffloadStats {
	if p.inline == nil {
		return OffloadStats{Port: p.id(), Name: p.Name, Depth: "none", Reason: p.whyNotInline}
	}
	return *p.inline.shown.Load()
}

// show writes the row of listings; mu is held.
func (ip *inlinePort) show() {
	row := &OffloadStats{
		Port: ip.port.id(), Name: ip.port.Name, Depth: ip.device.depths(),
		Waiting: len(ip.waiting), AddressesUsed: len(ip.addresses),
	}
	for i := range ip.tables {
		t := &ip.tables[i]
		used, free := len(t.sessions), max(0, t.limit-t.used())
		row.SlotsUsed += used
		row.SlotsFree += free
		if i == tableEgress {
			row.EgressUsed, row.EgressFree = used, free
		} else {
			row.IngressUsed, row.IngressFree = used, free
		}
	}
	ip.shown.Store(row)
}

// unlock is the end of what has mu.
func (ip *inlinePort) unlock() {
	ip.show()
	ip.mu.Unlock()
}
