// Package esp turns IP packets into ESP packets and back, in transport mode, in
// place, on one contiguous buffer (RFC 4303; RFC 3948 for ESP in UDP).
//
// The framing exists once, whoever does the cryptography: Transform.Wrap makes
// room and writes header, IV, padding and trailer, then an engine seals what
// Offsets says; inbound, Transform.Locate finds the parts, an engine opens them,
// and Transform.Unwrap checks the trailer and removes what ESP added. AEAD is
// the engine in Go: AES-GCM with ICVs of 8, 12 and 16 octets (RFC 4106) and
// ChaCha20-Poly1305 (RFC 7634). KnownAnswers is what every engine must pass.
//
// Nothing here allocates per packet, keeps a packet, or knows SAs, windows and
// policies. A packet that is refused is left as it was, but for the text of one
// whose ICV is wrong (see AEAD.Open).
//
// Where RFC 4303 leaves a choice: padding is 1, 2, 3 to a multiple of 4 octets
// on the way out and checked on the way in; ciphertext that is no multiple of 4
// octets is malformed; a next header of 59 makes a dummy packet whatever the
// rest of the text is; every other next header is restored into the header in
// front of ESP, for packet.ParseUpper and the policies to judge. AES-GMAC,
// implicit IVs and tunnel mode are not here.
package esp
