package esp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

func TestInnerMTU(t *testing.T) {
	for _, tt := range []struct {
		name           string
		tr             Transform
		outer, headers int
		want           int
	}{
		{"ipv4", Transform{ICVLen: 16}, 1500, 20, 1466},
		{"ipv6", Transform{ICVLen: 16}, 1500, 40, 1466},
		{"icv 12", Transform{ICVLen: 12}, 1500, 20, 1470},
		{"icv 8", Transform{ICVLen: 8}, 1500, 20, 1474},
		{"encapsulated", Transform{ICVLen: 16, Encap: true}, 1500, 20, 1458},
		{"ipv6 with hop-by-hop options", Transform{ICVLen: 16}, 1500, 48, 1466},
		{"three octets of it unused", Transform{ICVLen: 16}, 1503, 20, 1466},
		{"one text more", Transform{ICVLen: 16}, 1504, 20, 1470},
		{"ipv6 least mtu", Transform{ICVLen: 16}, 1280, 40, 1246},
		{"least text", Transform{ICVLen: 16}, 56, 20, 22},
		{"one less", Transform{ICVLen: 16}, 55, 20, 0},
		{"headers only", Transform{ICVLen: 16}, 20, 20, 0},
		{"headers too long", Transform{ICVLen: 16}, 1500, 1501, 0},
		{"nothing", Transform{ICVLen: 16}, 0, 0, 0},
		{"negative", Transform{ICVLen: 16}, -1500, 20, 0},
		{"negative headers", Transform{ICVLen: 16}, 1500, -20, 0},
		{"least int", Transform{ICVLen: 16}, -1 << 63, 20, 0},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.tr.InnerMTU(tt.outer, tt.headers)) })
	}
}

// TestInnerMTUAgainstOverhead: for all sizes, the result fits and nothing longer
// does, by what Overhead says of packets of every length.
func TestInnerMTUAgainstOverhead(t *testing.T) {
	const most = 2000
	for _, icv := range []int{8, 12, 16} {
		for _, encap := range []bool{false, true} {
			tr := Transform{ICVLen: icv, Encap: encap}
			for _, headers := range []int{20, 24, 36, 60, 40, 48, 56, 104} {
				largest := make([]int, most+1) // by outer size
				for n := headers; n <= most; n++ {
					m := packet.Meta{L3: 14, Insert: uint16(14 + headers), End: int32(14 + n)}
					if sealed := n + tr.Overhead(&m); sealed <= most {
						largest[sealed] = n
					}
				}
				for outer := range largest {
					largest[outer] = max(largest[outer], largest[max(outer, 1)-1])
					if got := tr.InnerMTU(outer, headers); got != largest[outer] {
						t.Fatalf("icv %d, encap %v, headers %d, outer %d: %d, not %d",
							icv, encap, headers, outer, got, largest[outer])
					}
				}
			}
		}
	}
}

// TestInnerMTUWrap seals a packet of that length and one octet more.
func TestInnerMTUWrap(t *testing.T) {
	for _, ip := range [][]byte{head4, head6} {
		for _, tr := range []Transform{{ICVLen: 8}, {ICVLen: 12}, {ICVLen: 16}, {ICVLen: 16, Encap: true}} {
			for outer := 1490; outer <= 1500; outer++ {
				n := tr.InnerMTU(outer, len(ip))
				r := newRoom(plainFrame(ip, n-len(ip)))
				start, end, _, err := tr.Wrap(r.buf, r.start, r.end, &r.meta, 1)
				require.NoError(t, err)
				require.LessOrEqual(t, end-start-int(r.meta.L3), outer)
				r = newRoom(plainFrame(ip, n+1-len(ip)))
				start, end, _, err = tr.Wrap(r.buf, r.start, r.end, &r.meta, 1)
				require.NoError(t, err)
				require.Greater(t, end-start-int(r.meta.L3), outer)
			}
		}
	}
}
