package silicon_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSegmentationWithIPsecIsRefused: the model does not seal segments, so none leaves.
func TestSegmentationWithIPsecIsRefused(t *testing.T) {
	for _, ipLen := range []int{20, 36} {
		r, q := sealRig(t)
		p := esp{sa: saOf(1), seq: 1, payload: counting(400), next: 6}.asks("IPv4", 1)
		p.options |= txTSE | txIXSM | txRS
		p.context.l4, p.context.ipLen, p.context.l4Len, p.context.mss = 1, ipLen, 20, 100
		p.payLen = len(p.frame) - 14 - ipLen - 20
		require.Empty(t, q.send(p))
		require.True(t, q.done(1))
		r.breached("tx-ipsec-with-offloads")
	}
}

// TestTableChangeBehindNonsense: descriptors of no sense in front do not hide the one that
// asks for the SA.
func TestTableChangeBehindNonsense(t *testing.T) {
	r, q := sealRig(t)
	q.write(context{idx: 5, sa: 1}.words())
	q.write(memoryBase, 60|txIPSEC|idx(7))
	pending(q, marked())
	r.txSA(1, saOf(1))
	r.settle()
	r.breached("table-change-under-traffic", "tx-descriptor", "tx-descriptor")
}

// TestLookupsOffUnderTraffic is a change of the table, and the packet leaves in clear text.
func TestLookupsOffUnderTraffic(t *testing.T) {
	r, q := sealRig(t)
	pending(q, marked())
	r.put(ipsTxIdx, 0)
	r.settle()
	r.breached("table-change-under-traffic", "tx-clear")
	require.EqualValues(t, 1, r.counts().LookupsOff)
}

// TestEngineOffUnderTraffic likewise.
func TestEngineOffUnderTraffic(t *testing.T) {
	r, q := sealRig(t)
	pending(q, marked())
	r.put(secTxCtrl, 1)
	r.settle()
	r.breached("engine-change-under-traffic", "tx-clear")
}

// TestStrictVersion: where the context's IPV4 bit is wrong, ESP is looked for behind the
// packet's own header, or, with strict-version, behind the other version's.
func TestStrictVersion(t *testing.T) {
	for _, strict := range []bool{false, true} {
		r, q := sealRig(t, set("strict-version="+map[bool]string{true: "yes", false: "no"}[strict]))
		e := esp{sa: saOf(1), seq: 1, iv: 5, payload: counting(120), next: 4}
		p := e.asks("IPv4", 1)
		p.context.v6 = true
		p.context.ipLen = 20
		sent := q.send(p)
		require.Len(t, sent, 1)
		require.EqualValues(t, 1, r.card.Report().Breaches["tx-ip-version"])
		if !strict {
			require.Equal(t, toPeer("IPv4", e.sealed()), sent[0])
			r.breached("tx-ip-version")
			continue
		}
		at := 14 + 40 // the card takes this for SPI, sequence number and IV
		key := saOf(1)
		want := append([]byte(nil), p.frame[:at+16]...)
		want = key.gcm().Seal(want, slices.Concat(key.salt[:], p.frame[at+8:at+16]),
			p.frame[at+16:len(p.frame)-16], p.frame[at:at+8])
		require.Equal(t, want, sent[0])
	}
}
