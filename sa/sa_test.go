package sa_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

func key(n int, fill byte) sa.Key {
	b := make([]byte, n)
	for i := range b {
		b[i] = fill + byte(i)
	}
	return sa.NewKey(b)
}

func state(src, dst string, spi, reqID uint32) *sa.Params {
	return &sa.Params{
		ID:  sa.ID{Dst: netip.MustParseAddr(dst), Proto: sa.ProtoESP, SPI: spi},
		Src: netip.MustParseAddr(src), ReqID: reqID,
		Algorithm: sa.AlgAESGCM, Key: key(20, byte(spi)), ICVBits: 128, Limits: sa.Unlimited(),
	}
}

func policy(dir sa.Direction, src, dst string, reqID uint32) *sa.Policy {
	return &sa.Policy{
		Dir:       dir,
		Sel:       sa.Selector{Src: netip.MustParsePrefix(src), Dst: netip.MustParsePrefix(dst)},
		Templates: []sa.Template{{Proto: sa.ProtoESP, ReqID: reqID}},
		Limits:    sa.Unlimited(),
	}
}

func flow(src, dst string, proto uint8, sport, dport uint16) *sa.Flow {
	s, d := netip.MustParseAddr(src), netip.MustParseAddr(dst)
	return &sa.Flow{Src: sa.AddrFrom(s), Dst: sa.AddrFrom(d), Proto: proto, SrcPort: sport, DstPort: dport, V6: s.Is6()}
}

func TestFirstPacketBothWays(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	tx := db.Begin()
	defer tx.Rollback()
	require.NoError(t, tx.AddState(state("14.0.0.52", "14.0.0.70", 7, 7)))
	require.NoError(t, tx.AddState(state("14.0.0.70", "14.0.0.52", 8, 7)))
	require.NoError(t, tx.AddPolicy(policy(sa.DirOut, "14.0.0.52/24", "14.0.0.70/32", 7)))
	require.NoError(t, tx.AddPolicy(policy(sa.DirIn, "14.0.0.70/32", "14.0.0.52/32", 7)))
	require.NoError(t, tx.Commit())

	d := db.Table().Outbound(flow("14.0.0.52", "14.0.0.70", 6, 1, 2))
	require.Equal(t, sa.Protect, d.Verdict)
	first, n, why := d.SA.ReserveOut(2, 100, 1)
	require.EqualValues(t, 1, first)
	require.Equal(t, 2, n)
	require.Equal(t, sa.OK, why)

	in := db.Table().Inbound(sa.AddrFrom(netip.MustParseAddr("14.0.0.52")), false, 8)
	require.NotNil(t, in)
	require.Equal(t, sa.DirIn, in.Dir())
	seq, why := in.CheckIn(1)
	require.Equal(t, sa.OK, why)
	require.Equal(t, sa.OK, in.CommitIn(seq, 50, 1))
	require.Equal(t, sa.ReplayDuplicate, in.CommitIn(seq, 50, 1))
	require.Equal(t, sa.Pass, db.Table().InboundESP(flow("14.0.0.70", "14.0.0.52", 6, 2, 1), in).Verdict)
	require.Equal(t, sa.Mismatch, db.Table().InboundClear(flow("14.0.0.70", "14.0.0.52", 6, 2, 1)).Verdict)
}
