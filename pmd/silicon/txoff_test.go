package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// switchesOff are the ways in which sealing is off.
var switchesOff = map[string]func(r *rig){
	"lookups off":                  func(r *rig) { r.put(ipsTxIdx, 1<<3) },
	"engine off":                   func(r *rig) { r.put(secTxCtrl, 4|1) },
	"engine and all as at a reset": func(r *rig) { r.put(secTxCtrl, 1) },
	"no store and forward":         func(r *rig) { r.put(secTxCtrl, 0) },
	"all off":                      func(r *rig) { r.put(secTxCtrl, 1); r.put(ipsTxIdx, 0) },
}

// TestSealingOff: what becomes of a packet that asks for IPsec then is an open question,
// and a setting. Whatever the answer, it is a breach.
func TestSealingOff(t *testing.T) {
	for name, off := range switchesOff {
		for _, answer := range []string{"", "clear", "drop", "seal"} {
			t.Run(name+" "+answer, func(t *testing.T) {
				r, q := sealRig(t, func(c *silicon.Config) {
					if answer != "" {
						require.NoError(t, c.Settings.Set("tx-off="+answer))
					}
				})
				off(r)
				r.settle()
				e := esp{sa: saOf(1), seq: 1, payload: counting(80), next: 4}
				want := [][]byte{toPeer("IPv4", e.open())} // in clear text, an ICV of zeros
				switch answer {
				case "drop":
					want = nil
				case "seal":
					want[0] = toPeer("IPv4", e.sealed())
				}
				slot := q.tail + 1
				p := e.asks("IPv4", 1)
				p.options |= txRS
				require.Equal(t, want, q.send(p))
				require.True(t, q.done(slot), "the driver gets its buffer back in any case")
				r.breached("tx-clear")
				require.EqualValues(t, 1, r.counts().TxClear)
				require.EqualValues(t, 1, r.counts().TxIPsec)
				require.Equal(t, answer == "seal", r.counts().TxSealed == 1)
			})
		}
	}
}

// TestSealingOffIsNobodyElses: what does not ask for IPsec is sent as ever.
func TestSealingOffIsNobodyElses(t *testing.T) {
	for name, off := range switchesOff {
		r, q := sealRig(t)
		off(r)
		require.Equal(t, [][]byte{fromHost(100)}, q.send(packet{frame: fromHost(100)}), name)
		r.breached()
	}
}

// TestLookupsAreALevel: IPS_TX_EN is what the last write said. A removal without it, as DPDK's
// driver does, switches all SAs off, and the next addition switches them on again.
func TestLookupsAreALevel(t *testing.T) {
	r, q := sealRig(t)
	r.txSA(2, saOf(2))
	e := esp{sa: saOf(1), seq: 1, iv: 1, payload: counting(80), next: 4}
	r.putKey(ipsTxKey, ipsTxSalt, sa{})
	r.access(ipsTxIdx, indexWrite|2<<3) // SA 2 is removed
	require.EqualValues(t, 1, r.counts().LookupsOff)
	require.Equal(t, [][]byte{toPeer("IPv4", e.open())}, q.send(e.asks("IPv4", 1)))
	r.breached("tx-clear")
	r.txSA(3, saOf(3))
	require.Equal(t, [][]byte{toPeer("IPv4", e.sealed())}, q.send(e.asks("IPv4", 1)))
	r.breached("tx-clear")
}
