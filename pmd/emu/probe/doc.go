// Package probe helps tests, which cannot use cgo: it makes sessions, flow rules and
// marks of packets as package pmd would never ask for them, with rte_security and
// rte_flow themselves, on a port of any driver or on an emulated NIC (package emu).
// For tests only.
package probe
