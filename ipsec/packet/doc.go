// Package packet reads one Ethernet frame: tags, IPv4 or IPv6 with its header
// chain, and as much of the upper layer as the SPD needs. It never allocates,
// never panics and never reads outside the IP packet, whatever the octets are.
//
// It also writes, in place: what a kernel left of a checksum, TCP segment sizes,
// and the answer to a packet that is too big.
//
// Parse fills a Meta: where the IP header is, where an outbound ESP header
// goes, where the upper-layer header is, and the sa.Flow that the tables are
// asked about. ParseUpper does the last step again after an ESP packet was
// opened. All lengths come from the IP header; Ethernet padding behind the
// packet is outside of it.
//
// What this package refuses beyond the RFCs' musts: an IPv4 header with a wrong
// checksum, hop-by-hop options that are not in first place (RFC 8200, 4.1), more
// than 8 extension headers, two fragment headers in one packet, jumbograms (RFC
// 2675), and a first fragment that ends before the ports (RFC 7112; a policy on
// ports could not be decided). An IPv6 atomic fragment (RFC 6946) is a whole
// packet.
package packet
