package xfrm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkParseFile reads 1000 states; the figure is per state.
func BenchmarkParseFile(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "ip xfrm state add src 10.0.%d.%d dst 10.1.0.1 proto esp spi %d reqid 1 mode transport %s\n", i/256, i%256, i+256, alg)
	}
	for b.Loop() {
		if _, err := ParseFile(strings.NewReader(text.String()), "b"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/state")
}

// BenchmarkWriteState lists one state with everything.
func BenchmarkWriteState(b *testing.B) {
	c, err := Parse("ip xfrm state add " + id + alg + " replay-window 1024 sel proto tcp dport 443")
	if err != nil {
		b.Fatal(err)
	}
	v := NewStateView(c.State)
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := WriteState(&out, v, FormatOptions{Stats: true}); err != nil {
			b.Fatal(err)
		}
	}
}
