package silicon

import (
	"maps"
	"slices"
)

// Counts is what a card has seen since it was made. Octets are without CRC.
type Counts struct {
	TxFrames    uint64 `json:"tx_frames"`
	TxOctets    uint64 `json:"tx_octets"`
	TxContexts  uint64 `json:"tx_contexts"`
	TxIPsec     uint64 `json:"tx_ipsec"`  // packets that asked for IPsec
	TxSealed    uint64 `json:"tx_sealed"` // and got it
	TxClear     uint64 `json:"tx_clear"`  // and found it switched off
	RxFrames    uint64 `json:"rx_frames"` // given to the driver
	RxOctets    uint64 `json:"rx_octets"`
	RxMissed    uint64 `json:"rx_missed"` // no descriptor was free
	RxFiltered  uint64 `json:"rx_filtered"`
	RxTooLong   uint64 `json:"rx_too_long"`
	RxDisabled  uint64 `json:"rx_disabled"`
	RxIPsec     uint64 `json:"rx_ipsec"` // packets for which an SA was looked for
	RxNoSA      uint64 `json:"rx_no_sa"`
	RxOpened    uint64 `json:"rx_opened"`
	RxICVFailed uint64 `json:"rx_icv_failed"`
	RxBadLength uint64 `json:"rx_bad_length"`
	Resets      uint64 `json:"resets"`
	LinkChanges uint64 `json:"link_changes"`
	Interrupts  uint64 `json:"interrupts"`
	TableWrites uint64 `json:"table_writes"`
	LookupsOff  uint64 `json:"lookups_off"` // times that SA lookups were switched off
	// LateWrites are table writes that were seen so late that the driver may have given
	// up, and others may have been lost.
	LateWrites uint64 `json:"late_writes"`
	Absences   uint64 `json:"absences"`       // times that the card was away for so long
	LongestGap int64  `json:"longest_gap_ns"` // between two looks at the tables
}

// regFirstStatistic is the first register that DPDK's driver reads when it asks for
// statistics, CRCERRS (ixgbe_ethdev.c, ixgbe_read_stats_registers).
const regFirstStatistic = 0x04000

// counterQueues is how many queue counters there are; RQSMR and TQSM map queues to
// them.
const counterQueues = 16

// Statistics registers by their place in statRegisters.
const (
	statGPTC = iota
	statGOTC
	statTPT
	statMPTC
	statBPTC
	statTOR
	statTPR
	statGORC
	statBPRC
	statMPRC
	statGPRC
	statROC
	statMPC
	statPTC64
	statPRC64 = statPTC64 + 6
	statQPTC  = statPRC64 + 6
	statQBTC  = statQPTC + counterQueues
	statQPRC  = statQBTC + counterQueues
	statQBRC  = statQPRC + counterQueues
	statQPRDC = statQBRC + counterQueues
	statCount = statQPRDC + counterQueues
)

// statRegister is where a counter is shown; wide ones have two words.
type statRegister struct {
	offset uint32
	wide   bool
}

var statRegisters = func() (list [statCount]statRegister) {
	copy(list[:], []statRegister{
		{0x04080, false},
		{0x04090, true},
		{0x040d4, false},
		{0x040f0, false},
		{0x040f4, false},
		{0x040c0, true},
		{0x040d0, false},
		{0x04088, true},
		{0x04078, false},
		{0x0407c, false},
		{0x04074, false},
		{0x040ac, false},
		{0x03fa0, false},
	})
	for i := range 6 {
		list[statPTC64+i] = statRegister{0x040d8 + 4*uint32(i), false}
		list[statPRC64+i] = statRegister{0x0405c + 4*uint32(i), false}
	}
	for i := range counterQueues {
		n := uint32(i)
		list[statQPTC+i] = statRegister{0x06030 + 0x40*n, false}
		list[statQBTC+i] = statRegister{0x08700 + 8*n, true}
		list[statQPRC+i] = statRegister{0x01030 + 0x40*n, false}
		list[statQBRC+i] = statRegister{0x01034 + 0x40*n, true}
		list[statQPRDC+i] = statRegister{0x01430 + 0x40*n, false}
	}
	return list
}()

