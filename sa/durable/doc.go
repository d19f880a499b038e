// Package durable keeps the sequence numbers of a sa.DB over a restart, a crash
// and a loss of power, in a journal on disk.
//
// Outbound: an SA sends only numbers that are reserved on stable storage. The
// keeper reserves ahead, more for an SA that is used faster, and a later run goes
// on above what was reserved, so no nonce comes twice (RFC 4106, section 3.1). A
// clean stop writes how far an SA really came. Where nothing can be reserved, an
// SA sends what it has left and then nothing.
//
// Inbound: every Period, and at a clean stop, the highest number that each SA has
// accepted is written. A later run takes all numbers up to it as received, so
// what could be accepted a second time (RFC 4303, 3.4.3) is what was accepted
// since the last write.
//
// SAs are found again by a fingerprint of their key, their IV constant, SPI and
// addresses; the file holds no keys.
package durable
