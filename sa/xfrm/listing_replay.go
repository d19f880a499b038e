package xfrm

import "espgw/sa"

// replay reads `anti-replay context: …`, or the four and more lines of
// `anti-replay esn context:`.
func (s *listedState) replay(w *words) error {
	w.take()
	if w.peek().text == "esn" {
		w.take()
		if err := w.expect("context:"); err != nil {
			return err
		}
		return s.replayESN()
	}
	if err := w.expect("context:"); err != nil {
		return err
	}
	return takeNumbers(w, 32, []string{"seq", "oseq", "bitmap"}, func(n []uint64) {
		s.v.Seq, s.v.OSeq, s.v.Bitmap = n[0], n[1], []uint32{uint32(n[2])}
	})
}

// takeNumbers takes names with numbers behind them and hands the numbers over.
func takeNumbers(w *words, bits int, names []string, use func([]uint64)) error {
	var numbers []uint64
	for _, name := range names {
		n, err := w.listed(name, bits)
		if err != nil {
			return err
		}
		numbers = append(numbers, n)
	}
	use(numbers)
	return nil
}

// maxListedWindow bounds the window that a listing may claim.
const maxListedWindow = sa.MaxWindow

func (s *listedState) replayESN() error {
	w, err := s.nextLine("seq-hi")
	if err != nil {
		return err
	}
	err = takeNumbers(w, 32, []string{"seq-hi", "seq", "oseq-hi", "oseq"}, func(n []uint64) {
		s.v.Seq, s.v.OSeq = n[0]<<32|n[1], n[2]<<32|n[3]
	})
	if err != nil {
		return err
	}
	if err := w.end("the end of the line"); err != nil {
		return err
	}
	if w, err = s.nextLine("replay_window"); err != nil {
		return err
	}
	length := uint64(0)
	err = takeNumbers(w, 32, []string{"replay_window", "bitmap-length"}, func(n []uint64) {
		s.v.Window, length = uint32(n[0]), n[1]
	})
	if err != nil {
		return err
	}
	if s.v.Window > maxListedWindow || length != uint64(s.v.Window+31)/32 {
		return w.fail(w.last(), "is not the length of such a window's bitmap")
	}
	if err := w.end("the end of the line"); err != nil {
		return err
	}
	return s.bitmap(int(length))
}

// nextLine takes the next line of the record, whose first word must be name.
func (s *listedState) nextLine(name string) (*words, error) {
	if !s.lines.inRecord() {
		last := s.lines.lines[s.lines.next-1]
		return nil, (&words{}).fail(last[len(last)-1], "is not followed by the line that belongs there", name)
	}
	w := s.lines.line()
	if w.peek().text != name {
		return nil, w.fail(w.peek(), "is not expected here", name)
	}
	return w, nil
}

// bitmap reads n words of hex, the last one first, 8 a line.
func (s *listedState) bitmap(n int) error {
	s.v.Bitmap = make([]uint32, n)
	for n > 0 {
		if !s.lines.inRecord() {
			last := s.lines.lines[s.lines.next-1]
			return (&words{}).fail(last[len(last)-1], "is not followed by the whole bitmap")
		}
		w := s.lines.line()
		for range min(n, 8) {
			v, err := w.value(w.last(), "8 hex digits")
			if err != nil {
				return err
			}
			bits, ok := parseUint("0x"+v.text, 32)
			if !ok {
				return w.fail(v, "is not 8 hex digits")
			}
			n--
			s.v.Bitmap[n] = uint32(bits)
		}
		if err := w.end("the end of the line"); err != nil {
			return err
		}
	}
	return nil
}
