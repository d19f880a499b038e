package journal

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
)

var errPlanted = errors.New("planted failure")

// effect is what a planted failure does all the same.
type effect int

const (
	effectNone effect = iota // of a sync: and the kernel forgets that it must write
	effectHalf               // of a write; for others as effectNone
	effectFull
)

// disk is a folder with a page cache over stable storage.
type disk struct {
	names, stable map[string]*inode
	rooted        bool // the folder's own name is stable
	locked        bool
	calls         int                           // since the process started
	plan          func(call int) (bool, effect) // which calls fail, from 1; nil: none
	effect        effect                        // of the last call that failed
	call          string                        // the last one
	renames       int
}

type inode struct {
	data, stable []byte
	lost         [][2]int // ranges that no sync writes any more
}

func newDisk() *disk { return &disk{names: map[string]*inode{}, stable: map[string]*inode{}} }

// fails counts a call.
func (d *disk) fails(name string) bool {
	d.calls++
	d.call = name
	failed := false
	if d.plan != nil {
		failed, d.effect = d.plan(d.calls)
	}
	return failed
}

func (d *disk) lock() error {
	if d.locked {
		return ErrLocked
	}
	d.locked = true
	return nil
}

func (d *disk) open(name string) (file, error) {
	if d.fails("open") {
		return nil, errPlanted
	}
	i := d.names[name]
	if i == nil {
		return nil, fs.ErrNotExist
	}
	return &diskFile{disk: d, inode: i}, nil
}

func (d *disk) create(name string) (file, error) {
	failed := d.fails("create")
	if d.names[name] != nil {
		return nil, fs.ErrExist
	}
	i := &inode{}
	if !failed || d.effect == effectFull {
		d.names[name] = i
	}
	return &diskFile{disk: d, inode: i}, planted(failed)
}

func (d *disk) rename(from, to string) error {
	d.renames++
	failed := d.fails("rename")
	if !failed || d.effect == effectFull {
		d.names[to] = d.names[from]
		delete(d.names, from)
	}
	return planted(failed)
}

func (d *disk) remove(name string) error {
	failed := d.fails("remove")
	if !failed || d.effect == effectFull {
		delete(d.names, name)
	}
	return planted(failed)
}

func (d *disk) sync() error {
	failed := d.fails("sync")
	if !failed || d.effect == effectFull {
		d.stable = maps.Clone(d.names)
	}
	return planted(failed)
}

func (d *disk) ancestors() error {
	failed := d.fails("ancestors")
	if !failed || d.effect == effectFull {
		d.rooted = true
	}
	return planted(failed)
}

func (d *disk) close() error {
	d.locked = false
	return nil
}

// kill ends the process: what is in the page cache stays.
func (d *disk) kill() {
	d.locked, d.plan, d.calls = false, nil, 0
}

// loseAllUnsynced ends the machine's power.
func (d *disk) loseAllUnsynced() { d.losePower(func(i *inode) []byte { return i.stable }, false) }

// loseSome ends the power when some of what was not synced happened to be written.
func (d *disk) loseSome(r *rand.Rand) {
	d.losePower(func(i *inode) []byte {
		written := i.written()
		keep := len(i.stable) + r.IntN(len(written)-len(i.stable)+1)
		kept := slices.Clone(written[:keep])
		if r.IntN(2) == 0 { // the length was written, the octets were not
			kept = append(kept, make([]byte, r.IntN(len(written)-keep+1))...)
		}
		return kept
	}, r.IntN(2) == 0)
}

func (d *disk) losePower(survives func(*inode) []byte, names bool) {
	if names {
		d.stable = maps.Clone(d.names)
	}
	d.names = d.stable
	if !d.rooted {
		d.names = map[string]*inode{}
	}
	for name, i := range d.names {
		left := survives(i)
		d.names[name] = &inode{data: left, stable: left}
	}
	d.stable = maps.Clone(d.names)
	d.kill()
}

// written is what a sync now would put on stable storage.
func (i *inode) written() []byte {
	b := slices.Clone(i.data)
	for _, lost := range i.lost {
		clear(b[lost[0]:lost[1]])
	}
	return b
}

func planted(failed bool) error {
	if failed {
		return errPlanted
	}
	return nil
}

type diskFile struct {
	disk  *disk
	inode *inode
	at    int
}

func (f *diskFile) Read(b []byte) (int, error) {
	if f.disk.fails("file read") {
		return 0, errPlanted
	}
	if f.at == len(f.inode.data) {
		return 0, io.EOF
	}
	n := copy(b, f.inode.data[f.at:])
	f.at += n
	return n, nil
}

func (f *diskFile) Write(b []byte) (int, error) {
	n := len(b)
	failed := f.disk.fails("file write")
	if failed {
		n = n * int(f.disk.effect) / int(effectFull)
	}
	f.inode.data = append(f.inode.data, b[:n]...)
	return n, planted(failed)
}

func (f *diskFile) sync() error {
	failed := f.disk.fails("file sync")
	if failed && f.disk.effect != effectFull {
		f.inode.lost = append(f.inode.lost, [2]int{len(f.inode.stable), len(f.inode.data)})
	} else {
		f.inode.stable = f.inode.written()
	}
	return planted(failed)
}

func (f *diskFile) size() (int64, error) {
	return int64(len(f.inode.data)), planted(f.disk.fails("file size"))
}
func (f *diskFile) Close() error { return nil }
