package main

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// socket is a packet socket on one interface.
type socket struct{ fd int }

// networkOrder is a 16-bit number as sockaddr_ll holds it on a little-endian machine.
func networkOrder(n uint16) uint16 { return n<<8 | n>>8 }

// openSocket opens a socket on iface. One that does not receive costs nothing
// when frames arrive.
func openSocket(iface string, receive bool) (*socket, error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", iface, err)
	}
	protocol := uint16(0)
	if receive {
		protocol = networkOrder(unix.ETH_P_ALL)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(protocol))
	if err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: protocol, Ifindex: i.Index}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("bind a packet socket to %s: %w", iface, err)
	}
	return &socket{fd}, nil
}

func (s *socket) close() { unix.Close(s.fd) }
