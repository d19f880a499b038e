package pmd

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// nominalFrame are drivers that report Ethernet's 1518 octets as the longest
// frame (RTE_ETHER_MAX_LEN), although they carry whatever their buffers hold.
// ethdev then refuses a larger MTU, so such a port is set up with what it admits
// to, and the rest is seen to here.
var nominalFrame = []string{"net_af_packet", "net_memif"}

// etherOverhead is what ethdev adds to an MTU to get a frame, for drivers that
// do not say: Ethernet header and FCS.
const etherOverhead = 14 + 4

// deviceMTU is the MTU that ethdev is told.
func deviceMTU(info PortInfo, mtu int) int {
	if slices.Contains(nominalFrame, info.Driver) {
		return min(mtu, info.MaxFrame-etherOverhead)
	}
	return mtu
}

// describe completes what DPDK tells about a port with what the kernel knows of
// the interface behind it.
func (info *PortInfo) describe() {
	info.UnmarkedChecksums = info.KernelInterface != "" &&
		slices.Contains([]string{"net_af_packet", "net_af_xdp", "net_pcap"}, info.Driver)
	if info.Driver != "net_af_packet" {
		return
	}
	frame := afPacketFrame(info.Args)
	info.MinDataRoom = frame
	info.MaxMTU = frame - etherOverhead
	if mtu, err := KernelMTU(info.KernelInterface); err == nil {
		info.MTU = mtu
	}
}

// afPacketFrame is the longest frame in octets that net_af_packet moves: what a
// slot of its ring holds (framesz, 2048 by default) beside the kernel's header
// (packet(7): TPACKET2_HDRLEN without the address that follows the header).
func afPacketFrame(args string) int {
	slot := 2048
	for word := range strings.SplitSeq(args, ",") {
		if text, ok := strings.CutPrefix(word, "framesz="); ok {
			if n, err := strconv.Atoi(text); err == nil {
				slot = n
			}
		}
	}
	return slot - 32
}

// setInterfaceMTU gives the kernel interface behind a port its MTU, if ethdev
// cannot do that; it returns the MTU that is in force.
func setInterfaceMTU(info PortInfo, mtu int) (int, error) {
	if info.KernelInterface == "" {
		return mtu, nil
	}
	if now, err := KernelMTU(info.KernelInterface); err == nil && now == mtu {
		return mtu, nil
	}
	request, err := unix.NewIfreq(info.KernelInterface)
	if err != nil {
		return 0, err
	}
	request.SetUint32(uint32(mtu))
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFMTU, request); err != nil {
		return 0, fmt.Errorf("setting the MTU of interface %s to %d: %w", info.KernelInterface, mtu, err)
	}
	return KernelMTU(info.KernelInterface)
}

// KernelMTU is the MTU of a network interface of the kernel in octets.
func KernelMTU(name string) (int, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, fmt.Errorf("reading the MTU of interface %s: %w", name, err)
	}
	return i.MTU, nil
}
