package sa

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLayout keeps what changes with every packet apart from what every packet
// reads: in cache lines of 64 octets, which objects of these sizes start at.
func TestLayout(t *testing.T) {
	const line = 64
	offset := func(typ reflect.Type, field string) int {
		f, ok := typ.FieldByName(field)
		require.True(t, ok, field)
		return int(f.Offset)
	}
	l := reflect.TypeFor[live]()
	require.EqualValues(t, 3*line, l.Size())
	require.Equal(t, 2*line, offset(l, "sequence"))
	require.Less(t, offset(l, "useTime"), line)
	s := reflect.TypeFor[SA]()
	require.EqualValues(t, 3*line, s.Size())
	require.Less(t, offset(s, "flags"), line, "what identifies an SA is in its first line")
	require.Equal(t, line, offset(s, "sel"), "and what a packet follows from it in the second")
	require.EqualValues(t, line, reflect.TypeFor[spiBucket]().Size())
	require.EqualValues(t, 16, reflect.TypeFor[prefixEntry[uint64]]().Size())
}
