package journal

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// written is a journal of some frames: file[0] is the file when it was made, each
// next one has a frame more, and states are what they hold.
func written(t testing.TB) (files [][]byte, states []state) {
	d := newDisk()
	j, err := Open("state", Options{fileSystem: d})
	require.NoError(t, err)
	note := func() {
		files = append(files, slices.Clone(d.names[fileName].data))
		states = append(states, entries(j))
	}
	require.NoError(t, j.Commit(nil, true))
	note()
	var b Batch
	for n := range 3 {
		b.Add(Entry{Identity: identity(n), Reserved: uint64(n) << 20, Highest: uint64(n)})
		require.NoError(t, j.Commit(&b, true))
		note()
		i, _ := j.Lookup(identity(n))
		b.Reserve(i, 1<<40)
		b.Accept(i, 1000)
		b.Remove(i, time.Unix(1<<33, 0))
		require.NoError(t, j.Commit(&b, true))
		note()
	}
	return files, states
}

// openFile opens a journal of these octets and tells what was logged.
func openFile(file []byte) (*Journal, string, error) {
	d, log := newDisk(), &bytes.Buffer{}
	d.rooted = true
	d.names[fileName] = &inode{data: file, stable: file}
	j, err := Open("state", Options{fileSystem: d, Log: slog.New(slog.NewTextHandler(log, nil))})
	return j, log.String(), err
}

// TestEveryCut: a file that ends anywhere behind its header holds just the frames
// that are whole, whether nothing or zeros follow, and goes on from there.
func TestEveryCut(t *testing.T) {
	files, states := written(t)
	whole := files[len(files)-1]
	for cut := headerSize; cut <= len(whole); cut++ {
		frames := 0
		for frames+1 < len(files) && len(files[frames+1]) <= cut {
			frames++
		}
		for _, follow := range []int{0, 1, 7, 8, 13, 600, len(whole) - cut} {
			file := append(slices.Clone(whole[:cut]), make([]byte, follow)...)
			j, log, err := openFile(file)
			require.NoError(t, err, "cut at %d, %d zeros", cut, follow)
			require.True(t, maps.Equal(states[frames], entries(j)), "cut at %d, %d zeros", cut, follow)
			unfinished := len(file) != len(files[frames])
			require.Equal(t, unfinished, bytes.Contains([]byte(log), []byte("unfinished write")), log)

			d := j.fileSystem.(*disk)
			b := &Batch{}
			b.Add(Entry{Identity: identity(77)})
			require.NoError(t, j.Commit(b, true))
			d.loseAllUnsynced()
			again, err := Open("state", Options{fileSystem: d})
			require.NoError(t, err)
			require.True(t, maps.Equal(entries(j), entries(again)))
			require.Len(t, entries(again), len(states[frames])+1)
		}
	}
}

// TestShortHeader: a file that ends within its header was never acknowledged as
// anything: it was whole when it got its name.
func TestShortHeader(t *testing.T) {
	files, _ := written(t)
	for cut := range headerSize {
		j, _, err := openFile(files[0][:cut])
		require.NotZero(t, j.Secret(), "not a key that anybody could guess")
		require.ErrorContains(t, err, "state/journal is damaged at offset 0: the file is shorter than its header")
	}
}

// TestEveryFlippedBit: no single bit of what was acknowledged can change unseen, or
// look like the end of the file.
func TestEveryFlippedBit(t *testing.T) {
	files, states := written(t)
	whole := files[len(files)-1]
	for _, zeros := range []int{0, 100} {
		for bit := range len(whole) * 8 {
			file := append(slices.Clone(whole), make([]byte, zeros)...)
			file[bit/8] ^= 1 << (bit % 8)
			j, _, err := openFile(file)
			var damaged *DamagedError
			require.ErrorAs(t, err, &damaged, "bit %d of octet %d", bit%8, bit/8)
			require.ErrorIs(t, err, ErrDamaged)

			frame := 0
			for len(files[frame]) <= bit/8 {
				frame++
			}
			offset, before := 0, state{}
			if frame > 0 {
				offset, before = len(files[frame-1]), states[frame-1]
			}
			require.EqualValues(t, offset, damaged.Offset)
			require.Equal(t, before, entries(j), "entries before the damage")
		}
	}
}

