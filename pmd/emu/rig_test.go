package emu_test

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu"
	"espgw/pmd/emu/probe"
	"espgw/pmd/pmdtest"
)

func TestMain(m *testing.M) { os.Exit(pmdtest.Main(m)) }

// rig is an emulated NIC at one end of a pair of rings; tests see the wire at the
// other:
//
//	lane ── near (emulated NIC) ══ rings ══ far
type rig struct {
	t         *testing.T
	nic       *emu.NIC
	near, far *pmd.Port
	pool      *pmd.Pool
	lane      *pmd.Lane
	sec       *pmd.Security
	probe     *probe.Device // see raw
	config    rigConfig
}

// rigConfig is what a rig is like.
type rigConfig struct {
	ring   int // packets of each ring
	queues int
}

const (
	src, dst = "14.0.0.52", "14.0.0.70"
	// src6 and dst6 are the same for IPv6.
	src6, dst6 = "2001:db8:14::52", "2001:db8:14::70"
)

func newRig(t *testing.T, options string) *rig {
	t.Helper()
	r := attached(t, options)
	r.start(pmd.RxSecurity, pmd.TxSecurity|pmd.TxIPv4Checksum)
	return r
}

// attached is a rig whose near port is not configured.
func attached(t *testing.T, options string, change ...func(*rigConfig)) *rig {
	t.Helper()
	o, err := emu.ParseOptions(options)
	require.NoError(t, err)
	c := rigConfig{ring: 1024, queues: 1}
	for _, f := range change {
		f(&c)
	}
	r := &rig{t: t, pool: pmdtest.NewPool(t, 2047), config: c}
	r.near, r.far, err = pmd.NewRingPairQueues(pmdtest.Name("emu"), c.queues, c.ring)
	require.NoError(t, err)
	r.nic, err = emu.Attach(r.near, o)
	require.NoError(t, err)
	r.probe, err = probe.New(r.near, r.nic, pmdtest.Name("probe"), 255)
	require.NoError(t, err)
	t.Cleanup(r.probe.Close)
	t.Cleanup(func() { require.NoError(t, r.nic.Close()) })
	pmdtest.Start(t, r.far, pmd.PortConfig{Pool: r.pool, RxQueues: c.queues, TxQueues: c.queues})
	return r
}

func (r *rig) start(rx, tx pmd.Offload) {
	r.t.Helper()
	t := r.t
	pmdtest.Start(t, r.near, pmd.PortConfig{
		Pool: r.pool, RxOffloads: rx, TxOffloads: tx, RxQueues: r.config.queues, TxQueues: r.config.queues,
	})
	var err error
	r.lane, err = pmd.NewLane(pmd.LaneConfig{RxPort: r.near, TxPort: r.near})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.lane.Close()) })
	r.sec, err = r.near.Security(4096)
	require.NoError(t, err)
}

// keys of SA number i.
func keyOf(i int) (key, salt []byte) {
	key, salt = make([]byte, 32), make([]byte, 4)
	for j := range key {
		key[j] = byte(i*7 + j)
	}
	binary.BigEndian.PutUint32(salt, uint32(i)*0x01010101)
	return key, salt
}

// conf is SA number i: its SPI, and a key of its own.
func conf(i int, egress bool, change ...func(*pmd.SessionConf)) pmd.SessionConf {
	key, salt := keyOf(i)
	c := pmd.SessionConf{
		Action: pmd.InlineCrypto, Egress: egress, SPI: uint32(i), Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst),
		Algorithm: pmd.AEADAESGCM, Key: key[:16], Salt: salt, ICVLen: 16,
	}
	if !egress {
		c.Src, c.Dst = c.Dst, c.Src
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func (r *rig) open(c pmd.SessionConf) *pmd.SecuritySession {
	r.t.Helper()
	s, err := r.sec.Open(c)
	require.NoError(r.t, err)
	return s
}

// aead is Go's AES-GCM with that SA's key.
func aead(t *testing.T, c *pmd.SessionConf) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(c.Key)
	require.NoError(t, err)
	a, err := cipher.NewGCM(block)
	require.NoError(t, err)
	return a
}

func sum(b []byte) uint16 {
	s := uint32(0)
	for ; len(b) > 1; b = b[2:] {
		s += uint32(binary.BigEndian.Uint16(b))
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}

// espFrame is a whole ESP packet in clear text, with a zero ICV and header checksum:
// what goes to a device that does inline crypto.
func espFrame(from, to string, spi, seq uint32, payload []byte) []byte {
	pad := -(len(payload) + 2) & 3
	text := append([]byte(nil), payload...)
	for i := range pad {
		text = append(text, byte(i+1))
	}
	return espText(from, to, spi, seq, append(text, byte(pad), 17))
}

// espText is espFrame with padding and trailer of the caller's.
func espText(from, to string, spi, seq uint32, text []byte) []byte {
	esp := binary.BigEndian.AppendUint32(nil, spi)
	esp = binary.BigEndian.AppendUint32(esp, seq)
	esp = binary.BigEndian.AppendUint64(esp, uint64(seq)|0xabcd<<32)
	esp = append(append(esp, text...), make([]byte, 16)...)
	return ipFrame(from, to, 50, esp)
}

func ipFrame(from, to string, proto byte, payload []byte) []byte {
	a, b := netip.MustParseAddr(from), netip.MustParseAddr(to)
	frame := []byte{2, 0, 0, 0, 0, 0x70, 2, 0, 0, 0, 0, 0x52}
	if a.Is6() {
		frame = append(frame, 0x86, 0xdd, 0x60, 0, 0, 0)
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(payload)))
		frame = append(frame, proto, 64)
	} else {
		frame = append(frame, 8, 0, 0x45, 0)
		frame = binary.BigEndian.AppendUint16(frame, uint16(20+len(payload)))
		frame = append(frame, 0x12, 0x34, 0x40, 0, 64, proto, 0, 0)
	}
	frame = append(frame, a.AsSlice()...)
	frame = append(frame, b.AsSlice()...)
	return append(frame, payload...)
}

