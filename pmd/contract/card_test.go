package contract_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

// Variables of the environment; doc.go explains them.
const (
	cardVariable     = "ESPGW_CARD"
	wireVariable     = "ESPGW_CARD_WIRE"
	controlVariable  = "ESPGW_CARD_CONTROL"
	taggedVariable   = "ESPGW_CARD_TAGGED"
	requiredVariable = "ESPGW_CARD_REQUIRED"
)

func TestCard(t *testing.T) {
	for _, name := range []string{cardVariable, wireVariable} {
		if os.Getenv(name) != "" {
			continue
		}
		why := fmt.Sprintf("no card: %s is not set (see the package's comment)", name)
		if os.Getenv(requiredVariable) == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	require.NoError(t, theCard.open())
	runRows(t, &theCard)
}

// card is a port of DPDK's ixgbe driver, and the far end of its wire. It is there once,
// so rows use it one after the other; a start empties its tables.
type card struct {
	port
	wire *net.UnixConn
}

var theCard card

// cardSessions are raw ones of all rows together: after a start the driver does not find
// them any more, and keeps their memory.
const cardSessions = 8191

func (c *card) open() (err error) {
	if c.Port, err = pmd.FindPort(os.Getenv(cardVariable)); err != nil {
		return err
	}
	if c.pool, err = pmd.NewPool(pmd.PoolConfig{Name: "card", Mbufs: 16383}); err != nil {
		return err
	}
	c.wire, err = net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: os.Getenv(wireVariable), Net: "unixpacket"})
	if err != nil {
		return fmt.Errorf("the far end of the wire: %w", err)
	}
	if c.raw, err = probe.New(c.Port, nil, "card-raw", cardSessions); err != nil {
		return err
	}
	return nil
}

func (c *card) close() error {
	if c.Port == nil {
		return nil
	}
	errs := []error{c.Port.Close()}
	if c.raw != nil {
		c.raw.Close()
	}
	if c.pool != nil {
		errs = append(errs, c.pool.Close())
	}
	if c.wire != nil {
		errs = append(errs, c.wire.Close())
	}
	return errors.Join(errs...)
}

// scalarRing is no power of two: for such rings the driver leaves vector instructions
// alone (ixgbe_rxtx_vec_common.h: ixgbe_rx_vec_dev_conf_condition_check_default).
const scalarRing = 1000

func (c *card) ready(t *testing.T, s setup) port {
	t.Helper()
	if skips := os.Getenv(taggedVariable) == "skip"; s.skipTag != skips && s.tagMatters {
		t.Skipf("this card's tagged frames: skip is %v", skips)
	}
	if c.Started() {
		require.NoError(t, c.Stop())
	}
	cfg := config(c.pool)
	if s.scalar {
		cfg.RxDesc = scalarRing
	}
	applied, err := c.Configure(cfg)
	require.NoError(t, err)
	require.Empty(t, applied.Masked)
	require.NoError(t, c.SetPromiscuous(true))
	require.NoError(t, c.Start())
	c.awaitLink(t, true)
	for len(c.take(t, 1)) > 0 { // of the row before
	}
	return c.port
}

func (c *card) put(t *testing.T, frames ...[]byte) {
	t.Helper()
	for _, frame := range frames {
		_, err := c.wire.Write(frame)
		require.NoError(t, err)
	}
}

func (c *card) take(t *testing.T, n int) (frames [][]byte) {
	t.Helper()
	buffer := make([]byte, 16<<10)
	require.NoError(t, c.wire.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
	for len(frames) < n {
		octets, err := c.wire.Read(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		require.NoError(t, err)
		frames = append(frames, append([]byte(nil), buffer[:octets]...))
	}
	return frames
}

func (c *card) link(t *testing.T, up bool) {
	t.Helper()
	path := os.Getenv(controlVariable)
	if path == "" {
		if os.Getenv(requiredVariable) == "1" {
			t.Fatalf("%s is not set", controlVariable)
		}
		t.Skipf("nobody to ask for the link: %s is not set", controlVariable)
	}
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "link 0 %s\n", map[bool]string{true: "up", false: "down"}[up])
	require.NoError(t, err)
	answer, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ok", strings.TrimSpace(answer))
	c.awaitLink(t, up)
}

func (c *card) awaitLink(t *testing.T, up bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		l, err := c.Link()
		return err == nil && l.Up == up
	}, 10*time.Second, 10*time.Millisecond)
}
