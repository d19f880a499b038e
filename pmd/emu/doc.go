// Package emu is a NIC with inline IPsec that does not exist: Attach puts it in
// front of a port of any driver, and from then on that port has a security context,
// takes sessions and flow rules, seals what is marked while it is sent and opens
// what it knows while it is received. It really encrypts, by OpenSSL, and it checks
// its contract: code that runs on it without a breach can be trusted on a card, as
// far as the card is known.
//
// It is a stand-in of the port (pmd/standin.h), because an application cannot give a
// port a security context of its own: struct rte_eth_dev is not public. Where DPDK
// does not install what a context is made of (rte_security_driver.h), Attach fails
// with pmd.ErrNotSupported.
//
// Everything on the packet path is C and runs from burst callbacks: tx.c and check.c,
// rx.c, packet.c. Sessions are in sessions.c and services.c, rules in flows.c, tables
// in tables.c and remove.c, faults in faults.c, counters in counters.h and report.c.
// Tests are named after the rows below.
//
// # Profile ixgbe
//
// An 82599 under DPDK's ixgbe driver, flaws included:
//
//	B1   egress sessions need the transmit offload SECURITY, ingress ones the receive offload
//	B2   AEAD AES-GCM is demanded, nothing else of an SA is looked at: 128 bits of any key are used, an
//	     ICV of 16 octets, no ESN
//	B3   an egress SA is programmed when its session is made, in the lowest free slot
//	B4   an ingress session keeps a pointer to the key; the flow rule installs the SA, with a copy
//	B5   the salt is what stands behind the key
//	B6   of a rule, the destination of the first IP item with a spec counts; SECURITY and END are its
//	     actions, whose argument is the session (dpdk=22.11) or points to a structure (26.03); validate
//	     installs, too
//	B7   a full table (1024 SAs a direction, 128 addresses) is not reported (22.11), or is (26.03)
//	B8   destroying a rule fails (22.11) or does nothing (26.03): the SA stays
//	B9   a removal takes the first entry that has, or had, the SPI; without one it fails, and the
//	     session's memory is lost
//	B10  a removal switches the lookups of its direction off, an addition switches them on
//	B11  without lookups what is sent leaves in clear text (leak_tx), what comes is left alone
//	B12  a start empties all tables, a stop keeps them, a reset or close ends the context
//	B13  metadata: index, trailer length as the packet's own octets say it, and a generation of ours
//	B14  sealed is what is marked: nonce is salt and IV, AAD the ESP header, the ICV overwrites the last
//	     16 octets; an empty slot's key and salt are zero
//	B15  what breaks the contract leaves with a wrong ICV, or as octets of 0xff (bad_tx)
//	B16  two transmit contexts a queue, told apart by 8 bits of the index and 4 of the trailer (alias=off: by all)
//	B17  a copy is sealed, once: host memory stays as it was, and a full ring is offered the copy again
//	B18  the IPv4 header checksum is filled in where asked for
//	B19  received: matched by destination and SPI; fragments, tags, options, extensions are left alone
//	B20  opened in place: headers, padding, trailer and ICV stay, and the mark says so
//	B21  a wrong ICV: both marks, and junk
//	B22  a wrong length: both marks (rx-path=scalar) or none (vector)
//	B23  marks that came with a buffer are taken off first
//	B24  checksum marks say "good" on every ESP packet
//	B25  the metadata word of what is received or was sent is poisoned
//	B26  no window, no counters, no limits, no updates, no events; four capabilities
//
// ixgbe-x550 is the same with another PCI device (0x1563, not 0x10fb), without ingress
// rules unless dpdk=26.03.
//
// # Profile crypto
//
// A modern NIC with inline crypto. Other than ixgbe: GCM with 128, 192 and 256-bit
// keys; ESN (the high half comes with the metadata when sent, and is the one nearest
// to the highest number seen when received); one or two tags; the salt is the
// session's, and the key is copied at once; what it cannot do is refused, full tables
// too; removals are exact, and a rule's takes the SA along; a start keeps the tables;
// lookups are always on; indices are not aliased, and padding may be long; a wrong
// length is marked.
//
// # Profile packet
//
// INLINE_PROTOCOL; sessions as in crypto, without tags:
//
//	P1  sent: a plain packet with metadata becomes ESP; the number is the one after the session's last,
//	    the IV is the number, padding is the least; without room in the buffer it leaves unreadable
//	    (tx_failed)
//	P2  numbers do not wrap: behind 2^32-1, with ESN 2^64-1, nothing leaves that can be read
//	    (tx_exhausted); told once
//	P3  received: a window of up to 1024 packets, 0: none; number 0 never; opened packets come without
//	    ESP, marked, with the session's user data
//	P4  what fails comes as it was, with both marks and the user data; no window moves, nothing is
//	    counted but an error
//	P5  packets, octets of IP without ESP, and errors are counted by session
//	P6  each limit is told once, when it is reached; behind a hard one nothing leaves that can be read
//	    (tx_after_hard), and what comes fails (rx_after_hard)
//	P7  limits can be changed, and reached again
//	P8  tags, fragments and options are left alone when received, and a breach when sent
//
// # Options
//
// tx, rx and addresses are the sizes of the tables, powers of two (default: 1024, 1024
// and 128 with ixgbe, else 8192). dpdk=22.11|26.03, rx-path=vector|scalar and
// alias=on|off choose among ixgbe's manners. strict=off passes over breaches, abort=on
// ends the process at one. crypto=off is an idle model for measuring the host: it
// seals and opens each 1,000th number only, passes the others as they are, and checks
// as ever (counter crypto_off). fault is below.
//
// # The contract
//
// A breach is counted in breaches and by kind, and the first 16 are kept as text. With
// ixgbe (i) some count that are none with other profiles:
//
//	breach_metadata    a mark without metadata, or with that of no slot
//	breach_stale       metadata of a session that is gone, or asked of one
//	breach_wrong_sa    the packet's SPI is not its SA's
//	breach_aliased     (i) the context of another SA was taken for it, row B16
//	breach_length      pkt_len is not the ICV's end, the text is odd, the trailer is not the metadata's (i)
//	                   or says more than there is, or more than 15 (i)
//	breach_header      l2_len and l3_len do not lead to ESP; options, extensions, fragments, tags
//	breach_flags       L4 checksum or segmentation, not one of IPV4 and IPV6, IPv4 without IP_CKSUM, a
//	                   header checksum that is not zero
//	breach_segments    several segments
//	breach_validate    rte_flow_validate with the action SECURITY
//	breach_same_spi    (i) a second SA of one SPI and direction
//	breach_index       (i) an egress SA in slot 256 or behind
//	breach_order       a session before the start, alive at stop, reset or close, or on a context that is
//	                   gone; a rule without an ingress session, removed twice, or (not i) after its session
//	breach_key         (i) a key that is not of 16 octets, or changed before the rule was made
//	breach_settings    (i) an SA that the driver takes and the device cannot do
//	breach_removal     a removal that hits another SA, or none
//	breach_drain       an egress SA removed less than 10 ms (ixgbe, after a packet for any SA) or 0.5 ms
//	                   (for it) after a packet was handed over: the ring may hold it
//	breach_concurrent  two control-plane calls at once
//
// # Other counters
//
// Sent: tx_encrypted, tx_plain (without a mark), leak_tx (clear text that was to be
// sealed), and unreadable: bad_tx (a breach), tx_after_hard, tx_exhausted, tx_dead (the
// device stands still), tx_failed (no memory or room, or the cipher failed). Received:
// rx_opened, rx_bad_icv, rx_bad_length, rx_bad_trailer, rx_replayed, rx_after_hard,
// rx_no_session, rx_unprocessed (row B19), rx_dead. Sessions: sessions (alive),
// sessions_made, sessions_refused, flows_made. Of the model: faults (that struck),
// crypto_off, model_ns (its own CPU time on the packet path).
//
// # Faults on demand
//
// From the option fault or SetFault, joined by +; the latter replaces all, and none
// ends them:
//
//	session, flow, destroy, metadata  such calls fail; with :N the Nth from now only
//	full:N                            tables hold N SAs
//	icv:N, noflag:N, txicv:N          every Nth packet is called forged, left alone, sent with a wrong ICV
//	reset:N                           at the Nth packet the device stands still and asks for a reset
//	slow:N                            control-plane calls take N microseconds
//	lookupsoff                        both lookups go off, until an SA is added; :N for N milliseconds
//	gone                              the device is pulled out
//
// A device that stands still drops what it receives, and what it sends is unreadable.
//
// # Not emulated
//
// Speed, descriptors, hardware RSS, segmentation, MACsec, virtual functions, drops and
// duplicates on the wire, and what a card really does where the worst was assumed here
// (B11, B15, B21).
package emu
