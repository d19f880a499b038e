package xfrm

import (
	"encoding/hex"
	"io"
	"time"

	"espgw/sa"
)

// StateView is an SA as listings show it: its settings and what is live.
type StateView struct {
	Params *sa.Params
	// Window is the replay window in force, in packets; 0 is none.
	Window uint32
	// Seq is the highest sequence number received, OSeq the last one sent.
	Seq, OSeq uint64
	// Bitmap tells what was received, as the kernel keeps it. With extended
	// sequence numbers or a window above 32 it is a ring of Window bits, least
	// significant first, and sequence number s is bit (s-1) mod Window.
	// Otherwise it is one word and bit i is Seq-i. Missing words are zero.
	Bitmap []uint32
	// Packets and Bytes are what the SA carried; bytes are IP bytes before
	// sealing and after opening.
	Packets, Bytes uint64
	// Added, FirstUse and LastUse are zero where unknown.
	Added, FirstUse, LastUse time.Time
	Errors                   StateErrors
}

// StateErrors counts packets that an SA refused.
type StateErrors struct {
	Outside     uint32 // of the replay window, to the left
	Replayed    uint32
	Unauthentic uint32 // wrong ICV
}

// bmp reports whether the kernel would keep the window as a ring, which is what
// iproute2 asks for with ESN or a window above 32.
func (v *StateView) bmp() bool { return v.Params.Flags&sa.FlagESN != 0 || v.Window > 32 }

// NewStateView is what can be listed of settings that are not in use.
func NewStateView(p *sa.Params) *StateView {
	return &StateView{Params: p, Window: p.ReplayWindow, Seq: p.ReplaySeq, OSeq: p.ReplayOSeq}
}

// ViewState looks at a live SA. Under traffic the values are each of its own
// moment. Times are local ones.
func ViewState(s *sa.SA) *StateView {
	p := s.Params()
	v := &StateView{
		Params: p, Window: s.Window(), Seq: s.Highest(), OSeq: s.LastSent(),
		Packets: s.Packets(), Bytes: s.Bytes(),
		Added: s.Added(), FirstUse: s.FirstUse(), LastUse: s.LastUse(),
	}
	if p.ReplayWindowSet { // an outbound SA keeps no window, but was given one
		v.Window = p.ReplayWindow
	}
	if s.Window() > 0 && s.Packets() > 0 && v.Seq > 0 {
		v.fillBitmap(s)
	}
	return v
}

func (v *StateView) fillBitmap(s *sa.SA) {
	v.Bitmap = make([]uint32, (v.Window+31)/32)
	top := (v.Seq - 1) % uint64(v.Window)
	for i := range min(uint64(v.Window), v.Seq) {
		if !s.Received(v.Seq - i) {
			continue
		}
		bit := i
		if v.bmp() {
			bit = (top + uint64(v.Window) - i) % uint64(v.Window)
		}
		v.Bitmap[bit/32] |= 1 << (bit % 32)
	}
}

// WriteState lists one SA as `ip xfrm state list` does.
func WriteState(w io.Writer, v *StateView, o FormatOptions) error {
	p := &printer{FormatOptions: o}
	p.state(v)
	p.record()
	return p.writeTo(w)
}

func (p *printer) state(v *StateView) {
	s := v.Params
	p.printf("src %s dst %s", formatAddr(s.Src), formatAddr(s.Dst))
	p.end()
	p.printf("\tproto esp spi 0x%08x", s.SPI)
	if p.Stats {
		p.printf("(%d)", s.SPI)
	}
	p.identity(s.ReqID, s.Mode)
	p.flagLine(v)
	p.attributes(v)
	p.direction(s)
	p.stateSelector(s)
	if p.Stats {
		p.lifetimes(&s.Limits, v.Bytes, v.Packets, v.Added, v.FirstUse)
		p.print("\tstats:")
		p.end()
		p.printf("\t  replay-window %d replay %d failed %d", v.Errors.Outside, v.Errors.Replayed, v.Errors.Unauthentic)
		p.end()
	}
}

