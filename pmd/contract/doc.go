// Package contract is one suite of tests about inline IPsec by an Intel 82599, run on two
// devices: on the emulated NIC (package emu, profile ixgbe) and on DPDK's own ixgbe driver
// that drives a card, real or modelled (command nicmodel). Both are used through package
// pmd and seen from the wire, so what passes on both is the same on both; where they
// differ, the emulation is wrong.
//
// The emulated half runs everywhere. The other half needs root, huge pages of 2 MiB and
// a card whose wire the test holds the far end of:
//
//	go test -c -o contract.test ./pmd/contract
//	ESPGW_CARD=0000:01:00.0 ESPGW_CARD_WIRE=/run/wire ESPGW_CARD_CONTROL=/run/control \
//	    nicmodel --wire unix:/run/wire --control /run/control --cpu 0 -- ./contract.test
//
// Variables of the environment:
//
//	ESPGW_CARD           PCI address of the port under test
//	ESPGW_CARD_WIRE      unix socket (SOCK_SEQPACKET) that is the far end of its wire, a frame a message
//	ESPGW_CARD_CONTROL   nicmodel's control socket, for the link
//	ESPGW_CARD_TAGGED    "skip": the card leaves frames with VLAN tags alone (nicmodel --set skip-tagged=yes)
//	ESPGW_CARD_LCORES    EAL's --lcores; default 0@1
//	ESPGW_CARD_REQUIRED  "1": without a card the tests fail; otherwise they are skipped
//
// Left out are what crashes the driver (an action without argument, an IP item without
// spec, a session without a transform), and what no card can show, as the emulation's poison in metadata words. The emulation also spoils the ICV of packets
// that break the contract, so of those a row only says that the right key does not open them.
package contract
