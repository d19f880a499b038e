// Package pmd holds everything that is DPDK: memory, ports, threads, bursts.
// It is the only place (with the packages below it) that contains C.
//
// An EAL is started once per process (StartEAL). It gives lcores, on which
// worker functions run pinned (EAL.Launch). A Pool holds packet buffers, a Mbuf
// is a view of one packet in one of them, a Port is an Ethernet device, and a
// Lane is what one worker uses to move packets from one port to another: its
// Exchange is the only crossing into C on the packet path.
//
// Whatever C owns has one owner in Go with a Close that may be called twice.
// Close in the order Lane, Port, Pool, EAL. Leaks names what was not closed.
//
// The C side is in shim.h (the only file that includes DPDK's headers and knows
// its versions), eal.c, pool.c, port.c and lane.c; pmd.h declares what Go calls.
// Functions there return 0 or a count, or a negative errno.
//
// DPDK 22.11 and 24.11 are supported. On 24.11 the environment variable
// CGO_CFLAGS_ALLOW must name -mrtm, which DPDK's pkg-config file asks for.
package pmd
