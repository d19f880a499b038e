package journal

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// contents is what a file says.
type contents struct {
	table  table
	secret [secretSize]byte
	check  uint32 // the last one
	size   int    // octets that were understood; an unfinished frame may follow
}

// damage is a DamagedError without the path.
type damage struct {
	offset int
	what   string
}

// read understands a whole file. With damage, contents are what stands before it.
func read(file []byte) (contents, *damage) {
	c := contents{table: newTable(len(file) / (entrySize + 1))}
	if what := c.readHeader(file); what != "" {
		return c, &damage{0, what}
	}
	for c.size < len(file) {
		records, check, what := nextFrame(file[c.size:], c.check)
		if what == "" && records == nil {
			return c, nil
		}
		if what == "" {
			what = c.readRecords(records)
		}
		if what != "" {
			return c, &damage{c.size, what}
		}
		c.check = check
		c.size += frameHead + len(records) + frameTail
	}
	return c, nil
}

func (c *contents) readHeader(file []byte) (what string) {
	switch {
	case len(file) < headerSize:
		return "the file is shorter than its header"
	case string(file[:len(magic)]) != magic:
		return "the file is not a journal"
	case binary.BigEndian.Uint32(file[len(magic):]) != version:
		return "the file's version is not known"
	}
	body := file[:headerSize-checkSize]
	check := crc32.Update(0, castagnoli, body)
	if binary.BigEndian.Uint32(file[len(body):]) != check {
		return "the header's CRC is wrong"
	}
	copy(c.secret[:], body[len(magic)+4:])
	c.check, c.size = check, headerSize
	return ""
}

// nextFrame returns the records of the frame at the start of rest and its check, or
// nil records if it is unfinished.
func nextFrame(rest []byte, check uint32) (records []byte, _ uint32, what string) {
	if len(rest) < frameHead {
		return nil, 0, ""
	}
	check = crc32.Update(check, castagnoli, rest[:4])
	if binary.BigEndian.Uint32(rest[4:]) != check {
		if zeros(rest[frameHead:]) {
			return nil, 0, ""
		}
		return nil, 0, "the CRC of a frame's length is wrong"
	}
	length := binary.BigEndian.Uint32(rest)
	if length == 0 || length > maxRecords {
		return nil, 0, "a frame's length is out of range"
	}
	end := frameHead + int(length)
	if len(rest) < end+frameTail || zeros(rest[end+checkSize:]) {
		return nil, 0, ""
	}
	records = rest[frameHead:end]
	check = crc32.Update(check, castagnoli, records)
	switch {
	case binary.BigEndian.Uint32(rest[end:]) != check:
		return nil, 0, "a frame's CRC is wrong"
	case rest[end+checkSize] != endMark:
		return nil, 0, "a frame's end mark is wrong"
	}
	return records, check, ""
}

func zeros(b []byte) bool {
	for _, octet := range b {
		if octet != 0 {
			return false
		}
	}
	return true
}

// readRecords carries out a frame's records, up to one that cannot be right.
func (c *contents) readRecords(records []byte) (what string) {
	for len(records) > 0 {
		size := updateSize
		if records[0] == recordEntry {
			size = entrySize
		}
		if len(records) < size {
			return "a record is cut short"
		}
		if records[0] == recordEntry {
			what = c.readEntry(records)
		} else {
			what = c.readUpdate(records)
		}
		if what != "" {
			return what
		}
		records = records[size:]
	}
	return ""
}

func (c *contents) readEntry(r []byte) (what string) {
	flags, removed := r[1], binary.BigEndian.Uint64(r[78:])
	s := &slot{
		id: Identity{
			Print: [16]byte(r[2:]), Mask: binary.BigEndian.Uint64(r[18:]), SPI: binary.BigEndian.Uint32(r[26:]),
			Src: [16]byte(r[30:]), Dst: [16]byte(r[46:]), V6: flags&flagV6 != 0, ESN: flags&flagESN != 0,
		},
		reserved: binary.BigEndian.Uint64(r[62:]),
		highest:  binary.BigEndian.Uint64(r[70:]),
		removed:  int64(removed),
		number:   uint32(len(c.table.slots)),
	}
	switch {
	case flags&^(flagV6|flagESN) != 0:
		return "an entry has unknown flags"
	case removed > math.MaxInt64:
		return "a time is out of range"
	case c.table.find(&s.id) != 0:
		return "an entry is there twice"
	}
	c.table.add(s)
	return ""
}

func (c *contents) readUpdate(r []byte) (what string) {
	number, value := binary.BigEndian.Uint32(r[1:]), binary.BigEndian.Uint64(r[5:])
	if r[0] < recordReserved || r[0] > recordRemoved {
		return "a record is of unknown type"
	}
	if int64(number) >= int64(len(c.table.slots)) {
		return "an entry's number is out of range"
	}
	s := c.table.slots[number]
	switch r[0] {
	case recordReserved:
		s.reserved = value
	case recordHighest:
		s.highest = value
	case recordRemoved:
		if value > math.MaxInt64 {
			return "a time is out of range"
		}
		s.removed = int64(value)
	}
	return ""
}
