package packet

// Types and codes of ICMP that are looked at (RFC 792, RFC 1191).
const (
	icmpUnreachable       = 3
	icmpFragmentation     = 4 // code: fragmentation needed and DF set
	icmpSourceQuench      = 4
	icmpRedirect          = 5
	icmpTimeExceeded      = 11
	icmpParameterProblem  = 12
	icmpErrorLen          = 8 // header of an error; the quoted packet follows
	icmp6PacketTooBig     = 2
	icmp6FirstInformation = 128 // smaller types are errors (RFC 4443, 2.1)
	icmp6Redirect         = 137 // RFC 4861, 4.5
)

// isError4 reports whether an ICMP message of this type tells of an error and
// quotes the packet that it is about (RFC 1122, 3.2.2).
func isError4(typ uint8) bool {
	switch typ {
	case icmpUnreachable, icmpSourceQuench, icmpRedirect, icmpTimeExceeded, icmpParameterProblem:
		return true
	}
	return false
}

// isQuery4 reports whether an ICMP message of this type surely is no error: echo,
// router discovery, timestamp, information, address mask (RFC 792, 950, 1256) and
// extended echo (RFC 8335). Types that are neither this nor an error are obsolete
// or not assigned.
func isQuery4(typ uint8) bool {
	switch typ {
	case 0, 8, 9, 10, 13, 14, 15, 16, 17, 18, 42, 43:
		return true
	}
	return false
}
