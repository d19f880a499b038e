package silicon_test

import (
	"encoding/binary"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// cardMAC is the address in the EEPROM of the tests' card.
var cardMAC = [6]byte{0x02, 0x82, 0x59, 0x90, 0x12, 0x34}

// rig is a card with what a driver's host gives it. Tests write registers and
// descriptors, call step, and look at what has become of them:
//
//	test ── registers, memory ── card ══ wire ── test
type rig struct {
	t          testing.TB
	reg        silicon.Registers
	mem        *memory
	wire       *wire
	card       *silicon.Card
	now        time.Time
	interrupts int
}

// newRig is a card that has just been powered up.
func newRig(t testing.TB, change ...func(*silicon.Config)) *rig {
	t.Helper()
	return newRigOf(t, 4<<20, change...)
}

// newRigOf has a host with so many octets of memory.
func newRigOf(t testing.TB, memory int, change ...func(*silicon.Config)) *rig {
	t.Helper()
	r := &rig{
		t: t, reg: make(silicon.Registers, silicon.BARSize/4), mem: newMemory(memory), wire: &wire{},
		now: time.Unix(1_800_000_000, 0),
	}
	config := silicon.Config{
		Registers: r.reg, Memory: r.mem, Wire: r.wire, MAC: cardMAC,
		Interrupt: func() { r.interrupts++ }, Settings: silicon.DefaultSettings(),
	}
	for _, f := range change {
		f(&config)
	}
	var err error
	r.card, err = silicon.New(config)
	require.NoError(t, err)
	return r
}

// set changes a setting of the rig's card, "NAME=VALUE".
func set(text string) func(*silicon.Config) {
	return func(c *silicon.Config) {
		if err := c.Settings.Set(text); err != nil {
			panic(err)
		}
	}
}

func (r *rig) get(offset uint32) uint32    { return r.reg[offset/4] }
func (r *rig) put(offset, value uint32)    { r.reg[offset/4] = value }
func (r *rig) setBits(offset, bits uint32) { r.reg[offset/4] |= bits }

// step is one step, 10 µs after the last.
func (r *rig) step() bool {
	r.now = r.now.Add(10 * time.Microsecond)
	return r.card.Step(r.now)
}

// settle steps until the card has found nothing to do for so long that it has looked
// for new queues, too (it does each 16 steps).
func (r *rig) settle() {
	r.t.Helper()
	idle := 0
	for range 10_000 {
		if r.step() {
			idle = 0
		} else if idle++; idle == 20 {
			return
		}
	}
	r.t.Fatal("the card finds no end")
}

// breached asserts that the card has seen just these breaches, each as often as it is
// named.
func (r *rig) breached(want ...silicon.Breach) {
	r.t.Helper()
	counts := map[silicon.Breach]uint64{}
	for _, b := range want {
		counts[b]++
	}
	report := r.card.Report()
	require.Equal(r.t, counts, report.Breaches, "%v", report.Remarks)
}

// counts is what the card has counted.
func (r *rig) counts() silicon.Counts { return r.card.Report().Counts }

// memory is the host's, at a bus address above 4 GiB: the upper halves of addresses
// count, too. It is given out from its beginning on.
type memory struct {
	octets []byte
	used   int
	kept   int // what is used for longer than a packet
	// unreachable is a range of bus addresses that is out of reach now.
	unreachable [2]uint64
}

const memoryBase = 0x1_4000_0000

func newMemory(size int) *memory {
	words := make([]uint64, size/8) // aligned for descriptors
	return &memory{octets: unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)}
}

func (m *memory) Slice(address uint64, n int) []byte {
	end := address + uint64(n)
	if n <= 0 || address < memoryBase || end < address || end > memoryBase+uint64(len(m.octets)) {
		return nil
	}
	if address < m.unreachable[1] && end > m.unreachable[0] {
		return nil
	}
	return m.octets[address-memoryBase : end-memoryBase : end-memoryBase]
}

// room is n octets that nobody else has, on a boundary of 128.
func (m *memory) room(n int) uint64 {
	at := (m.used + 127) &^ 127
	if m.used = at + n; m.used > len(m.octets) {
		panic("the rig's memory is full")
	}
	return memoryBase + uint64(at)
}

// place is room with these octets in it.
func (m *memory) place(octets []byte) uint64 {
	at := m.room(max(len(octets), 1))
	copy(m.Slice(at, max(len(octets), 1)), octets)
	return at
}

// word is the 64-bit word i of what stands at an address.
func (m *memory) word(address uint64, i int) uint64 {
	return binary.LittleEndian.Uint64(m.Slice(address+8*uint64(i), 8))
}

func (m *memory) setWord(address uint64, i int, value uint64) {
	binary.LittleEndian.PutUint64(m.Slice(address+8*uint64(i), 8), value)
}

// wire keeps what the card sends and has what it is to receive.
type wire struct {
	sent, coming [][]byte
}

func (w *wire) Send(frame []byte) { w.sent = append(w.sent, append([]byte(nil), frame...)) }

func (w *wire) Receive(buf []byte) int {
	if len(w.coming) == 0 {
		return 0
	}
	n := copy(buf, w.coming[0])
	w.coming = w.coming[1:]
	return n
}

// take is what was sent since the last take.
func (w *wire) take() [][]byte {
	sent := w.sent
	w.sent = nil
	return sent
}