// TestDamaged: what comes with the error can be read and closed, and writes nothing.
func TestDamaged(t *testing.T) {
	files, _ := written(t)
	file := slices.Clone(files[3])
	file[len(file)-10] ^= 4
	j, _, err := openFile(slices.Clone(file))
	require.EqualError(t, err, "state/journal is damaged at offset "+strconv.Itoa(len(files[2]))+
		": a frame's CRC is wrong; which sequence numbers were used is not known: "+
		"give every SA a fresh key, move the file away and start again")
	i, ok := j.Lookup(identity(0))
	require.True(t, ok)
	b := &Batch{}
	b.Reserve(i, 1<<50)
	require.ErrorIs(t, j.Commit(b, true), ErrDamaged)
	require.ErrorIs(t, j.Commit(nil, false), ErrDamaged)
	require.Equal(t, 1, b.Len())
	d := j.fileSystem.(*disk)
	_, err = Open("state", Options{fileSystem: d})
	require.ErrorIs(t, err, ErrLocked, "the lock is held")
	require.NoError(t, j.Close())
	require.False(t, d.locked)
	require.Equal(t, file, d.names[fileName].data)
	require.NotEqual(t, [32]byte{}, j.Secret())
}

// TestWrongRecords: frames that check but say what no writer says.
func TestWrongRecords(t *testing.T) {
	files, _ := written(t)
	base := files[2] // entry 0
	known, bad := read(base)
	require.Nil(t, bad)
	entry := func(change func(r []byte)) []byte {
		r := appendEntry(nil, &slot{id: identity(9)})
		change(r)
		return r
	}
	for what, records := range map[string][]byte{
		"":                                  entry(func([]byte) {}),
		"a record is of unknown type":       appendUpdate(nil, 5, 0, 1),
		"a record is cut short":             appendUpdate(nil, recordHighest, 0, 1)[:12],
		"an entry's number is out of range": appendUpdate(nil, recordHighest, 1, 1),
		"a time is out of range":            appendUpdate(nil, recordRemoved, 0, 1<<63),
		"an entry has unknown flags":        entry(func(r []byte) { r[1] |= 4 }),
		"an entry is there twice":           appendEntry(nil, &slot{id: identity(0)}),
		"a frame's length is out of range":  {},
	} {
		file := append(openFrame(slices.Clone(base)), records...)
		file, _ = closeFrame(file, len(base), known.check)
		_, _, err := openFile(file)
		if what == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "at offset "+strconv.Itoa(len(base))+": "+what+";")
	}
	cut := append(openFrame(slices.Clone(base)), entry(func([]byte) {})[:entrySize-1]...)
	cut, _ = closeFrame(cut, len(base), known.check)
	_, _, err := openFile(cut)
	require.ErrorContains(t, err, "a record is cut short")
	late := append(openFrame(slices.Clone(base)), entry(func(r []byte) { r[78] = 0x80 })...)
	late, _ = closeFrame(late, len(base), known.check)
	_, _, err = openFile(late)
	require.ErrorContains(t, err, "a time is out of range")
}

// TestFrameOfAnotherFile: a block that was part of an older file of the same length
// does not check, nor does one frame in place of another, nor a foreign header.
func TestFrameOfAnotherFile(t *testing.T) {
	one, _ := written(t)
	two, _ := written(t)
	mixed := append(slices.Clone(one[2]), two[3][len(two[2]):]...)
	_, _, err := openFile(mixed)
	require.ErrorIs(t, err, ErrDamaged)
	first, second := one[1][len(one[0]):], one[3][len(one[2]):]
	_, _, err = openFile(slices.Concat(one[0], second, first))
	require.ErrorIs(t, err, ErrDamaged)
	_, _, err = openFile(slices.Concat(one[1], first))
	require.ErrorIs(t, err, ErrDamaged)
	_, _, err = openFile([]byte("# a file of somebody else, which is longer than a journal's header\n"))
	require.ErrorContains(t, err, "the file is not a journal")
	old := slices.Clone(one[0])
	old[11] = 2
	_, _, err = openFile(old)
	require.ErrorContains(t, err, "version is not known")
}

// FuzzOpen: any file is opened or refused; what is opened holds after a rewrite too.
func FuzzOpen(f *testing.F) {
	files, _ := written(f)
	for _, file := range files {
		f.Add(file, []byte{})
		f.Add(file[:len(file)-3], []byte{1})
	}
	f.Add(files[0], appendUpdate(appendEntry(nil, &slot{id: identity(4)}), recordRemoved, 0, 9))
	f.Add([]byte(magic), []byte{2, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, file, records []byte) {
		if c, bad := read(file); bad == nil && len(records) > 0 { // what the fuzzer cannot: sums that are right
			file = append(openFrame(slices.Clone(file[:c.size])), records...)
			file, _ = closeFrame(file, c.size, c.check)
		}
		j, _, err := openFile(file)
		require.NotNil(t, j)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorIs(t, j.Commit(nil, true), ErrDamaged)
			return
		}
		require.NoError(t, j.Commit(nil, true))
		again, bad := read(j.fileSystem.(*disk).names[fileName].data)
		require.Nil(t, bad)
		require.Equal(t, entries(j), entries(&Journal{table: again.table}))
		require.Equal(t, j.Secret(), again.secret)
	})
}
