package esp

// Scratch is memory that AEAD needs while it works on one packet. It belongs to
// one worker: two goroutines must not use one Scratch at a time.
type Scratch struct {
	nonce [nonceLen]byte
	aad   [aadLenESN]byte
	// For ICVs of 8 octets only, where the tag is computed beside the packet.
	text, tag []byte
}

// NewScratch returns scratch memory for texts of up to limit octets. It grows,
// once, when a longer text comes.
func NewScratch(limit int) *Scratch {
	s := new(Scratch)
	s.grow(limit)
	return s
}

func (s *Scratch) grow(n int) {
	if n+fullTag > cap(s.text) {
		s.text = make([]byte, 0, n+fullTag)
		s.tag = make([]byte, 0, n+fullTag)
	}
}