// statistics are what the card counts.
type statistics struct {
	counts Counts
	values [statCount]uint64 // that the driver has not taken yet
}

// sizeClass is the place of a frame's counter by its length with CRC: 64, 65 to 127,
// to 255, to 511, to 1023, above.
func sizeClass(length int) int {
	for i, limit := range []int{64, 127, 255, 511, 1023} {
		if length <= limit {
			return i
		}
	}
	return 5
}

func (s *statistics) sent(c *Card, queue int, frame []byte) {
	s.counts.TxFrames++
	s.counts.TxOctets += uint64(len(frame))
	withCRC := uint64(len(frame) + 4)
	s.values[statGPTC]++
	s.values[statGOTC] += withCRC
	s.values[statTPT]++
	s.values[statPTC64+sizeClass(len(frame)+4)]++
	if k := c.counterOf(regTQSM, queue); k < counterQueues {
		s.values[statQPTC+k]++
		s.values[statQBTC+k] += withCRC
	}
	s.groups(frame, statBPTC, statMPTC)
}

// groups counts a frame to everybody or to a group.
func (s *statistics) groups(frame []byte, broadcast, multicast int) {
	switch {
	case isBroadcast(frame):
		s.values[broadcast]++
	case frame[0]&1 == 1:
		s.values[multicast]++
	}
}

// received counts a frame that was given to a queue.
func (s *statistics) received(c *Card, queue int, frame []byte) {
	length := len(frame)
	s.counts.RxFrames++
	s.counts.RxOctets += uint64(length)
	withCRC := uint64(length + 4)
	s.values[statTOR] += withCRC
	s.values[statTPR]++
	s.values[statGORC] += withCRC
	s.values[statPRC64+sizeClass(length+4)]++
	s.values[statGPRC]++
	s.groups(frame, statBPRC, statMPRC)
	if k := c.counterOf(regRQSMR, queue); k < counterQueues {
		s.values[statQPRC+k]++
		s.values[statQBRC+k] += uint64(length)
	}
}

// missed counts a frame for which a queue had no descriptor; queues that drop have a
// counter of their own.
func (s *statistics) missed(queue int, drops bool) {
	s.counts.RxMissed++
	if drops && queue < counterQueues {
		s.values[statQPRDC+queue]++
	} else {
		s.values[statMPC]++
	}
}

// counterOf is the counter of a queue: a byte for each in 32 words.
func (c *Card) counterOf(table uint32, queue int) int {
	return int(c.reg.load(table+uint32(queue)&^3) >> (8 * (queue & 3)) & 0xff)
}

// giveStatistics writes what has been counted since the last time into the registers: the
// driver is about to read them, and reading clears.
func (c *Card) giveStatistics() {
	s := &c.stat
	for i, r := range statRegisters {
		c.reg.store(r.offset, uint32(s.values[i]))
		if r.wide {
			c.reg.store(r.offset+4, uint32(s.values[i]>>32))
		}
		s.values[i] = 0
	}
}

// Report is what a card has seen.
type Report struct {
	Counts   Counts            `json:"counters"`
	Breaches map[Breach]uint64 `json:"breaches"`
	Remarks  []string          `json:"remarks"`
}

// Report tells what the card has seen so far.
func (c *Card) Report() Report {
	return Report{Counts: c.stat.counts, Breaches: maps.Clone(c.witness.breaches), Remarks: slices.Clone(c.witness.remarks)}
}

// BreachCount is how many breaches of all kinds there were.
func (r *Report) BreachCount() (n uint64) {
	for _, k := range r.Breaches {
		n += k
	}
	return n
}
