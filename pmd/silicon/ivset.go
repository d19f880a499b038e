package silicon

// ivSet remembers the IVs of one key, to tell a repeated one. Drivers' IVs mostly
// count, so it keeps them as bits of blocks of 64.
type ivSet struct{ blocks map[uint64]uint64 }

// ivBlocksMax bounds the memory of an SA: 4 million IVs that count. Beyond it,
// nothing new is remembered.
const ivBlocksMax = 1 << 16

// add remembers an IV and says whether it was there already.
func (s *ivSet) add(iv uint64) (again bool) {
	if s.blocks == nil {
		s.blocks = map[uint64]uint64{}
	}
	block, bit := iv>>6, uint64(1)<<(iv&63)
	bits, there := s.blocks[block]
	if bits&bit != 0 {
		return true
	}
	if there || len(s.blocks) < ivBlocksMax {
		s.blocks[block] = bits | bit
	}
	return false
}
