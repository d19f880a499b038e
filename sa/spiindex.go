package sa

// spiIndex finds SAs by destination and SPI. The key of an IPv4 SA is both, that
// of an IPv6 SA a hash of both; no two SAs of one DB have the same hash.
type spiIndex struct{ v4, v6 slotMap }

func newSPIIndex(shards int) spiIndex { return spiIndex{newSlotMap(shards), newSlotMap(shards)} }

func spiKey4(dst Addr, spi uint32) uint64 { return dst.Lo<<32 | uint64(spi) }

func spiKey6(dst Addr, spi uint32) uint64 {
	return notZero(mix(mixAddr(dst)^uint64(spi), hashSeed[2]))
}

func (x *spiIndex) find(infos slotInfos, dst Addr, v6 bool, spi uint32) *SA {
	if !v6 {
		k := spiKey4(dst, spi)
		if slot := x.v4.find(k, hashWord(k)); slot != noSlot {
			return infos.sa(slot)
		}
		return nil
	}
	k := spiKey6(dst, spi)
	slot := x.v6.find(k, k)
	if slot == noSlot {
		return nil
	}
	if i := infos.at(slot); i.dst == dst && i.spi == spi {
		return i.sa
	}
	return nil
}

// spiEditor makes the next spiIndex.
type spiEditor struct{ v4, v6 *slotEditor }

func (x *spiIndex) edit() *spiEditor { return &spiEditor{x.v4.edit(hashWord), x.v6.edit(hashSelf)} }

func (x *spiEditor) done() spiIndex { return spiIndex{x.v4.slotMap, x.v6.slotMap} }

func (x *spiEditor) of(s *SA) (*slotEditor, uint64) {
	if s.V6() {
		return x.v6, spiKey6(s.dst, s.spi)
	}
	return x.v4, spiKey4(s.dst, s.spi)
}

// put adds s, in the place of what has the same key.
func (x *spiEditor) put(s *SA) {
	m, k := x.of(s)
	m.put(k, s.slot)
}

// remove takes s out, if it is s that is there.
func (x *spiEditor) remove(s *SA) {
	if m, k := x.of(s); m.get(k) == s.slot {
		m.remove(k)
	}
}
