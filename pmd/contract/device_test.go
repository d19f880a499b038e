package contract_test

import (
	"testing"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

// device is a NIC with its wire.
type device interface {
	// ready starts the port, without an SA in it.
	ready(t *testing.T, s setup) port
	// put gives frames (without CRC, 60 octets or more) to the port from the wire.
	put(t *testing.T, frames ...[]byte)
	// take waits for n frames that the port sends, for a while.
	take(t *testing.T, n int) [][]byte
	// link has the other end of the wire bring the link up or down.
	link(t *testing.T, up bool)
}

// setup is what a row wants of a port.
type setup struct {
	scalar  bool // the driver's receive path without vector instructions
	skipTag bool // the device leaves frames with VLAN tags alone
	// tagMatters says that a row is about skipTag, and not for a device that does otherwise.
	tagMatters bool
}

// port is the near end of the wire.
type port struct {
	*pmd.Port
	pool *pmd.Pool
	raw  *probe.Device
}

// row is a part of the contract.
type row struct {
	name  string
	setup setup
	run   func(b *bench)
}

// rows are all there are.
func rows() []row {
	var all []row
	for _, list := range [][]row{
		capabilityRows, egressRows, ingressRows, unopenedRows, keyRows, ruleRows, tableRows, removalRows, restartRows, linkRows,
	} {
		all = append(all, list...)
	}
	return all
}

func runRows(t *testing.T, d device) {
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) { r.run(newBench(t, d, r.setup)) })
	}
}
