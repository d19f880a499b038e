package wire

// queueFrames bounds the frames on their way along a cable.
const queueFrames = 1024

// queue holds frames in order. Its room is reused, so that nothing is allocated once it
// has seen frames of all lengths.
type queue struct {
	frames      [queueFrames][]byte
	first, used int
}

func (q *queue) put(frame []byte) bool {
	if q.used == queueFrames {
		return false
	}
	at := (q.first + q.used) % queueFrames
	q.frames[at] = append(q.frames[at][:0], frame...)
	q.used++
	return true
}

func (q *queue) take(buf []byte) int {
	if q.used == 0 {
		return 0
	}
	n := copy(buf, q.frames[q.first])
	q.first = (q.first + 1) % queueFrames
	q.used--
	return n
}

// end is one end of a cable.
type end struct {
	in, out *queue
	lost    uint64
}

// Pair is a cable between two cards that one goroutine drives. At most 1024 frames are on
// their way in each direction; more are lost.
func Pair() (a, b Wire) {
	there, back := &queue{}, &queue{}
	return &end{in: back, out: there}, &end{in: there, out: back}
}

func newLoop() Wire {
	q := &queue{}
	return &end{in: q, out: q}
}

func (e *end) Send(frame []byte) {
	if !e.out.put(frame) {
		e.lost++
	}
}

func (e *end) Receive(buf []byte) int { return e.in.take(buf) }
func (e *end) Lost() uint64           { return e.lost }
func (e *end) Close() error           { return nil }
