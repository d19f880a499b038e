package esp

// InnerMTU is the length in octets of the largest IP packet that Wrap makes no
// longer than outer octets, or 0 if there is none. headers is the length of what
// stays in front of ESP, packet.Meta's Insert-L3: the IPv4 header with its
// options, or the IPv6 header and the extension headers before ESP.
//
// A packet may be sealed to the same length as a smaller one, for the padding; none
// that is longer than the result fits.
func (t *Transform) InnerMTU(outer, headers int) int {
	if headers < 0 || outer < headers {
		return 0
	}
	text := (outer - headers - t.headLen() - t.ICVLen) &^ (alignment - 1)
	if text < trailerLen {
		return 0
	}
	return headers + text - trailerLen
}
