package wire

import (
	"errors"
	"fmt"
	"strings"

	"espgw/pmd/silicon"
)

// Wire is a silicon.Wire that can be closed. Lost is how many frames it did not take.
type Wire interface {
	silicon.Wire
	Lost() uint64
	Close() error
}

// Kinds tells what Open understands.
const Kinds = "none | loop | tap:NAME | af_packet:NAME | pcap:IN,OUT | unix:PATH"

// ErrSpec says that there is no such wire.
var ErrSpec = errors.New("no such wire")

// minFrame is the length of the shortest frame of Ethernet, without its CRC. Senders of
// hardware pad to it.
const minFrame = 60

// Open plugs in what a specification names; see Kinds.
//
//	none             frames go nowhere, none come
//	loop             what is sent comes back
//	tap:NAME         a TAP interface, made if it is not there
//	af_packet:NAME   an interface that is there: all that it receives, and sends for others
//	pcap:IN,OUT      frames of a file (pcap or pcapng) come, those that are sent go to another (pcap); either may be empty
//	unix:PATH        a socket (SOCK_SEQPACKET), a frame a message, one peer at a time
func Open(spec string) (w Wire, err error) {
	kind, name, _ := strings.Cut(spec, ":")
	if bare := kind == "none" || kind == "loop"; bare == (name != "") {
		return nil, fmt.Errorf("%w: %q; there are %s", ErrSpec, spec, Kinds)
	}
	switch kind {
	case "none":
		return none{}, nil
	case "loop":
		return newLoop(), nil
	case "tap":
		w, err = openTap(name)
	case "af_packet":
		w, err = openPacketSocket(name)
	case "pcap":
		w, err = openPcap(name)
	case "unix":
		w, err = openUnix(name)
	default:
		return nil, fmt.Errorf("%w: %q; there are %s", ErrSpec, spec, Kinds)
	}
	if err != nil {
		return nil, fmt.Errorf("wire %s: %w", spec, err)
	}
	return w, nil
}

// none is an empty connector.
type none struct{}

func (none) Send([]byte)        {}
func (none) Receive([]byte) int { return 0 }
func (none) Lost() uint64       { return 0 }
func (none) Close() error       { return nil }
