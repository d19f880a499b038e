package ipsec

import (
	"bytes"
	"strconv"
)

// DropCounts are dropped packets by Reason. Its JSON is an object with every
// reason, zeros too, in the order of the table.
type DropCounts [NumReasons]uint64

// MarshalJSON writes the object.
func (d DropCounts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for r := ReasonNone + 1; r < NumReasons; r++ {
		if r > ReasonNone+1 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(r.String()))
		b.WriteByte(':')
		b.WriteString(strconv.FormatUint(d[r], 10))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
