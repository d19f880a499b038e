// Package emu is a NIC with inline IPsec that does not exist: Attach puts it in
// front of a port of any driver, and from then on that port has a security context,
// takes sessions and flow rules, seals what is marked while it is sent and opens
// what it knows while it is received. It really encrypts, by OpenSSL, and it checks
// its contract: code that runs on it without a breach can be trusted on a card, as
// far as the card is known. Everything on the packet path is C (tx.c, rx.c, packet.c,
// run from burst callbacks); sessions and rules are in sessions.c.
//
// It is a stand-in of the port (pmd/standin.h), because an application cannot give a
// port a security context of its own: struct rte_eth_dev is not public.
//
// # Profile ixgbe
//
// An 82599 under DPDK's ixgbe driver, flaws included:
//
//	B1   egress sessions need the transmit offload SECURITY, ingress ones the receive offload
//	B2   AEAD AES-GCM is demanded, nothing else of an SA is looked at
//	B3   an egress SA is programmed when its session is made, in the lowest free slot
//	B4   an ingress session keeps a pointer to the key; the flow rule installs the SA
//	B5   the salt is what stands behind the key
//	B6   of a rule, the first IP item's destination counts; SECURITY and END are its actions, whose
//	     argument is the session (dpdk=22.11) or points to a structure (26.03); validate installs, too
//	B7   a full table (1024 SAs a direction, 128 addresses) is not reported (22.11), or is (26.03)
//	B8   destroying a rule fails (22.11) or does nothing (26.03): the SA stays
//	B9   a removal finds the first SA that has, or had, the SPI
//	B10  a removal switches the lookups of its direction off, an addition switches them on
//	B11  without lookups what is sent leaves in clear text (leak_tx), what comes is left alone
//	B12  a start empties all tables
//	B13  metadata: index, trailer length as the packet's own octets say it, and a generation of ours
//	B14  sealed: nonce is salt and IV, AAD the ESP header, the ICV overwrites the packet's last 16 octets
//	B15  what does not fit the metadata leaves with a wrong ICV (bad_tx)
//	B16  two transmit contexts a queue, told apart by 8 bits of the index and 4 of the trailer (alias=off: by all)
//	B17  a copy is sealed: host memory stays as it was
//	B18  the IPv4 header checksum is filled in where asked for
//	B19  received: matched by destination and SPI; fragments, tags, options, extensions are left alone
//	B20  opened in place: headers, padding, trailer and ICV stay, and the marks say so
//	B21  a wrong ICV: both marks, and junk
//	B22  a wrong length: both marks (rx-path=scalar) or none (vector)
//	B23  marks that came with a buffer are taken off first
//	B24  checksum marks say "good" on every ESP packet
//	B25  the metadata word of what is received or was sent is poisoned
//	B26  no window, no counters, no updates, no events; four capabilities
//
// ixgbe-x550 is the same with another PCI device, without ingress rules unless
// dpdk=26.03.
//
// # Profile crypto
//
// A modern NIC with inline crypto: GCM with 128, 192 and 256-bit keys, ESN (the high
// half comes with the metadata; received ones are completed from the highest seen),
// tagged frames, exact removals, salt from the session. No aliasing, and lookups are
// always on.
//
// # Profile packet
//
// INLINE_PROTOCOL:
//
//	P1  sent: a plain packet with metadata becomes ESP; number and IV are the device's, from the session's on
//	P2  numbers do not wrap: the last is 2^32-1 without ESN
//	P3  received: a window of up to 1024 packets; opened packets come without ESP, marked, with the session's user data
//	P4  what fails comes as it was, with both marks and the user data
//	P5  packets and octets are counted by session, and errors
//	P6  soft limits are told once, hard limits once; behind a hard limit nothing leaves that can be read
//	P7  limits can be changed
//	P8  tags, options and extension headers are left alone when received, and a breach when sent
//
// # The contract
//
// A breach is counted by kind (the counters that begin with breach_, nic.h says which
// is what), kept as text, and with abort=on ends the process. A packet that was handed
// over counts as being in the ring for a while: removing its SA then is a breach, too.
//
// # Faults on demand
//
// session, flow, destroy, metadata: such calls fail. full:N: tables hold N. icv:N,
// noflag:N, txicv:N: every Nth packet is called forged, left alone, sent with a wrong
// ICV. reset:N: after N packets the device stands still and asks for a reset. slow:N:
// calls take N microseconds. lookupsoff: both lookups go off now. gone: the device is
// pulled out.
//
// # Not emulated
//
// Speed, descriptors, hardware RSS, segmentation, MACsec, virtual functions, and what a
// card really does where the worst was assumed here (B11, B15, B21). crypto=off is an
// idle model for measuring the host: it encrypts each 1,000th packet and checks all.
package emu
