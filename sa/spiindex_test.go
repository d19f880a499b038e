package sa

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// sasOf are n SAs to one address.
func sasOf(n int) []*SA {
	list := make([]*SA, n)
	for i := range list {
		list[i] = &SA{dst: AddrFrom(netip.MustParseAddr("14.0.0.70")), spi: uint32(i + 1)}
	}
	return list
}

// within says that something ends: a lookup that does not would hold a worker for good.
func within(t *testing.T, what func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		what()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

// TestSPIIndexUnderChurn: whatever came and went, lookups end, find what is there, and find
// nothing else. Entries that overflowed a bucket had left their mark on it for ever: once all
// buckets of a shard had one, the lookup of an SPI that is not there went round and round.
func TestSPIIndexUnderChurn(t *testing.T) {
	list := sasOf(1 << 12)
	for _, most := range []int{4, 7, 20, 300} { // SAs of one shard at a time
		within(t, func() {
			random := rand.New(rand.NewPCG(1, uint64(most)))
			index := newSPIIndex(1)
			there := map[*SA]bool{}
			for round := range 100_000 {
				editor := index.edit()
				s := list[random.IntN(len(list))]
				if len(there) == most || len(there) > most/2 && random.IntN(2) == 0 {
					for s = range there { // any
						break
					}
				}
				if there[s] {
					editor.remove(s)
					delete(there, s)
				} else {
					editor.put(s)
					there[s] = true
				}
				index = editor.done()
				if (index.find(s.dst, false, s.spi) == s) != there[s] {
					t.Errorf("%d SAs, round %d: SPI %d", most, round, s.spi)
					return
				}
				if index.find(s.dst, false, 1<<31+random.Uint32()>>1) != nil {
					t.Errorf("%d SAs, round %d: an SPI that is not there", most, round)
					return
				}
			}
			for s := range there {
				if index.find(s.dst, false, s.spi) != s {
					t.Errorf("%d SAs: SPI %d is lost", most, s.spi)
				}
			}
		})
	}
}

// FuzzSPIIndex: the octets are SPIs of few SAs, that come if they are not there and go if
// they are.
func FuzzSPIIndex(f *testing.F) {
	f.Add([]byte{1, 2, 3, 1, 2, 3})
	many := make([]byte, 512)
	for i := range many {
		many[i] = byte(i * i / 3)
	}
	f.Add(many)
	list := sasOf(256)
	f.Fuzz(func(t *testing.T, changes []byte) {
		within(t, func() {
			index := newSPIIndex(1)
			there := map[*SA]bool{}
			for _, c := range changes {
				s := list[c]
				editor := index.edit()
				if there[s] {
					editor.remove(s)
				} else {
					editor.put(s)
				}
				there[s] = !there[s]
				index = editor.done()
				if index.find(s.dst, false, binary.BigEndian.Uint32([]byte{0xff, 0, c, c})) != nil {
					t.Error("an SPI that is not there")
				}
			}
			for s, is := range there {
				if got := index.find(s.dst, false, s.spi); (got == s) != is {
					t.Errorf("SPI %d", s.spi)
				}
			}
		})
	})
}
