// Package ipsec is the gateway: it receives, classifies, seals or opens, counts
// and transmits. Data flows one way.
//
// Each pair of ports has two lanes: outbound (protected to unprotected side,
// outbound.go) and inbound (the other way, inbound.go). A worker (worker.go)
// runs the lanes of one lcore to completion; a turn of a lane is
//
//  1. pmd.Lane.Exchange, the only crossing into C: frees the last turn's drops,
//     sends its packets, receives a burst;
//  2. load the generation (table of SAs and policies) once;
//  3. packet.Parse of each frame;
//  4. the SPD or the SAD decides; neighbours of one SA form a run, which takes
//     its sequence numbers together;
//  5. esp frames in place;
//  6. the engine seals or opens all packets of the turn;
//  7. inbound: trailer, window commit, policy check of what was inside;
//  8. every packet is sent, or dropped with exactly one Reason;
//  9. the turn counter moves on, which is the quiet point that the control plane
//     waits for before it wipes keys.
//
// The control plane (gateway.go) changes tables in transactions of sa.DB and
// reads counters; it never touches a packet.
package ipsec
