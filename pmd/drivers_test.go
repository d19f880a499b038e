package pmd_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// linkUp waits until the port has a link.
func linkUp(t *testing.T, ports ...*pmd.Port) {
	t.Helper()
	for _, port := range ports {
		require.Eventually(t, func() bool {
			link, err := port.Link()
			return err == nil && link.Up
		}, 10*time.Second, 5*time.Millisecond, "port %s has no link", port)
	}
}

// TestMemif joins two ports of this process by shared memory.
func TestMemif(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	socket := fmt.Sprintf("%s/memif.sock", t.TempDir())
	if len(socket) > 100 {
		t.Skip("the path of the socket is too long for a Unix socket: ", socket)
	}
	pool := pmdtest.NewPool(t, 4095)
	server := pmdtest.Vdev(t, pool, pmdtest.Name("net_memif"), "role=server,id=0,socket-abstract=no,socket="+socket)
	client := pmdtest.Vdev(t, pool, pmdtest.Name("net_memif"), "role=client,id=0,socket-abstract=no,socket="+socket)
	linkUp(t, server, client)
	// A server sends into buffers that its client hands over when it receives.
	require.Empty(t, pmdtest.Collect(t, client, 1, 0))
	want := frames(300)
	for _, way := range [][2]*pmd.Port{{server, client}, {client, server}} {
		pmdtest.Inject(t, way[0], want...)
		require.Equal(t, want, pmdtest.Collect(t, way[1], len(want), 5*time.Second))
	}
}

// veth makes a veth pair for a test and returns the names of its ends.
func veth(t *testing.T) (near, far string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a veth pair needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("making a veth pair needs iproute2")
	}
	near, far = fmt.Sprintf("pmdn%d", os.Getpid()%1e6), fmt.Sprintf("pmdf%d", os.Getpid()%1e6)
	if out, err := exec.Command("ip", "link", "add", near, "type", "veth", "peer", "name", far).CombinedOutput(); err != nil {
		t.Skipf("this kernel makes no veth pair: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "link", "delete", near).Run() })
	ip(t, "link set "+near+" up")
	ip(t, "link set "+far+" up")
	return near, far
}

func ip(t *testing.T, command string) {
	t.Helper()
	out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput()
	require.NoError(t, err, "ip %s: %s", command, out)
}

// TestTapFinishesChecksums: a port that offers to compute the IPv4 header checksum
// does so when a packet asks for it, and the kernel gets the packet.
func TestTapFinishesChecksums(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a tap needs root")
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		t.Skip("a tap needs /dev/net/tun")
	}
	name := fmt.Sprintf("pmdt%d", os.Getpid()%1e6)
	port, err := pmd.CreateVdev(pmdtest.Name("net_tap"), "iface="+name)
	require.NoError(t, err)
	pool := pmdtest.NewPool(t, 2047)
	pmdtest.Start(t, port, pmd.PortConfig{Pool: pool, TxOffloads: pmd.TxIPv4Checksum, RxDesc: 128})
	require.Equal(t, name, port.Info().KernelInterface)
	heard := listen(t, name)

	header := []byte{0x45, 0, 0, 48, 1, 2, 0x40, 0, 64, 17, 0, 0, 203, 0, 113, 7, 203, 0, 113, 8}
	frame := append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0}, header...)
	frame = append(frame, strings.Repeat("tap!", 7)...)
	lane := newLane(t, pmd.LaneConfig{TxPort: port})
	m := pmdtest.NewMbuf(t, pool, frame)
	m.RequestIPv4Checksum(14, 20)
	require.True(t, lane.Send(m))
	require.Zero(t, lane.Flush(time.Second))

	want := append([]byte{}, frame...)
	binary.BigEndian.PutUint16(want[24:], ^sum(header, 0))
	require.Equal(t, want, heard("tap!"))
	require.Equal(t, pmd.LaneCounters{TxPackets: 1, TxBytes: uint64(len(frame))}, lane.Counters())
}

