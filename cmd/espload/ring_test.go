package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// ownNetwork puts the test into a network namespace of its own, whose loopback
// interface is up. The thread is not used again.
func ownNetwork(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("packet sockets and a network namespace need root")
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	require.NoError(t, unix.Unshare(unix.CLONE_NEWNET))
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	require.NoError(t, err)
	lo.SetUint16(unix.IFF_UP)
	require.NoError(t, unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo))
}

// received reads frames until n datagrams or ESP packets came.
func received(t *testing.T, s *socket, n int) (numbers []uint64, packets []espPacket) {
	t.Helper()
	wait := unix.Timeval{Sec: 5}
	require.NoError(t, unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait))
	b := make([]byte, 2048)
	for len(numbers)+len(packets) < n {
		got, from, err := unix.Recvfrom(s.fd, b, 0)
		require.NoError(t, err)
		if from.(*unix.SockaddrLinklayer).Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		if number, ok := numberOf(b[:got]); ok {
			numbers = append(numbers, number)
		}
		if p, ok := parseESP(b[:got]); ok {
			packets = append(packets, p)
		}
	}
	return numbers, packets
}

func TestSend(t *testing.T) {
	ownNetwork(t)
	receiver, err := openSocket("lo", true)
	require.NoError(t, err)
	defer receiver.close()
	r, err := openRing("lo")
	require.NoError(t, err)
	defer r.close()
	l, err := newLoad([]string{"14.0.0.52,14.0.0.70", "2001:db8::52,2001:db8::70"}, macA.String(), macB.String(), 100)
	require.NoError(t, err)
	next := uint64(100)
	for range 2 * slotCount / 32 { // twice around the ring
		for range 32 {
			require.NoError(t, l.put(r))
		}
		require.NoError(t, r.flush())
		numbers, _ := received(t, receiver, 32)
		for _, n := range numbers {
			require.Equal(t, next, n)
			next++
		}
	}
	require.Equal(t, 2*slotCount, l.sent)
	require.Zero(t, l.refused)
}

func TestRingFull(t *testing.T) {
	ownNetwork(t)
	r, err := openRing("lo")
	require.NoError(t, err)
	defer r.close()
	frame := espFrame(t, "14.0.0.52,14.0.0.70", espPacket{spi: 7})
	for range slotCount {
		ok, err := r.put(frame)
		require.NoError(t, err)
		require.True(t, ok)
	}
	ok, err := r.put(frame)
	require.NoError(t, err)
	require.False(t, ok, "the kernel has not been told to send")
	require.Equal(t, slotCount, r.waiting())
	require.NoError(t, r.drain(context.Background()))
	require.Zero(t, r.waiting())
	_, err = r.put(make([]byte, maxFrame+1))
	require.Error(t, err)
}

func TestReplayAndAwait(t *testing.T) {
	ownNetwork(t)
	clear := newDatagram(mustFlow(t, "1.2.3.4,5.6.7.8"), macA, macB).frame
	data := appendFrame(pcapHeader(pcapNano, pcapEthernet), 0, clear)
	var want []espPacket
	for n := range uint32(100) { // no more than a receiver's socket holds
		to := []string{"14.0.0.52,14.0.0.70", "2001:db8::52,2001:db8::70"}[n%2]
		p := espPacket{mustFlow(t, to).dst, 7, n, uint64(n) << 32}
		want = append(want, p)
		data = appendFrame(data, time.Second, espFrame(t, to, p))
	}
	name := filepath.Join(t.TempDir(), "f.pcap")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	receiver, err := openSocket("lo", true)
	require.NoError(t, err)
	defer receiver.close()
	waiting, err := openSocket("lo", true)
	require.NoError(t, err)
	defer waiting.close()
	r, err := openRing("lo")
	require.NoError(t, err)
	defer r.close()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	sent, err := replayFile(ctx, name, 1e5, r)
	require.NoError(t, err)
	require.NoError(t, r.drain(ctx))
	require.Equal(t, len(want), sent, "only what is ESP")
	numbers, packets := received(t, receiver, len(want))
	require.Empty(t, numbers)
	require.Equal(t, want, packets)
	require.NoError(t, waiting.awaitESP(ctx))

	none, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	defer stop()
	quiet, err := openSocket("lo", true)
	require.NoError(t, err)
	defer quiet.close()
	_, err = r.put(clear)
	require.NoError(t, err)
	require.NoError(t, r.drain(ctx))
	require.ErrorContains(t, quiet.awaitESP(none), "no ESP packet was seen")
}

// TestReplayWhole: a packet that was captured in part is not sent.
func TestReplayWhole(t *testing.T) {
	ownNetwork(t)
	frame := espFrame(t, "14.0.0.52,14.0.0.70", espPacket{spi: 7})
	data := appendFrame(pcapHeader(pcapNano, pcapEthernet), 0, frame)
	data[24+12]++ // its length on the wire
	name := filepath.Join(t.TempDir(), "f.pcap")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	r, err := openRing("lo")
	require.NoError(t, err)
	defer r.close()
	_, err = replayFile(context.Background(), name, 1e5, r)
	require.ErrorContains(t, err, "kept in part")
}

func TestPace(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	n, flushes := 0, 0
	flush := func() error { flushes++; return nil }
	require.NoError(t, paced(ctx, 10000, func() (bool, error) { n++; return true, nil }, flush))
	require.Less(t, n, 2200)
	require.Greater(t, n, 500, "a machine that is busy may be slow, but not that slow")
	require.GreaterOrEqual(t, n, flushes)

	n = 0
	require.NoError(t, paced(context.Background(), 1e6, func() (bool, error) { n++; return n < 10, nil }, flush))
	require.Equal(t, 10, n, "it ends when there are no more")
}
