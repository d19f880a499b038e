#!/usr/bin/env python3
"""Plays an attacker on the wire between the lab's gateways, with frames of a capture taken there.

usage: lab-attack.py INTERFACE CAPTURE

Towards B, five each: old ESP packets again (below the window of 32); packets with a bit changed and a sequence number
that is yet to come; plain TCP that a policy protects; ESP of an unknown SPI; and the newest packet once more. Towards
A, five of its own packets, reflected.
"""
import socket
import struct
import sys

from espcapture import Frame, checksum, read_pcap

MAC_A, MAC_B = bytes.fromhex("020000000052"), bytes.fromhex("020000000070")
COUNT = 5


def esp_at(frame):
    return len(frame.data) - len(frame.esp)


def with_sequence(frame, sequence):
    at = esp_at(frame) + 4
    return frame.data[:at] + struct.pack("!I", sequence) + frame.data[at + 4 :]


def plain_tcp(number):
    payload = struct.pack("!HHIIBBHHH", 40000, 5201, number, 0, 5 << 4, 2, 1000, 0, 0)
    src, dst = bytes([14, 0, 0, 52]), bytes([14, 0, 0, 70])
    total = checksum(src + dst + struct.pack("!HH", 6, len(payload)) + payload)
    payload = payload[:16] + struct.pack("!H", total) + payload[18:]
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), number, 0, 64, 6, 0) + src + dst
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    return MAC_B + MAC_A + b"\x08\x00" + head + payload


def frames(capture):
    sent = [f for f in map(Frame, read_pcap(capture)) if f.kind == "esp" and f.data[6:12] == MAC_A]
    newest = max(sent, key=lambda f: f.sequence)
    print(f"{len(sent)} ESP packets of A; old: {[f.sequence for f in sent[:COUNT]]}, newest: {newest.sequence}")
    yield from (f.data for f in sent[:COUNT])
    for number in range(1, COUNT + 1):
        changed = bytearray(with_sequence(newest, newest.sequence + 10 + number))
        changed[-20] ^= 1
        yield bytes(changed)
    yield from (plain_tcp(number) for number in range(COUNT))
    for number in range(COUNT):
        at = esp_at(newest)
        yield newest.data[:at] + struct.pack("!I", 0xBAD00 + number) + newest.data[at + 4 :]
    yield newest.data
    yield from (MAC_A + MAC_B + f.data[12:] for f in sent[-COUNT:])


def main():
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind((sys.argv[1], 0))
    for data in frames(sys.argv[2]):
        raw.send(data)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main())