// listen returns a function that waits for a frame with a text in it on an
// interface of the kernel.
func listen(t *testing.T, name string) func(text string) []byte {
	t.Helper()
	i, err := net.InterfaceByName(name)
	require.NoError(t, err)
	all := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(all))
	require.NoError(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	require.NoError(t, unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: i.Index}))
	require.NoError(t, unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}))
	return func(text string) []byte {
		buffer := make([]byte, 65536)
		for {
			n, _, err := unix.Recvfrom(fd, buffer, 0)
			if err == unix.EINTR {
				continue
			}
			require.NoError(t, err, "no frame with %q", text)
			if strings.Contains(string(buffer[:n]), text) {
				return buffer[:n]
			}
		}
	}
}

// packetSocket sends whole frames on an interface.
func packetSocket(t *testing.T, name string) func(frame []byte) {
	t.Helper()
	i, err := net.InterfaceByName(name)
	require.NoError(t, err)
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	return func(frame []byte) {
		require.NoError(t, unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: i.Index}))
	}
}

// afPacket makes a started port on one end of a veth pair.
func afPacket(t *testing.T) (port *pmd.Port, far string) {
	t.Helper()
	near, far := veth(t)
	port, err := pmd.CreateVdev(pmdtest.Name("net_af_packet"), "iface="+near)
	require.NoError(t, err)
	pmdtest.Start(t, port, pmd.PortConfig{Pool: pmdtest.NewPool(t, 1023), MTU: 1600})
	require.Equal(t, near, port.Info().KernelInterface)
	require.True(t, port.Info().UnmarkedChecksums)
	mtu, err := pmd.KernelMTU(near)
	require.NoError(t, err)
	require.Equal(t, 1600, mtu)
	return port, far
}

// collectMatching receives until a frame contains the text; the kernel sends
// frames of its own on every interface.
func collectMatching(t *testing.T, port *pmd.Port, text string) []byte {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		for _, frame := range pmdtest.Collect(t, port, 1, 100*time.Millisecond) {
			if strings.Contains(string(frame), text) {
				return frame
			}
		}
	}
	require.Fail(t, "no such frame came", text)
	return nil
}

// TestAfPacketKeepsVLANTags: the kernel takes the tag out of a frame, the driver
// puts it back.
func TestAfPacketKeepsVLANTags(t *testing.T) {
	port, far := afPacket(t)
	send := packetSocket(t, far)
	addresses := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}
	for name, tag := range map[string][]byte{
		"untagged": {},
		"tagged":   {0x81, 0, 0x60, 42},
		"priority": {0x81, 0, 0xa0, 0},
	} {
		frame := append(append([]byte{}, addresses...), tag...)
		frame = append(frame, 0x88, 0xb5) // local experimental ethertype
		frame = append(frame, strings.Repeat(name+" ", 10)...)
		send(frame)
		require.Equal(t, frame, collectMatching(t, port, name), name)
	}
}

// TestAfPacketChecksumsAreUnfinished: why UnmarkedChecksums is there. A UDP
// packet of the kernel comes with the sum of its pseudo header where the checksum
// belongs, and nothing in the packet buffer says so.
func TestAfPacketChecksumsAreUnfinished(t *testing.T) {
	port, far := afPacket(t)
	ip(t, "address add 203.0.113.1/24 dev "+far)
	ip(t, "neighbour replace 203.0.113.2 lladdr 02:00:00:00:00:02 dev "+far)
	text := "a datagram with an unfinished checksum"
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(netip.MustParseAddrPort("203.0.113.2:4242")))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(text))
	require.NoError(t, err)

	packet := collectMatching(t, port, text)[14:]
	udp := packet[20:]
	length := binary.BigEndian.Uint16(udp[4:])
	require.Equal(t, 8+len(text), int(length))
	pseudo := sum(packet[12:20], uint32(17)+uint32(length))
	got := binary.BigEndian.Uint16(udp[6:])
	if got == ^sum(udp[:6], sum32(udp[8:], uint32(pseudo))) {
		t.Skip("this kernel computes checksums on veth")
	}
	require.Equal(t, pseudo, got)
}

// sum is the ones' complement sum of RFC 1071.
func sum(b []byte, start uint32) uint16 { return uint16(sum32(b, start)) }

func sum32(b []byte, s uint32) uint32 {
	for ; len(b) > 1; b = b[2:] {
		s += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	for s>>16 != 0 {
		s = s>>16 + s&0xffff
	}
	return s
}
