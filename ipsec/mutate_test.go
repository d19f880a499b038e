package ipsec_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Frames that were cut, stretched and changed at random go through both sides:
// the gateway lives on, every frame ends as sent or in one counter, no buffer is
// lost (the rig's pool says so), and of what was changed nothing is accepted as
// ESP.
func TestMutatedFrames(t *testing.T) {
	const seed = 20261130
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	f := loadVectors(t, "transport.json")
	corpus := append(append([][]byte(nil), f.esp...), f.plain...)
	for _, name := range []string{"drop.json", "natt.json"} {
		corpus = append(corpus, loadVectors(t, name).esp...)
	}
	r := newRig(t, f.in(1024, nil, false)+simpleOut+stateOut(""))
	accepted := func() (n uint64) {
		for _, s := range r.gateway.Stats().SAs {
			if s.Dir == "in" {
				n += s.Packets
			}
		}
		return n
	}
	for range 60 {
		frames := make([][]byte, 256)
		for i := range frames {
			frames[i] = mutate(random, corpus[random.IntN(len(corpus))])
		}
		r.inbound(frames...)
		r.outbound(frames...)
		r.drops() // checks the balance
	}
	require.NoError(t, r.gateway.Failed())
	require.LessOrEqual(t, accepted(), uint64(len(corpus)), "only packets whose ESP was left whole, once each")
	require.Len(t, r.outbound(plainOut(10)), 1, "it still works")
}

// mutate returns a changed copy of a frame.
func mutate(random *rand.Rand, frame []byte) []byte {
	frame = append([]byte(nil), frame...)
	switch random.IntN(6) {
	case 0: // cut
		frame = frame[:random.IntN(len(frame)+1)]
	case 1: // stretched
		frame = append(frame, counting(random.IntN(64))...)
	case 2: // another header chain or length
		for range 1 + random.IntN(3) {
			frame[min(len(frame)-1, 12+random.IntN(60))] = byte(random.IntN(256))
		}
	case 3: // a bit
		i := random.IntN(len(frame))
		frame[i] ^= 1 << random.IntN(8)
	case 4: // noise
		for i := range frame {
			frame[i] = byte(random.IntN(256))
		}
	}
	if len(frame) < 14 { // rings carry what a wire would not
		return append(frame, make([]byte, 14-len(frame))...)
	}
	return frame
}
