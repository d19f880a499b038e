package wire_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon/wire"
)

func dial(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// exchange sends a frame each way.
func exchange(t *testing.T, w wire.Wire, peer *net.UnixConn) {
	t.Helper()
	_, err := peer.Write(frameOf(100, 3))
	require.NoError(t, err)
	require.Equal(t, frameOf(100, 3), take(t, w))
	w.Send(frameOf(9000, 4))
	buf := make([]byte, 16<<10)
	require.NoError(t, peer.SetReadDeadline(time.Now().Add(5*time.Second)))
	n, err := peer.Read(buf)
	require.NoError(t, err)
	require.Equal(t, frameOf(9000, 4), buf[:n])
}

func TestUnixOnePeerAfterTheOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire")
	w := open(t, "unix:"+path)
	w.Send(frameOf(60, 1))
	require.Equal(t, uint64(1), w.Lost(), "nobody is there")
	quiet(t, w)
	for range 3 {
		peer := dial(t, path)
		exchange(t, w, peer)
		require.NoError(t, peer.Close())
		quiet(t, w)
	}
}

func TestUnixPadsShortFrames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire")
	w := open(t, "unix:"+path)
	peer := dial(t, path)
	_, err := peer.Write(frameOf(20, 9))
	require.NoError(t, err)
	require.Equal(t, append(frameOf(20, 9), make([]byte, 40)...), take(t, w))
}

func TestUnixLosesWhatThePeerDoesNotTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire")
	w := open(t, "unix:"+path)
	peer := dial(t, path)
	exchange(t, w, peer)
	for i := 0; w.Lost() == 0; i++ {
		require.Less(t, i, 1_000_000, "a peer that does not read takes all")
		w.Send(frameOf(1500, 1))
	}
	lost := w.Lost()
	require.NoError(t, peer.Close())
	w.Send(frameOf(60, 1))
	require.Greater(t, w.Lost(), lost)
	exchange(t, w, dial(t, path))
}

func TestUnixSocketFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire")
	w := openOnce(t, "unix:"+path)
	_, err := wire.Open("unix:" + path)
	require.ErrorContains(t, err, "somebody listens there")
	require.NoError(t, w.Close())
	require.NoFileExists(t, path)

	stale, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	require.NoError(t, err)
	stale.SetUnlinkOnClose(false)
	require.NoError(t, stale.Close())
	_, err = os.Stat(path)
	require.NoError(t, err, "a socket that nobody listens on")
	require.NoError(t, openOnce(t, "unix:"+path).Close())
}