// attributes prints what the kernel leaves out of the message of an expiry.
func (p *printer) attributes(v *StateView) {
	if p.expired {
		return
	}
	p.algorithm(v.Params)
	if e := v.Params.Encap; e != nil {
		p.printf("\tencap type espinudp sport %d dport %d addr %s", e.SrcPort, e.DstPort, formatAddr(e.OriginalAddr))
		p.end()
	}
	if !v.LastUse.IsZero() {
		p.printf("\tlastused %s", timeText(v.LastUse))
		p.end()
	}
	p.replay(v)
	p.offload(v.Params)
}

// identity prints ` reqid N mode M` and ends the line.
func (p *printer) identity(reqID uint32, mode sa.Mode) {
	p.printf(" reqid %d", reqID)
	if p.Stats {
		p.printf("(0x%08x)", reqID)
	}
	p.printf(" mode %s", modeName(mode))
	p.end()
}

func (p *printer) flagLine(v *StateView) {
	window := v.Window
	if v.bmp() { // listed further down
		window = 0
	}
	p.printf("\treplay-window %d ", window)
	if p.Stats {
		p.print("seq 0x00000000 ")
	}
	flags := v.Params.Flags
	if p.Stats || flags != 0 {
		p.print("flag ")
		separator := ""
		for _, f := range stateFlags {
			if flags&f.flag != 0 {
				p.print(separator + f.name)
				separator = " "
			}
		}
	}
	if p.Stats {
		p.printf(" (0x%08b)", flags)
	}
	p.end()
}

func (p *printer) algorithm(s *sa.Params) {
	p.printf("\taead %s ", algorithmName(s.Algorithm))
	if p.Keys && s.Key.Len() > 0 {
		p.print("0x")
		p.b = hex.AppendEncode(p.b, s.Key.Bytes())
		if p.Stats {
			p.printf(" (%d bits)", s.Key.Len()*8)
		}
	} else { // a listing that was read may not have it
		p.print("<<Keys hidden>>")
	}
	p.printf(" %d", s.ICVBits)
	p.end()
}

func (p *printer) replay(v *StateView) {
	word := func(i int) uint32 {
		if i < len(v.Bitmap) {
			return v.Bitmap[i]
		}
		return 0
	}
	if !v.bmp() {
		p.printf("\tanti-replay context: seq 0x%x, oseq 0x%x, bitmap 0x%08x", uint32(v.Seq), uint32(v.OSeq), word(0))
		p.end()
		return
	}
	words := int(v.Window+31) / 32
	p.print("\tanti-replay esn context:")
	p.end()
	p.printf("\t seq-hi 0x%x, seq 0x%x, oseq-hi 0x%x, oseq 0x%x", v.Seq>>32, uint32(v.Seq), v.OSeq>>32, uint32(v.OSeq))
	p.end()
	p.printf("\t replay_window %d, bitmap-length %d", v.Window, words)
	for i := range words {
		if i%8 == 0 {
			p.end()
			p.print("\t ")
		}
		p.printf("%08x ", word(words-1-i))
	}
	p.end()
}

// offload prints the wish for inline crypto.
func (p *printer) offload(s *sa.Params) {
	o := s.Offload
	if o == nil {
		return
	}
	depth := "crypto"
	if o.Depth == sa.OffloadPacket {
		depth = "packet"
	}
	p.printf("\tcrypto offload parameters: dev %s dir %s mode %s", o.Dev, directionName(o.Dir), depth)
	p.end()
}

// direction prints the direction of the state. iproute2 6.15 hands that of
// `offload` on as the state's, so it is listed twice.
func (p *printer) direction(s *sa.Params) {
	dir := s.Dir
	if s.Offload != nil {
		dir = s.Offload.Dir
	}
	if dir != sa.DirNone {
		p.printf("\tdir %s", directionName(dir))
		p.end()
	}
}

// stateSelector prints the selector. The kernel gives an SA without one that of
// its family that matches everything, unless it has the flag af-unspec.
func (p *printer) stateSelector(s *sa.Params) {
	sel := s.Sel
	if sel == nil {
		if s.Flags&sa.FlagAFUnspec != 0 {
			return
		}
		sel = new((&selector{}).resolve(familyOf(s.Dst)))
	}
	p.print("\tsel ")
	p.selector(sel)
}
