package emu_test

import (
	"net/netip"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
	"espgw/pmd/pmdtest"
)

// rawConf is conf(i, egress) as rte_security is asked for it, the salt in both places.
func rawConf(i int, egress bool, change ...func(*probe.Conf)) probe.Conf {
	key, salt := keyOf(i)
	c := probe.Conf{
		Egress: egress, SPI: uint32(i), KeyLen: 16, ICVLen: 16, Salt: salt,
		Key: append(append([]byte(nil), key[:16]...), salt...),
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

// raw makes a session behind package pmd's back.
func (r *rig) raw(c probe.Conf) *probe.Session {
	r.t.Helper()
	s := r.probe.Open(c)
	require.NotNil(r.t, s)
	r.t.Cleanup(s.Forget)
	return s
}

// rule is an ordinary one, in DPDK 22.11's terms.
func rule(to string) probe.Rule {
	a := netip.MustParseAddr(to)
	kind := probe.IPv4
	if a.Is6() {
		kind = probe.IPv6
	}
	return probe.Rule{
		Items:   []probe.Item{{Type: probe.ETH}, {Type: kind, Dst: a}, {Type: probe.ESP}},
		Actions: []int{probe.Security},
	}
}

// rawIngress makes an ingress session and its rule.
func (r *rig) rawIngress(i int) *probe.Session {
	r.t.Helper()
	s := r.raw(rawConf(i, false))
	_, err := s.Flow(rule(src))
	require.NoError(r.t, err)
	return s
}

// sealFlags is what goes with an IPv4 packet that is to be sealed.
const sealFlags = pmd.FlagTxSecOffload | pmd.FlagTxIPv4 | pmd.FlagTxIPChecksum

// marked is a packet with metadata of s and the right flags.
func (r *rig) marked(frame []byte, s *probe.Session, seq uint64) *pmd.Mbuf {
	r.t.Helper()
	m := r.mbuf(frame)
	require.NoError(r.t, s.Metadata(m, seq))
	probe.Mark(m, sealFlags, 14, 20)
	return m
}

// mbuf is a packet that nothing was asked for.
func (r *rig) mbuf(frame []byte) *pmd.Mbuf {
	r.t.Helper()
	return pmdtest.NewMbuf(r.t, r.pool, frame)
}

// sendRaw sends packets as they are, as one burst, and returns the wire.
func (r *rig) sendRaw(packets ...*pmd.Mbuf) [][]byte {
	r.t.Helper()
	for _, m := range packets {
		require.True(r.t, r.lane.Send(m))
	}
	r.lane.Exchange()
	return pmdtest.Collect(r.t, r.far, len(packets), 300*time.Millisecond)
}

// receiveRaw puts packets on the wire as they are, marks too.
func (r *rig) receiveRaw(packets ...*pmd.Mbuf) []got {
	r.t.Helper()
	lane, err := pmd.NewLane(pmd.LaneConfig{TxPort: r.far})
	require.NoError(r.t, err)
	for _, m := range packets {
		require.True(r.t, lane.Send(m))
	}
	require.Zero(r.t, lane.Flush(time.Second))
	require.NoError(r.t, lane.Close())
	return r.taken(len(packets))
}

// waitDrained lets the time pass for which a packet counts as being in the ring.
func waitDrained() { time.Sleep(15 * time.Millisecond) }

// kept says that the contract was kept.
func (r *rig) kept() {
	r.t.Helper()
	require.Zero(r.t, r.count("breaches"), "%v", r.nic.Breaches())
}
