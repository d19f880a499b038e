package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// flip names one bit of one frame; frame 0 is none.
type flip struct {
	frame uint64 // from 1, over both directions
	bit   int    // from 0: bit 0 is the most significant one of the first octet
}

var errFlip = errors.New("accepted: N:BIT, N from 1, BIT from 0")

func parseFlip(text string) (flip, error) {
	n, bit, ok := strings.Cut(text, ":")
	if !ok {
		return flip{}, errFlip
	}
	frame, err := strconv.ParseUint(n, 10, 64)
	if err != nil || frame == 0 {
		return flip{}, errFlip
	}
	b, err := strconv.Atoi(bit)
	if err != nil || b < 0 {
		return flip{}, errFlip
	}
	return flip{frame, b}, nil
}

// apply flips the bit in the frame, which must be long enough.
func (f flip) apply(frame []byte) error {
	if f.bit/8 >= len(frame) {
		return fmt.Errorf("frame %d has %d bits: bit %d cannot be flipped", f.frame, 8*len(frame), f.bit)
	}
	frame[f.bit/8] ^= 0x80 >> (f.bit % 8)
	return nil
}
