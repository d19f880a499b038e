package main

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The transmit ring (packet(7), PACKET_TX_RING) of slots that the kernel and we
// share: so many frames take one system call, which would be half of what a small
// frame costs.
const (
	slotLen   = 256
	slotCount = 4096
	blockLen  = 1 << 16
	// A slot is a tpacket2_hdr and the frame behind it.
	slotLength = 4  // where tp_len stands
	slotFrame  = 32 // where the frame starts
	maxFrame   = slotLen - slotFrame
)

// States of a slot, in its first word (linux/if_packet.h).
const (
	slotFree     = 0 // TP_STATUS_AVAILABLE
	slotToSend   = 1 // TP_STATUS_SEND_REQUEST
	slotRejected = 4 // TP_STATUS_WRONG_FORMAT
)

// ring is a socket that sends through a transmit ring.
type ring struct {
	*socket
	slots []byte
	next  int // slot of the next frame
}

// openRing opens a socket on iface that sends past the queueing discipline.
func openRing(iface string) (*ring, error) {
	s, err := openSocket(iface, false)
	if err != nil {
		return nil, err
	}
	r := &ring{socket: s}
	if err := r.share(); err != nil {
		s.close()
		return nil, err
	}
	return r, nil
}

func (r *ring) share() error {
	for _, option := range [][2]int{{unix.PACKET_QDISC_BYPASS, 1}, {unix.PACKET_VERSION, unix.TPACKET_V2}} {
		if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, option[0], option[1]); err != nil {
			return fmt.Errorf("packet socket, option %d: %w", option[0], err)
		}
	}
	shape := unix.TpacketReq{
		Block_size: blockLen, Block_nr: slotLen * slotCount / blockLen, Frame_size: slotLen, Frame_nr: slotCount,
	}
	if err := unix.SetsockoptTpacketReq(r.fd, unix.SOL_PACKET, unix.PACKET_TX_RING, &shape); err != nil {
		return fmt.Errorf("PACKET_TX_RING: %w", err)
	}
	var err error
	r.slots, err = unix.Mmap(r.fd, 0, slotLen*slotCount, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map the transmit ring: %w", err)
	}
	return nil
}

// put queues a frame. It reports false while the ring is full.
func (r *ring) put(frame []byte) (bool, error) {
	if len(frame) > maxFrame {
		return false, fmt.Errorf("a frame of %d octets: %d at most", len(frame), maxFrame)
	}
	slot := r.slots[r.next*slotLen : (r.next+1)*slotLen]
	switch state := binary.LittleEndian.Uint32(slot); state {
	case slotFree:
	case slotRejected:
		return false, errors.New("the kernel has refused a frame's form")
	default:
		return false, nil
	}
	copy(slot[slotFrame:], frame)
	binary.LittleEndian.PutUint32(slot[slotLength:], uint32(len(frame)))
	binary.LittleEndian.PutUint32(slot, slotToSend) // last: now the slot is the kernel's
	r.next = (r.next + 1) % slotCount
	return true, nil
}

// flush has the kernel send what was put. What it has no memory for just now
// stays in the ring.
func (r *ring) flush() error {
	err := unix.Send(r.fd, nil, unix.MSG_DONTWAIT)
	if err != nil && !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// waiting counts the frames that have not left the ring.
func (r *ring) waiting() (n int) {
	for at := 0; at < len(r.slots); at += slotLen {
		if binary.LittleEndian.Uint32(r.slots[at:]) != slotFree {
			n++
		}
	}
	return n
}

func (r *ring) close() {
	unix.Munmap(r.slots)
	r.socket.close()
}
