package ipsec_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// SAs move between the device and software while their traffic flows: by removals,
// promotions, and stops of the port. Everything that leaves opens under the right
// key, no number comes twice in an SA, none is lost but by the port being stopped,
// and the device never sees a packet that it could not seal.
func TestMovesUnderTraffic(t *testing.T) {
	for _, profile := range []string{"ixgbe", "crypto,fault=full:40"} {
		t.Run(profile, func(t *testing.T) { movesUnderTraffic(t, profile) })
	}
}

func movesUnderTraffic(t *testing.T, profile string) {
	const steady, first = 20, 3000
	r := newRig(t, many(first, steady+280), emulate(profile))
	stop := make(chan struct{})
	var changes sync.WaitGroup
	t.Cleanup(changes.Wait)
	var failure error
	changes.Go(func() {
		failure = r.disturb(stop, first+steady)
	})
	seen := map[string]bool{}
	sent, back := 0, 0
	deadline := time.Now().Add(3 * time.Second)
	for time.Now().Before(deadline) {
		var frames [][]byte
		for i := range 60 {
			frames = append(frames, frameTo(first+i%steady))
		}
		for i, frame := range r.outbound(frames...) {
			port := portOf(frame)
			_, spi, seq, _ := openESP(t, frame[34:], keyOf(port), nil)
			require.EqualValues(t, port, spi, "frame %d", i)
			id := fmt.Sprintf("%d/%d", spi, seq)
			require.False(t, seen[id], "SPI %d, sequence number %d twice", spi, seq)
			seen[id] = true
			back++
		}
		sent += len(frames)
	}
	close(stop)
	changes.Wait()
	require.NoError(t, failure)
	drops := r.drops()
	require.Equal(t, sent-back, int(drops["tx_port_restarting"]))
	delete(drops, "tx_port_restarting")
	require.Empty(t, drops)
	sealed := r.nic.Counters()["tx_encrypted"]
	require.NotZero(t, sealed)
	require.Less(t, int(sealed), back, "some of it was sealed in software")
	t.Logf("%d sent, %d left, %d of them sealed by the device", sent, back, sealed)
}

// portOf is the SPI of a frame, which is the port that the SA is for.
func portOf(frame []byte) int { return int(frame[34+2])<<8 | int(frame[34+3]) }

// disturb deletes and adds SAs that carry nothing, stops and starts the port, and
// has a steady SA replaced by itself now and then.
func (r *rig) disturb(stop chan struct{}, from int) error {
	for round := 0; ; round++ {
		select {
		case <-stop:
			return nil
		default:
		}
		spi := from + round%200
		if err := r.run(fmt.Sprintf("ip x s delete src %s dst %s proto esp spi %d", hostA, hostB, spi)); err != nil {
			return err
		}
		if round%7 == 3 {
			if err := r.gateway.StopPort("eth4"); err != nil {
				return err
			}
			time.Sleep(5 * time.Millisecond)
			if err := r.gateway.StartPort("eth4"); err != nil {
				return err
			}
		}
		if err := r.run(oneSA(spi)); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
