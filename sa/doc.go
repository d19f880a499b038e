// Package sa holds who may talk, with which keys, and in which state: the SAD,
// the SPD and the live state of every SA (RFC 4301, 4.4). It does no I/O and
// knows neither packets nor DPDK.
//
// Settings (Params, Policy) are what an operator writes and do not change. Live
// state (SA, PolicyState) is what the packet path updates with atomics. Lookups
// go through a Table, an immutable snapshot; the DB is the one writer and builds
// the next snapshot in a transaction.
package sa
