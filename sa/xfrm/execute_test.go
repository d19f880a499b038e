package xfrm

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// run executes a text in one transaction on db and returns what it printed.
func run(t *testing.T, db *sa.DB, text string) (string, error) {
	t.Helper()
	commands, err := ParseFile(strings.NewReader(text), "test")
	require.NoError(t, err)
	tx := db.Begin()
	defer tx.Rollback()
	var out bytes.Buffer
	for _, c := range commands {
		if err := c.Execute(tx, &out); err != nil {
			return "", err
		}
	}
	if _, err := tx.Prepare(); err != nil {
		return "", err
	}
	tx.Commit()
	return out.String(), nil
}

// TestErrorsOfExecute: the kernel's words, the place, and package sa's errors.
func TestErrorsOfExecute(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	_, err := run(t, db, classic)
	require.NoError(t, err)
	for _, x := range []struct {
		text string
		is   error
		part string
	}{
		{"\nip x s add " + id + alg + "\nip x s add " + id + alg, sa.ErrExists, "test:3: "},
		{"ip x s add src 1.1.1.1 dst 14.0.0.70 proto esp spi 7 " + alg, sa.ErrExists, "(File exists)"},
		{"ip x s update " + id + alg, sa.ErrNotFound, "(No such process)"},
		{"ip x s delete dst 10.0.0.1 proto esp spi 7", sa.ErrNotFound, "(No such process)"},
		{"ip x s get dst 10.0.0.1 proto esp spi 7", sa.ErrNotFound, "get SA SPI 0x00000007 to 10.0.0.1"},
		{"ip x p add dir out src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp", sa.ErrExists, "(File exists)"},
		{"ip x p delete dir in index 9", sa.ErrNotFound, "(No such file or directory)"},
		{"ip x p get dir in src 10.0.0.1", sa.ErrNotFound, "src 10.0.0.1/32"},
		{"ip x p get dir in index 800", sa.ErrNotFound, "index 800"},
		{"ip x s add " + id + alg + " flag esn replay-window 0 dir in", sa.ErrInvalid, "(Invalid argument)"},
		{"ip x monitor", ErrMonitor, "does not end"},
	} {
		_, err := run(t, db, x.text)
		require.ErrorIs(t, err, x.is, x.text)
		require.ErrorContains(t, err, x.part, x.text)
		require.NotContains(t, err.Error(), keyHex[2:])
	}
	out, err := run(t, db, "ip x s count\nip x p count")
	require.NoError(t, err)
	require.Equal(t, "\t SAD count 2\n\t SPD IN  1 OUT 1 FWD 0\n", out, "a batch that fails changes nothing")
}

// TestClassicListing is the listing of the classic commands with offload, which
// iproute2 6.15 shows twice: as parameters, and as the direction of the state.
func TestClassicListing(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	_, err := run(t, db, classic)
	require.NoError(t, err)
	out, err := run(t, db, "ip x s\nip x p")
	require.NoError(t, err)
	require.Equal(t, `src 14.0.0.70 dst 14.0.0.52
	proto esp spi 0x00000007 reqid 7 mode transport
	replay-window 32 
	aead rfc4106(gcm(aes)) <<Keys hidden>> 128
	anti-replay context: seq 0x0, oseq 0x0, bitmap 0x00000000
	crypto offload parameters: dev eth4 dir in mode crypto
	dir in
	sel src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp 
src 14.0.0.52 dst 14.0.0.70
	proto esp spi 0x00000007 reqid 7 mode transport
	replay-window 32 
	aead rfc4106(gcm(aes)) <<Keys hidden>> 128
	anti-replay context: seq 0x0, oseq 0x0, bitmap 0x00000000
	crypto offload parameters: dev eth4 dir out mode crypto
	dir out
	sel src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp 
src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp 
	dir in priority 0 ptype main 
	tmpl src 14.0.0.70 dst 14.0.0.52
		proto esp spi 0x00000007 reqid 7 mode transport
src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp 
	dir out priority 0 ptype main 
	tmpl src 14.0.0.52 dst 14.0.0.70
		proto esp spi 0x00000007 reqid 7 mode transport
`, out)
	out, err = run(t, db, "ip x s get dst 14.0.0.70 proto esp spi 7")
	require.NoError(t, err)
	require.NotContains(t, out, keyHex)
	out, err = run(t, db, "ip x s get dst 14.0.0.70 proto esp spi 7 keys")
	require.NoError(t, err)
	require.Contains(t, out, keyHex+" 128\n")
}

