#!/usr/bin/env python3
"""Puts wrong packets on the wire between Linux and espgw, towards both.

usage: interop-wrong.py INTERFACE CAPTURE XFRM SEQUENCE KIND

Five packets of KIND go to the guest (14.0.0.52) and to the host behind espgw (14.0.0.70) each. CAPTURE has packets that
both have accepted. XFRM has the SAs, for kinds that must be sealed well to be wrong in another way; SEQUENCE is a file
with the last sequence number that was used up so, far above those of the capture. Some kinds go by SAs of their own:

  duplicate, old      the newest packet of the capture five times, its first five
  forged              numbers yet to come, and a bit of the ICV changed
  unknown             an SPI that no SA has
  short               ends in the ESP header
  clear               an ICMP message in the clear
  protocol201         a packet of IP protocol 201 in the clear
  reflected           the receiver's own packets
  good                right in every way
  pad-octets          the padding is not 1, 2, 3 ...
  pad-length          the pad length is beyond the packet
  dummy               next header 59
  selector            SA 0x6003 or 0x6004, whose selector does not name what is inside
  template            SA 0x6005 or 0x6006, which the policy for what is inside does not name
  bare                SA 0x6007 or 0x6008, which wants UDP around ESP, without it
"""
import socket
import struct
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from espcapture import Frame, checksum, read_pcap, read_states

COUNT = 5
ENDS = {"14.0.0.52": bytes.fromhex("020000000052"), "14.0.0.70": bytes.fromhex("020000000070")}
# An echo reply that nobody has asked for, and that nobody answers.
MESSAGE = struct.pack("!BBHHH", 0, 0, 0, 0x2323, 1) + b"wrong"
MESSAGE = MESSAGE[:2] + struct.pack("!H", checksum(MESSAGE)) + MESSAGE[4:]
MAIN, SELECTOR, TEMPLATE, ENCAP = 0x6001, 0x6003, 0x6005, 0x6007


def ipv4(src, dst, proto, payload):
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0x2323, 0, 64, proto, 0)
    head += socket.inet_aton(src) + socket.inet_aton(dst)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ethernet(src, dst, packet):
    return ENDS[dst] + ENDS[src] + b"\x08\x00" + packet


class Sealer:
    """Seals ICMP messages under the SA that has the receiver as its destination."""

    def __init__(self, states, first_spi, dst, sequence):
        self.state = next(s for s in states if s.spi in (first_spi, first_spi + 1) and str(s.dst) == dst)
        self.sequence = sequence

    def esp(self, next_header=1, pad=b"\x01", pad_length=None):
        """An ESP packet; pad makes MESSAGE, two octets of trailer and itself a multiple of 4."""
        self.sequence += 1
        text = MESSAGE + pad + bytes([len(pad) if pad_length is None else pad_length, next_header])
        assert len(text) % 4 == 0
        head, iv = struct.pack("!II", self.state.spi, self.sequence), struct.pack("!Q", 0x2323 << 48 | self.sequence)
        return head + iv + AESGCM(self.state.key).encrypt(self.state.salt + iv, text, head)


def frames(kind, src, dst, captured, states, sequence):
    """The frames of the kind from src to dst, and the last sequence number used."""
    came = [f for f in captured if str(f.dst) == dst]
    own = [f for f in captured if str(f.src) == dst]
    newest = max(came, key=lambda f: f.sequence)
    head = len(newest.data) - len(newest.esp)
    sealer = Sealer(states, {"selector": SELECTOR, "template": TEMPLATE, "bare": ENCAP}.get(kind, MAIN), dst, sequence)

    def sealed(*options, **named):
        return [ethernet(src, dst, ipv4(src, dst, 50, sealer.esp(*options, **named))) for _ in range(COUNT)]

    def changed(number):
        data = bytearray(newest.data)
        data[head + 4 : head + 8] = struct.pack("!I", newest.sequence + 10 + number)
        data[-1] ^= 1
        return bytes(data)

    made = {
        "duplicate": lambda: [newest.data] * COUNT,
        "old": lambda: [f.data for f in came[:COUNT]],
        "forged": lambda: [changed(n) for n in range(COUNT)],
        "unknown": lambda: [newest.data[:head] + struct.pack("!I", 0xBAD00 + n) + newest.data[head + 4 :] for n in range(COUNT)],
        "short": lambda: [ethernet(src, dst, ipv4(src, dst, 50, newest.esp[:6]))] * COUNT,
        "clear": lambda: [ethernet(src, dst, ipv4(src, dst, 1, MESSAGE))] * COUNT,
        "protocol201": lambda: [ethernet(src, dst, ipv4(src, dst, 201, b"wrong"))] * COUNT,
        "reflected": lambda: [ENDS[dst] + ENDS[src] + f.data[12:] for f in own[-COUNT:]],
        "pad-octets": lambda: sealed(pad=b"\x07"),
        "pad-length": lambda: sealed(pad_length=200),
        "dummy": lambda: sealed(next_header=59),
        "good": sealed,
        "selector": sealed,
        "template": sealed,
        "bare": sealed,
    }
    return made[kind](), sealer.sequence


def main():
    interface, capture, xfrm, sequence_file, kind = sys.argv[1:]
    captured = [f for f in map(Frame, read_pcap(capture)) if f.kind == "esp"]
    states = read_states(xfrm)
    with open(sequence_file, encoding="ascii") as file:
        sequence = int(file.read())
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind((interface, 0))
    used = sequence
    for src, dst in (("14.0.0.70", "14.0.0.52"), ("14.0.0.52", "14.0.0.70")):
        made, last = frames(kind, src, dst, captured, states, sequence)
        used = max(used, last)
        for data in made:
            raw.send(data)
    with open(sequence_file, "w", encoding="ascii") as file:
        file.write(str(used))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sys.exit(main())
