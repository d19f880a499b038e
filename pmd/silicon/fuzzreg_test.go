package silicon_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// act is one of a fuzzer's steps: what is done (octet 0), with which register (1 to 3) and
// value (4 to 7).
func act(what byte, register, value uint32) []byte {
	b := []byte{what, byte(register), byte(register >> 8), byte(register >> 16)}
	return binary.LittleEndian.AppendUint32(b, value)
}

// What an act does; all others are steps.
const (
	actPut = iota
	actWrite
	actRead
	actFrame
	actWait
	actLink
	acts
)

// FuzzRegisters writes any registers, seen or unseen, between steps, with rings that are
// set up and frames that come and go. The card never panics and never takes long.
func FuzzRegisters(f *testing.F) {
	f.Add([]byte{})
	values := []uint32{0, 1, 5, 64, 1 << 25, 1 << 26, 1 << 30, 1 << 31, 1<<31 | 1<<3 | 1, 0xffffffff}
	for _, put := range []byte{actPut, actWrite} {
		for _, register := range []uint32{
			ctrl, eerd, msca, eicr, eics, eims, eimc, fdirctrl, rqsmr, tqsm,
			secTxCtrl, secRxCtrl, ipsTxIdx, ipsRxIdx,
			hlreg0, maxfrs, mrqc, reta, fctrl, vlnctrl, rxctrl, dmatxctl, srrctlOf(0),
			txBlock(0) + queueCtrl, txBlock(0) + ringHead, txBlock(0) + ringTail, txBlock(0) + ringLength,
			rxBlock(0) + queueCtrl, rxBlock(0) + ringHead, rxBlock(0) + ringTail, rxBlock(0) + ringLow,
			txBlock(5) + queueCtrl, rxBlock(5) + queueCtrl,
		} {
			for _, value := range values {
				script := append(act(put, register, value), act(actFrame, 0, 0)...)
				f.Add(append(script, act(put, ipsTxIdx, 1<<31|1<<3)...))
			}
		}
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		r := newRigOf(t, 64<<10)
		r.engines()
		r.txSA(1, saOf(1))
		r.rxSA(1, saOf(1), host4)
		tx, rx := r.txQueue(0, 16), r.rxQueue(0, 8, 1)
		for ; len(script) >= 8; script = script[8:] {
			register := (uint32(script[1]) | uint32(script[2])<<8 | uint32(script[3])<<16) % silicon.BARSize &^ 3
			value := binary.LittleEndian.Uint32(script[4:])
			r.act(script[0]%(acts+1), register, value, tx, rx)
		}
		for range 20 {
			r.step()
		}
		require.LessOrEqual(t, len(r.card.Report().Remarks), 50)
	})
}

func (r *rig) act(what byte, register, value uint32, tx *txRing, rx *rxRing) {
	switch what {
	case actPut:
		r.put(register, value)
	case actWrite:
		r.card.Write(register, value)
	case actRead:
		r.card.Read(register)
	case actFrame:
		r.mem.used = r.mem.kept
		p := marked()
		p.context.sa = int(value & 1023)
		tx.add(p)
		tx.doorbell()
		r.wire.coming = append(r.wire.coming, fromPeerESP(host4, good().sealed()), fromPeer(60+int(value&255)))
		rx.take()
	case actWait:
		r.now = r.now.Add(time.Duration(value&0xffffff) * time.Microsecond)
	case actLink:
		r.card.SetLink(value&1 == 1)
	default:
		r.step()
		r.wire.take()
	}
}
