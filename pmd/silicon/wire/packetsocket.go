package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// packetSocket is an interface that is there, by AF_PACKET (packet(7)).
type packetSocket struct {
	fd      int
	lost    uint64
	vector  unix.Iovec
	message unix.Msghdr
	control [controlRoom]byte
}

const (
	controlRoom = 64
	socketRoom  = 16 << 20 // octets of frames that wait for the card
	tagLength   = 4
	anyProtocol = unix.ETH_P_ALL
)

func openPacketSocket(name string) (Wire, error) {
	link, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a packet socket: %w", err)
	}
	p := &packetSocket{fd: fd}
	if err := p.setUp(link.Index); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return p, nil
}

func (p *packetSocket) setUp(index int) error {
	// What the card sends must not come back to it.
	if err := unix.SetsockoptInt(p.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return fmt.Errorf("ignoring frames that leave: %w", err)
	}
	// The kernel takes VLAN tags out of frames, and tells them beside.
	if err := unix.SetsockoptInt(p.fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1); err != nil {
		return fmt.Errorf("asking for VLAN tags: %w", err)
	}
	for _, option := range []int{unix.SO_RCVBUFFORCE, unix.SO_SNDBUFFORCE} {
		if err := unix.SetsockoptInt(p.fd, unix.SOL_SOCKET, option, socketRoom); err != nil {
			return fmt.Errorf("making the socket's buffers large: %w", err)
		}
	}
	all := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
	if err := unix.SetsockoptPacketMreq(p.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &all); err != nil {
		return fmt.Errorf("receiving everybody's frames: %w", err)
	}
	network := binary.NativeEndian.Uint16([]byte{anyProtocol >> 8, anyProtocol & 0xff})
	if err := unix.Bind(p.fd, &unix.SockaddrLinklayer{Protocol: network, Ifindex: index}); err != nil {
		return fmt.Errorf("binding the socket to the interface: %w", err)
	}
	return nil
}

func (p *packetSocket) Send(frame []byte) {
	if n, err := unix.Write(p.fd, frame); err != nil || n != len(frame) {
		p.lost++
	}
}

func (p *packetSocket) Receive(buf []byte) int {
	if len(buf) < minFrame+tagLength {
		return 0
	}
	p.vector = unix.Iovec{Base: &buf[0], Len: uint64(len(buf) - tagLength)}
	p.message = unix.Msghdr{Iov: &p.vector, Iovlen: 1, Control: &p.control[0], Controllen: controlRoom}
	got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(p.fd), uintptr(unsafe.Pointer(&p.message)), 0)
	n := int(got)
	if errno != 0 || n < 14 {
		return 0
	}
	if tag, there := vlanTag(p.control[:p.message.Controllen]); there {
		copy(buf[12+tagLength:], buf[12:n])
		copy(buf[12:], tag[:])
		n += tagLength
	}
	return pad(buf, n)
}

// vlanTag finds the tag that the kernel took out of a frame: cmsghdr (length, level, type)
// and tpacket_auxdata (linux/if_packet.h).
func vlanTag(control []byte) (tag [tagLength]byte, there bool) {
	const header, statusAt, tciAt, tpidAt = 16, 0, 16, 18
	const valid, typeValid = 1 << 4, 1 << 6
	if len(control) < header+20 {
		return tag, false
	}
	native := binary.NativeEndian
	if native.Uint32(control[8:]) != unix.SOL_PACKET || native.Uint32(control[12:]) != unix.PACKET_AUXDATA {
		return tag, false
	}
	data := control[header:]
	status := native.Uint32(data[statusAt:])
	if status&valid == 0 {
		return tag, false
	}
	ethertype := uint16(unix.ETH_P_8021Q)
	if status&typeValid != 0 {
		ethertype = native.Uint16(data[tpidAt:])
	}
	binary.BigEndian.PutUint16(tag[:], ethertype)
	binary.BigEndian.PutUint16(tag[2:], native.Uint16(data[tciAt:]))
	return tag, true
}

// Lost counts what could not be sent, and what came while the buffer was full.
func (p *packetSocket) Lost() uint64 {
	statistics, err := unix.GetsockoptTpacketStats(p.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err == nil { // reading clears them
		p.lost += uint64(statistics.Drops)
	}
	return p.lost
}

func (p *packetSocket) Close() error {
	if err := unix.Close(p.fd); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("closing a packet socket: %w", err)
	}
	return nil
}
