package esp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

// The sizes are IP bytes before sealing.
var benchSizes = []int{64, 1420, 8000}

func benchSuites() []naive {
	all := suites()
	return []naive{all[2], all[0], all[8], all[9]} // AES-128 ICV 16 and 8, AES-256, ChaCha20
}

// BenchmarkOut is Parse, Wrap and Seal of one packet.
func BenchmarkOut(b *testing.B) {
	s := NewScratch(1 << 16)
	for _, n := range benchSuites() {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("%s/%d", n.name(), size), func(b *testing.B) {
				a := n.fast(b)
				tr := Transform{SPI: n.spi, ICVLen: n.icvLen}
				r := newRoom(plainFrame(head4, size-20))
				image := append([]byte(nil), r.frame()...)
				start, end := r.start, r.end
				b.SetBytes(int64(size))
				seq := uint64(0)
				for b.Loop() {
					r.start, r.end = start, end
					copy(r.frame(), image[:34])
					packet.Parse(r.frame(), &r.meta)
					seq++
					if err := r.seal(s, &tr, a, seq); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkIn is Parse, Locate, Open, Unwrap and ParseUpper of one packet, and
// the copy that brings the sealed packet back.
func BenchmarkIn(b *testing.B) {
	s := NewScratch(1 << 16)
	for _, n := range benchSuites() {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("%s/%d", n.name(), size), func(b *testing.B) {
				a := n.fast(b)
				tr := Transform{SPI: n.spi, ICVLen: n.icvLen}
				r := newRoom(plainFrame(head4, size-20))
				require.NoError(b, r.seal(s, &tr, a, 1))
				image := append([]byte(nil), r.frame()...)
				start, end := r.start, r.end
				b.SetBytes(int64(size))
				for b.Loop() {
					r.start, r.end = start, end
					copy(r.frame(), image)
					packet.Parse(r.frame(), &r.meta)
					if err := r.open(s, &tr, a, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkFrame is Wrap and Unwrap without any cipher.
func BenchmarkFrame(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			tr := Transform{SPI: 256, ICVLen: 16}
			r := newRoom(plainFrame(head4, size-20))
			start, end := r.start, r.end
			b.SetBytes(int64(size))
			for b.Loop() {
				newStart, newEnd, o, err := tr.Wrap(r.buf, start, end, &r.meta, 1)
				if err != nil {
					b.Fatal(err)
				}
				if start, end, _, err = tr.Unwrap(r.buf, newStart, &r.meta, o); err != nil {
					b.Fatal(err, newEnd)
				}
			}
		})
	}
}
