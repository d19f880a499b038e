package pmd

// The virtual ring driver is linked because rings become ports through a call
// (NewRingPair); all other drivers are plugins, which EAL loads by itself.

// #cgo pkg-config: libdpdk
// #cgo CFLAGS: -std=gnu11 -O3 -Wall -Wextra -Wno-unused-parameter -DALLOW_EXPERIMENTAL_API
// #cgo LDFLAGS: -lrte_net_ring -lrte_bus_vdev
import "C"
