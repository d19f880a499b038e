package bus

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestParseMapping(t *testing.T) {
	for _, row := range []struct {
		line string
		want Mapping
		ok   bool
	}{
		{
			"7f0000000000-7f0000200000 rw-s 00400000 00:0f 12345                      /dev/hugepages/rtemap_0",
			Mapping{Start: 0x7f0000000000, End: 0x7f0000200000, Offset: 0x400000, Device: unix.Mkdev(0, 15), Inode: 12345, Shared: true, Path: "/dev/hugepages/rtemap_0"},
			true,
		},
		{
			"55d0-55e0 r--p 00000000 fe:01 7 /a name with spaces (deleted)",
			Mapping{Start: 0x55d0, End: 0x55e0, Device: unix.Mkdev(0xfe, 1), Inode: 7, Path: "/a name with spaces (deleted)"},
			true,
		},
		{"7ffc00-7ffd00 r-xp 00000000 00:00 0                          [vdso]", Mapping{Start: 0x7ffc00, End: 0x7ffd00, Path: "[vdso]"}, true},
		{"7ffc00-7ffd00 rw-p 00000000 00:00 0", Mapping{Start: 0x7ffc00, End: 0x7ffd00}, true},
		{"", Mapping{}, false},
		{"7ffc00-7ffd00 rw 00000000 00:00 0", Mapping{}, false},
		{"7ffc00 rw-p 00000000 00:00 0", Mapping{}, false},
		{"7ffc00-7ffd00 rw-p 00000000 0000 0", Mapping{}, false},
		{"7ffc00-7ffd00 rw-p 00000000 00:00 inode", Mapping{}, false},
	} {
		got, ok := parseMapping(row.line)
		require.Equal(t, row.ok, ok, row.line)
		require.Equal(t, row.want, got, row.line)
	}
}

func FuzzParseMapping(f *testing.F) {
	f.Add("7ffc00-7ffd00 rw-p 00000000 00:00 0 [stack]")
	f.Fuzz(func(t *testing.T, line string) { parseMapping(line) })
}

func TestOwnMappings(t *testing.T) {
	vdso := false
	require.NoError(t, EachMapping(os.Getpid(), func(m Mapping) error {
		vdso = vdso || m.Path == "[vdso]"
		require.Less(t, m.Start, m.End)
		return nil
	}))
	require.True(t, vdso)
	require.ErrorContains(t, EachMapping(1<<30, nil), "the program's mappings")
	require.ErrorIs(t, EachMapping(os.Getpid(), func(Mapping) error { return os.ErrClosed }), os.ErrClosed)
}
