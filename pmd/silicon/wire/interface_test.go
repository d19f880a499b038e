package wire_test

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"espgw/pmd/silicon/wire"
)

// inNamespace has the test's goroutine in a network namespace of its own, for good: its
// thread ends with it.
func inNamespace(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a network namespace needs root")
	}
	runtime.LockOSThread()
	require.NoError(t, unix.Unshare(unix.CLONE_NEWNET))
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("ip", args...).CombinedOutput()
	require.NoError(t, err, string(out))
}

// exchangeWith has frames go both ways, with VLAN tags and without.
func exchangeWith(t *testing.T, w, other wire.Wire) {
	t.Helper()
	tagged := append([]byte(nil), frameOf(100, 5)...)
	copy(tagged[12:], []byte{0x81, 0x00, 0x20, 0x2a})
	double := append([]byte(nil), frameOf(100, 6)...)
	copy(double[12:], []byte{0x88, 0xa8, 0x00, 0x07, 0x81, 0x00, 0x00, 0x08})
	for _, frame := range [][]byte{frameOf(60, 1), frameOf(1514, 2), tagged, double} {
		w.Send(frame)
		require.Equal(t, frame, next(t, other))
		other.Send(frame)
		require.Equal(t, frame, next(t, w))
	}
	quiet(t, w)
}

// next is the next frame of the tests' own ethertypes: the kernel may send of its own.
func next(t *testing.T, w wire.Wire) []byte {
	t.Helper()
	for {
		frame := take(t, w)
		if frame[0] == 2 && frame[5] == 1 {
			return append([]byte(nil), frame...)
		}
	}
}

func TestPacketSocket(t *testing.T) {
	inNamespace(t)
	ip(t, "link", "add", "one", "type", "veth", "peer", "name", "two")
	for _, name := range []string{"one", "two"} {
		require.NoError(t, os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0o600))
		ip(t, "link", "set", name, "up")
	}
	one, two := open(t, "af_packet:one"), open(t, "af_packet:two")
	exchangeWith(t, one, two)
	require.Zero(t, one.Lost())
	frame, buf := frameOf(200, 1), make([]byte, 2048)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		one.Send(frame)
		two.Receive(buf)
	}))
	ip(t, "link", "set", "one", "down")
	one.Send(frameOf(60, 1))
	require.Equal(t, uint64(1), one.Lost())
}

func TestTap(t *testing.T) {
	inNamespace(t)
	w := openOnce(t, "tap:card")
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv6/conf/card/disable_ipv6", []byte("1"), 0o600))
	link, err := net.InterfaceByName("card")
	require.NoError(t, err)
	require.NotZero(t, link.Flags&net.FlagUp)
	kernel := open(t, "af_packet:card")
	exchangeWith(t, w, kernel)
	kernel.Send(frameOf(20, 7))
	require.Equal(t, append(frameOf(20, 7), make([]byte, 40)...), next(t, w))
	require.NoError(t, w.Close())
	_, err = net.InterfaceByName("card")
	require.Error(t, err, "the interface goes with its wire")
}
