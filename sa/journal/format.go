package journal

import (
	"encoding/binary"
	"hash/crc32"
)

// The file's format; the package comment explains it.
const (
	magic      = "espgwseq"
	version    = 1
	secretSize = 32
	headerSize = len(magic) + 4 + secretSize + 8 + checkSize

	checkSize  = 4
	frameHead  = 4 + checkSize
	frameTail  = checkSize + 1
	endMark    = 0xA5
	maxRecords = 1 << 30

	recordEntry    = 1
	recordReserved = 2
	recordHighest  = 3
	recordRemoved  = 4
	entrySize      = 86
	updateSize     = 13

	flagV6  = 1
	flagESN = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHeader returns the header and its check, with which the first frame's goes on.
func appendHeader(b []byte, secret [secretSize]byte, random uint64) ([]byte, uint32) {
	start := len(b)
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint32(b, version)
	b = append(b, secret[:]...)
	b = binary.BigEndian.AppendUint64(b, random)
	check := crc32.Update(0, castagnoli, b[start:])
	return binary.BigEndian.AppendUint32(b, check), check
}

// openFrame leaves room for a frame's head; closeFrame fills it in when the records
// are there. check is the last check before the frame; closeFrame returns its own.
func openFrame(b []byte) []byte { return append(b, make([]byte, frameHead)...) }

func closeFrame(b []byte, start int, check uint32) ([]byte, uint32) {
	head, records := b[start:start+frameHead], b[start+frameHead:]
	binary.BigEndian.PutUint32(head, uint32(len(records)))
	check = crc32.Update(check, castagnoli, head[:4])
	binary.BigEndian.PutUint32(head[4:], check)
	check = crc32.Update(check, castagnoli, records)
	return append(binary.BigEndian.AppendUint32(b, check), endMark), check
}

func appendEntry(b []byte, s *slot) []byte {
	var flags byte
	if s.id.V6 {
		flags |= flagV6
	}
	if s.id.ESN {
		flags |= flagESN
	}
	b = append(b, recordEntry, flags)
	b = append(b, s.id.Print[:]...)
	b = binary.BigEndian.AppendUint64(b, s.id.Mask)
	b = binary.BigEndian.AppendUint32(b, s.id.SPI)
	b = append(b, s.id.Src[:]...)
	b = append(b, s.id.Dst[:]...)
	b = binary.BigEndian.AppendUint64(b, s.reserved)
	b = binary.BigEndian.AppendUint64(b, s.highest)
	return binary.BigEndian.AppendUint64(b, uint64(s.removed))
}

func appendUpdate(b []byte, record byte, number uint32, value uint64) []byte {
	b = binary.BigEndian.AppendUint32(append(b, record), number)
	return binary.BigEndian.AppendUint64(b, value)
}
