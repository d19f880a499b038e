// Package sa holds who may talk, with which keys, and in which state: the SAD,
// the SPD and the live state of every SA (RFC 4301, 4.4). It does no I/O and
// knows neither packets nor DPDK.
//
// Settings (Params, Policy) are what an operator writes and do not change. Live
// state (SA, PolicyState) is what the packet path updates with atomics. Lookups
// go through a Table, an immutable snapshot; the DB is the one writer and builds
// the next snapshot in a transaction.
//
// Its parts, from the outside in:
//
//   - db.go, tx*.go, prepare.go: the writer, its transactions, the next snapshot
//   - reconcile.go, tick.go: reload, time
//   - table.go, fragment.go: what the packet path asks
//   - sa.go, sequence.go, live.go: one SA under traffic
//   - kept.go: sequence numbers that outlive the process
//   - replay.go, resize.go: the anti-replay window
//   - nonce.go, noncememory.go: the IVs of SAs that may share a key
//   - policyset.go, classifier.go, cursor.go, prefixindex.go: the SPD's search
//   - spiindex.go, pairindex.go, cowmap.go: the SAD's searches
package sa
