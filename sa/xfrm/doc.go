// Package xfrm is the language of iproute2's `ip xfrm`, both ways: commands are
// parsed into package sa's types and applied to its DB, and states and policies
// are listed as iproute2 lists them.
//
// What a line goes through: lex.go cuts the text into words as a shell would,
// parse.go finds the object and the verb, state.go and policy.go read the rest
// into a Command, execute.go applies it to a transaction. The other way,
// format.go writes listings, listing.go reads them (iproute2's own too), and
// commandline.go writes a state or policy as the command that would add it.
//
// Everything that iproute2 6.1 to 6.15 accepts and that has a meaning for ESP in
// transport mode is accepted with iproute2's meaning, abbreviations included.
// What has no meaning here (marks, tunnel mode, other protocols) is refused by
// name and never ignored. Two things are stricter than iproute2: a setting
// that is given twice is an error, and so is a prefix length other than the full
// one where one address is meant.
//
// Keys never appear in an error, and in a listing only where it ends in `keys`.
package xfrm
