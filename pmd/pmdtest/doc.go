// Package pmdtest holds fixtures for tests over DPDK: EAL once per test binary,
// without huge pages and privileges (Main), ports joined by rings (RingPair),
// frames in and out of raw ports (Inject, Collect), and checks that every packet
// buffer came back (NoLeaks). For tests only.
package pmdtest
