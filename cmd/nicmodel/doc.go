// Command nicmodel runs a DPDK program with cards that do not exist: models of an
// Intel 82599 (package silicon) on the program's PCI bus, driven by DPDK's own,
// unchanged ixgbe driver. At the end it tells what the cards saw, breaches of the
// card's contract above all.
//
//	nicmodel --ports 2 --wire tap:one --wire tap:two -- dpdk-testpmd --lcores 0@1,1@1 -- --forward-mode=io
package main
