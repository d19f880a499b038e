package silicon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// deed is what a driver does with a card that has SA 1, and lookups on.
type deed func(r *rig, q *txRing)

// breaches are, for each breach, deeds that are just this one and no other, and the deeds
// nearest to them that are none. breachtx_test.go and breachtable_test.go have them.
var breaches = map[silicon.Breach]struct {
	is    map[string]deed
	isNot map[string]deed
}{}

func TestBreaches(t *testing.T) {
	for breach, deeds := range breaches {
		require.NotEmpty(t, deeds.is)
		require.NotEmpty(t, deeds.isNot, "%s has no neighbour", breach)
		for name, do := range deeds.is {
			t.Run(string(breach)+": "+name, func(t *testing.T) {
				r, q := sealRig(t)
				do(r, q)
				r.settle()
				r.breached(breach)
				report := r.card.Report()
				require.EqualValues(t, 1, report.BreachCount())
				require.Len(t, report.Remarks, 1)
				require.Regexp(t, "^"+string(breach)+": .", report.Remarks[0])
			})
		}
		for name, do := range deeds.isNot {
			t.Run(string(breach)+" is not: "+name, func(t *testing.T) {
				r, q := sealRig(t)
				do(r, q)
				r.settle()
				r.breached()
				require.Empty(t, r.card.Report().Remarks)
			})
		}
	}
}

// TestEveryBreachIsTested: those that witness.go declares are those of the tests' list.
func TestEveryBreachIsTested(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "witness.go", nil, 0)
	require.NoError(t, err)
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Breach" {
			name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			require.Contains(t, breaches, silicon.Breach(name))
			declared++
		}
		return true
	})
	require.Equal(t, len(breaches), declared)
}

// TestRemarksAreBounded: of one kind the first five are told in words, all are counted.
func TestRemarksAreBounded(t *testing.T) {
	r, q := sealRig(t)
	for range 40 {
		q.send(packet{frame: fromHost(60), payLen: 61})
	}
	report := r.card.Report()
	require.Len(t, report.Remarks, 5)
	require.EqualValues(t, 40, report.BreachCount())
	report.Remarks[0], report.Breaches["tx-icv-room"] = "", 0
	require.NotEqual(t, report, r.card.Report(), "a report is the reader's own")
}

// TestRecorderGetsRemarks with the frame that they are on, and no other's.
func TestRecorderGetsRemarks(t *testing.T) {
	var tape tape
	r := newRig(t, func(c *silicon.Config) { c.Recorder = &tape })
	tx, rx := r.txQueue(0, 64), r.rxQueue(0, 64, 2)
	tx.send(packet{frame: fromHost(70)}, packet{frame: fromHost(80), payLen: 81}, packet{frame: fromHost(90)})
	rx.receive(fromPeer(100))
	require.Len(t, tape.frames, 4)
	require.Equal(t, []bool{true, true, true, false}, tape.sent)
	require.Equal(t, [][]byte{fromHost(70), fromHost(80), fromHost(90), fromPeer(100)}, tape.frames)
	require.Equal(t, []int{0, 1, 0, 0}, tape.remarks)
}

// TestRemarksOfAFrameAreBounded: a packet of 300 segments that are all wrong.
func TestRemarksOfAFrameAreBounded(t *testing.T) {
	var tape tape
	r := newRig(t, func(c *silicon.Config) { c.Recorder = &tape })
	q := r.txQueue(0, 64)
	sendBig(q, bigTCP("IPv4", 0, tcpACK, counting(300)), 1, func(p *packet) {
		p.context.ipLen, p.context.l4Len = 24, 20 // 4 octets into TCP: no segment's IPv4 header is of 24
		p.payLen = 296
	})
	require.Len(t, tape.frames, 296)
	require.EqualValues(t, 296, r.card.Report().Breaches["tx-header-lengths"])
	require.Equal(t, 50, slices.Max(tape.remarks))
}

// tape is a recorder.
type tape struct {
	sent    []bool
	frames  [][]byte
	remarks []int // how many
}

func (t *tape) Record(sent bool, frame []byte, remarks []string) {
	t.sent = append(t.sent, sent)
	t.frames = append(t.frames, append([]byte(nil), frame...))
	t.remarks = append(t.remarks, len(remarks))
}