// TestLiveValues receives and sends under SAs and compares with what the kernel
// shows after the same (traffic.txt of the recorded transcripts, and the layout
// of its bitmaps in net/xfrm/xfrm_replay.c).
func TestLiveValues(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	db := sa.NewDB(sa.Options{Now: func() time.Time { return now }})
	_, err := run(t, db, fmt.Sprintf(`
		ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x101 dir in replay-window 32 %[1]s
		ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x102 dir in replay-window 64 flag esn %[1]s
		ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x103 dir in %[1]s
		ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x104 dir out %[1]s
		ip x s add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x105 dir in replay-window 40 replay-seq 100 %[1]s
	`, alg))
	require.NoError(t, err)
	state := func(spi uint32) *sa.SA {
		s := db.Table().Inbound(sa.AddrFrom(netip.MustParseAddr("10.0.0.2")), false, spi)
		require.NotNil(t, s)
		return s
	}
	later := now.Add(time.Minute)
	receive := func(s *sa.SA, numbers ...uint64) {
		for _, n := range numbers {
			require.Equal(t, sa.OK, s.CommitIn(n, 100, later.UnixNano()))
		}
	}
	receive(state(0x101), 1, 2, 3, 5)
	receive(state(0x102), 1, 2, 3, 4, 5, 64, 65, 67)
	receive(state(0x103), 1)
	first, n, _ := state(0x104).ReserveOut(3, 300, later.UnixNano())
	require.Equal(t, []any{uint64(1), 3}, []any{first, n})

	show := func(spi uint32) string {
		out, err := run(t, db, fmt.Sprintf("ip -s x s list spi %d", spi))
		require.NoError(t, err)
		return out
	}
	require.Contains(t, show(0x101), "\tlastused 2026-01-02 03:05:05\n\tanti-replay context: seq 0x5, oseq 0x0, bitmap 0x0000001d\n")
	require.Contains(t, show(0x101), "\t  400(bytes), 4(packets)\n\t  add 2026-01-02 03:04:05 use 2026-01-02 03:05:05\n")
	// Number 67 is bit 2, 66 (missing) bit 1, 65 bit 0, 64 bit 63, 4 and 5 bits 3
	// and 4; 1 to 3 have left.
	require.Contains(t, show(0x102), "\t seq-hi 0x0, seq 0x43, oseq-hi 0x0, oseq 0x0\n\t replay_window 64, bitmap-length 2\n\t 80000000 0000001d \n")
	require.Contains(t, show(0x103), "\treplay-window 0 seq", "the default window is listed as one of more than 32 is")
	require.Contains(t, show(0x103), "\t replay_window 1024, bitmap-length 32\n")
	require.Contains(t, show(0x104), "\tanti-replay context: seq 0x0, oseq 0x3, bitmap 0x00000000\n")
	require.Contains(t, show(0x105), "\t seq-hi 0x0, seq 0x64, oseq-hi 0x0, oseq 0x0\n\t replay_window 40, bitmap-length 2\n\t 00000000 00000000 \n")

	c, err := Parse("ip -s x s list spi 0x101")
	require.NoError(t, err)
	c.Errors = func(s *sa.SA) StateErrors { return StateErrors{Outside: 1, Replayed: 2, Unauthentic: s.SPI()} }
	var out bytes.Buffer
	tx := db.Begin()
	defer tx.Rollback()
	require.NoError(t, c.Execute(tx, &out))
	require.Contains(t, out.String(), "\t  replay-window 1 replay 2 failed 257\n")
	require.ErrorIs(t, c.Execute(tx, failing{}), io.ErrShortWrite)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
