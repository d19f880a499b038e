package silicon

import (
	"errors"
	"fmt"
	"time"
)

// Memory is the host's memory as the card reaches it by DMA.
type Memory interface {
	// Slice is the n octets at a bus address, shared with the host, or nil when not all
	// of them can be reached now.
	Slice(address uint64, n int) []byte
}

// Wire is what the card's connector is plugged into. One goroutine uses it.
type Wire interface {
	// Send transmits a frame without its CRC. The slice is the caller's again
	// afterwards. It never blocks.
	Send(frame []byte)
	// Receive copies the next frame that came, without CRC, into buf and returns its
	// length; 0: none now. It never blocks.
	Receive(buf []byte) int
}

// Recorder is told each frame that the card sends to the wire or takes from it,
// without CRC, with the witness's remarks on it.
type Recorder interface {
	Record(sent bool, frame []byte, remarks []string)
}

// Config is what a card is made of.
type Config struct {
	Registers Registers // BARSize/4 words
	Memory    Memory
	Wire      Wire     // nil: nothing is plugged in, the link is up all the same
	Recorder  Recorder // nil: none
	Interrupt func()   // nil: interrupts go nowhere
	// Ready is asked before an EEPROM word is given that was asked for unseen, the first
	// thing that a driver waits for; false: not yet. nil: always.
	Ready    func() bool
	MAC      [6]byte
	Settings Settings
	Faults   Faults
}

// Card is one port of an 82599. One goroutine calls its methods.
type Card struct {
	config Config
	reg    Registers

	eeprom   eeprom
	link     link
	tx       [queues]txQueue
	rx       [queues]rxQueue
	activeTx []int
	activeRx []int
	scans    uint32 // steps until queues are looked for again
	ipsec    ipsecBlock
	rss      rss
	stat     statistics
	witness  witness
	faults   faultState

	watched bool // accesses come through Read and Write

	frame []byte // transmit: the packet that is being put together
	side  []byte // transmit: a segment, or a frame with its tag
	in    []byte // receive: the frame in hand
}

const (
	queues = 128
	// frameRoom is more than a packet of segmentation offload can have.
	frameRoom = 256 << 10
	// inRoom is more than any frame that the card receives (15.5 KiB).
	inRoom = 16 << 10
	// burst bounds the packets of a queue in one step, so that registers are looked at
	// in time.
	burst = 32
	// scanEvery is how many steps there are between two looks for queues.
	scanEvery = 16
)

// ErrConfig says that a card cannot be made like that.
var ErrConfig = errors.New("bad configuration of a card")

// New makes a card that has just been powered up.
func New(config Config) (*Card, error) {
	if len(config.Registers) < BARSize/4 {
		return nil, fmt.Errorf("%w: %d words of registers, %d are needed", ErrConfig, len(config.Registers), BARSize/4)
	}
	if config.Memory == nil {
		return nil, fmt.Errorf("%w: no memory", ErrConfig)
	}
	if config.MAC[0]&1 != 0 || config.MAC == [6]byte{} {
		return nil, fmt.Errorf("%w: no unicast MAC address: %x", ErrConfig, config.MAC)
	}
	c := &Card{
		config: config, reg: config.Registers, eeprom: newEEPROM(), faults: faultState{Faults: config.Faults},
		frame: make([]byte, 0, frameRoom), side: make([]byte, 0, frameRoom), in: make([]byte, inRoom),
	}
	c.link.wanted = true
	c.witness.init()
	c.reset()
	c.ipsec.powerUp()
	return c, nil
}

// Step does what there is to do and says whether there was anything.
func (c *Card) Step(now time.Time) bool {
	c.faults.step()
	worked := c.control(now, false)
	if c.scans == 0 {
		c.findQueues()
		c.scans = scanEvery
	}
	c.scans--
	c.serveLink(now)
	if c.link.up {
		for _, n := range c.activeTx {
			worked = c.transmit(n, now) || worked
		}
	}
	return c.receive() || worked
}

// record tells the recorder.
func (c *Card) record(sent bool, frame []byte, remarks []string) {
	if c.config.Recorder != nil {
		c.config.Recorder.Record(sent, frame, remarks)
	}
}
