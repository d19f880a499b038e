package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"espgw/pmd"
)

// version is stamped by the Makefile.
var version = "devel"

func printHelp(w io.Writer) {
	var o options
	var raw rawOptions
	fmt.Fprint(w, `espgw: an IPsec ESP gateway on DPDK ports, a bump in the wire

usage: espgw [EAL options] -- [options]
       espgw [EAL options] -- --probe
       espgw --help | --version

What enters a pair on its protected port is looked up in the policies and, where
one says so, leaves on the unprotected port as ESP (transport mode); ESP that
enters on the unprotected port is opened and leaves on the protected one.

Options:
`)
	fmt.Fprint(w, newFlags(&o, &raw).FlagUsagesWrapped(100))
	fmt.Fprint(w, `
Signals: SIGINT and SIGTERM drain and stop; SIGHUP reads --xfrm again; SIGUSR1
writes --stats-json. Exit status: 0 clean stop; 1 it ran and something failed;
2 wrong usage or configuration.

Example (no hardware, no huge pages; EAL options in front of the --):
  espgw --no-huge --no-shconf --no-pci -l 0,1 \
        --vdev net_pcap0,rx_pcap=in.pcap,tx_pcap=/dev/null \
        --vdev net_pcap1,rx_pcap=empty.pcap,tx_pcap=out.pcap -- \
        --pair lan=net_pcap0,wan=net_pcap1 --xfrm gateway.xfrm --idle-exit 1s --stats-json -
`)
}

func printVersion(w io.Writer) {
	fmt.Fprintf(w, "espgw %s\n%s\n%s\n", version, pmd.Version(), runtime.Version())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			fmt.Fprintf(w, "%s %s\n", m.Path, m.Version)
		}
	}
}
