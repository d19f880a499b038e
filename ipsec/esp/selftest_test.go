package esp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelfTest(t *testing.T) {
	require.NoError(t, SelfTest())
}

func TestSelfTestNoticesWrongAnswers(t *testing.T) {
	for _, k := range KnownAnswers() {
		for _, spoil := range []func(){
			func() { k.Packet[len(k.Packet)-1] ^= 1 },
			func() { k.Packet[20] ^= 1 },
			func() { k.Text[0] ^= 1 },
			func() { k.Key[0] ^= 1 },
			func() { k.Salt[3] ^= 1 },
		} {
			spoil()
			require.Error(t, k.check(NewScratch(0)), k.Source)
			spoil()
			require.NoError(t, k.check(NewScratch(0)), k.Source)
		}
	}
}