// headers are the lengths in front of ESP.
func headers(frame []byte) int {
	if frame[12] == 0x86 {
		return 14 + 40
	}
	return 14 + 20
}

// sealed is an ESP frame as it is on the wire, sealed by Go.
func sealed(t *testing.T, c *pmd.SessionConf, from, to string, seq uint64, payload []byte) []byte {
	t.Helper()
	frame := espFrame(from, to, c.SPI, uint32(seq), payload)
	at := headers(frame)
	nonce := append(append([]byte(nil), c.Salt...), frame[at+8:at+16]...)
	out := aead(t, c).Seal(nil, nonce, frame[at+16:len(frame)-16], aad(c, frame[at:], seq))
	copy(frame[at+16:], out)
	if at == 34 {
		binary.BigEndian.PutUint16(frame[24:], sum(frame[14:34]))
	}
	return frame
}

func aad(c *pmd.SessionConf, esp []byte, seq uint64) []byte {
	if !c.ESN {
		return esp[:8]
	}
	return binary.BigEndian.AppendUint64(append([]byte(nil), esp[:4]...), seq)
}

// opened verifies a frame from the wire and returns what its text was.
func opened(t *testing.T, c *pmd.SessionConf, frame []byte, seq uint64) ([]byte, error) {
	t.Helper()
	at := headers(frame)
	nonce := append(append([]byte(nil), c.Salt...), frame[at+8:at+16]...)
	return aead(t, c).Open(nil, nonce, frame[at+16:], aad(c, frame[at:], seq))
}

// item is a frame that goes out; session nil: as it is.
type item struct {
	frame   []byte
	session *pmd.SecuritySession
	seq     uint64
	secured *pmd.Secured // nil: what is right for the frame
}

// send puts frames out, as one burst, and returns the wire.
func (r *rig) send(items ...item) [][]byte {
	r.t.Helper()
	for _, it := range items {
		m := pmdtest.NewMbuf(r.t, r.pool, it.frame)
		if it.session == nil {
			require.True(r.t, r.lane.Send(m))
			continue
		}
		s := pmd.Secured{L2: 14, L3: headers(it.frame) - 14, V6: it.frame[12] == 0x86}
		s.IPChecksum = !s.V6
		if it.secured != nil {
			s = *it.secured
		}
		require.True(r.t, r.lane.SendSecured(m, it.session, it.seq, s))
	}
	r.lane.Exchange()
	return pmdtest.Collect(r.t, r.far, len(items), 300*time.Millisecond)
}

// got is a packet as the lane receives it.
type got struct {
	frame    []byte
	flags    uint64
	userData uint64
}

func (g *got) marks() uint64 { return g.flags & (pmd.FlagRxSecOffload | pmd.FlagRxSecOffloadFailed) }

const (
	goodMark = pmd.FlagRxSecOffload
	badMark  = pmd.FlagRxSecOffload | pmd.FlagRxSecOffloadFailed
)

// receive puts frames on the wire and returns what the lane gets.
func (r *rig) receive(frames ...[]byte) []got {
	r.t.Helper()
	pmdtest.Inject(r.t, r.far, frames...)
	return r.taken(len(frames))
}

// taken is what the lane gets, n packets at most.
func (r *rig) taken(n int) (list []got) {
	r.t.Helper()
	for end := time.Now().Add(time.Second); len(list) < n && time.Now().Before(end); {
		r.lane.Exchange()
		for _, m := range r.lane.Rx() {
			list = append(list, got{m.AppendTo(nil), m.Flags(), m.SecurityUserData()})
			r.lane.Drop(m)
		}
	}
	r.lane.Exchange()
	return list
}

// count is a counter.
func (r *rig) count(name string) int {
	r.t.Helper()
	n, ok := r.nic.Counters()[name]
	require.True(r.t, ok, "no counter %s", name)
	return int(n)
}

// breached says that the contract was broken so often in that way, and in no other,
// since the last call.
func (r *rig) breached(kind string, n int) {
	r.t.Helper()
	require.Equal(r.t, n, r.count(kind), "%v", r.nic.Breaches())
	require.Equal(r.t, n, r.count("breaches"), "%v", r.nic.Breaches())
}

func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}
