#!/usr/bin/env python3
"""Writes the plain frames that the benchmark replays.

usage: bench-frames.py FILE SIZE

FILE becomes a pcap of 256 UDP flows from 14.0.0.52 to 14.0.0.70, one Ethernet frame of SIZE octets (without FCS, at
least 60) each, with right checksums: a gateway that looks at checksums finds nothing to do.
"""

import struct
import sys

FLOWS = 256
HEADERS = 14 + 20 + 8


def ones_sum(octets: bytes) -> int:
    """The Internet checksum's sum (RFC 1071), not inverted."""
    if len(octets) % 2:
        octets += b"\0"
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def frame(flow: int, size: int) -> bytes:
    payload = bytes((7 * flow + i) & 0xFF for i in range(size - HEADERS))
    addresses = bytes([14, 0, 0, 52, 14, 0, 0, 70])
    length = 8 + len(payload)
    ports = struct.pack(">HHH", 1024 + flow, 5001, length)
    pseudo = addresses + struct.pack(">HH", 17, length)
    udp_sum = 0xFFFF - ones_sum(pseudo + ports + payload) or 0xFFFF
    head = struct.pack(">BBHHHBB", 0x45, 0, 20 + length, flow, 0x4000, 64, 17)
    head += struct.pack(">H", 0xFFFF - ones_sum(head + addresses)) + addresses
    ethernet = bytes.fromhex("020000000001" "020000000002" "0800")
    return ethernet + head + ports + struct.pack(">H", udp_sum) + payload


def main() -> None:
    if len(sys.argv) != 3 or not sys.argv[2].isdigit() or int(sys.argv[2]) < 60:
        sys.exit(__doc__)
    path, size = sys.argv[1], int(sys.argv[2])
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for flow in range(FLOWS):
            octets = frame(flow, size)
            out.write(struct.pack("<IIII", 0, 0, len(octets), len(octets)) + octets)


main()
