#!/usr/bin/env python3
"""Plays an attacker on the wire between ipsec-secgw and espgw, with frames of a capture taken there.

usage: interop-secgw-attack.py espgw|secgw|replay INTERFACE CAPTURE XFRM-FILE

The SAs are those of the file, for each family first the one towards espgw and then the one back.

espgw   As if from ipsec-secgw, five each: the oldest packets again; packets with a bit changed; plain UDP that a policy
        protects; ESP of unknown SPIs; packets that espgw sent, reflected; packets sealed with the SA's key but with
        wrong padding; sealed dummies. And the newest packet once more.
secgw   As if from espgw: its oldest hundred packets again, and five each: a bit changed, plain UDP, unknown SPIs.
replay  As if from espgw: every packet again.
"""
import socket
import struct
import sys
import time

import espcapture

BURST, PAUSE = 16, 0.02  # so many frames, then so many seconds: nothing is to be lost on a busy machine
COUNT, OLD = 5, 100
BEYOND = 1000  # what is sealed here has sequence numbers so far above the newest: well inside of the receiver's window


def esp_at(frame):
    return len(frame.data) - len(frame.esp)


def with_esp(frame, esp):
    """The frame with other ESP octets, as many as it had."""
    return frame.data[: esp_at(frame)] + esp


def with_payload(frame, proto, payload):
    """The frame with another IP payload; its headers are mended."""
    head = bytearray(frame.data[: esp_at(frame)])
    if frame.version == 4:
        head[16:18], head[23], head[24:26] = struct.pack("!H", 20 + len(payload)), proto, b"\0\0"
        head[24:26] = struct.pack("!H", espcapture.checksum(bytes(head[14:34])))
    else:
        head[18:20], head[20] = struct.pack("!H", len(payload)), proto
    return bytes(head) + payload


def plain_udp(frame, number):
    data = b"in the clear %d" % number
    payload = struct.pack("!HHHH", 40000, 7, 8 + len(data), 0) + data
    pseudo = frame.src.packed + frame.dst.packed + struct.pack("!II", len(payload), 17)
    payload = payload[:6] + struct.pack("!H", espcapture.checksum(pseudo + payload)) + payload[8:]
    return with_payload(frame, 17, payload)


def changed(frame, number):
    """A sequence number that is yet to come, and a bit of the ciphertext changed."""
    esp = bytearray(frame.esp)
    esp[4:8] = struct.pack("!I", frame.sequence + 10 + number)
    esp[-20] ^= 1
    return with_esp(frame, bytes(esp))


def sealed(frame, state, number, text):
    """ESP with a right ICV around text, which is to end in pad length and next header."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    head = struct.pack("!II", state.spi, frame.sequence + BEYOND + number)
    iv = b"attack" + struct.pack("!H", number)
    return with_payload(frame, 50, head + iv + AESGCM(state.key).encrypt(state.salt + iv, text, head))


def towards_espgw(sent, answers, state):
    newest = max(sent, key=lambda f: f.sequence)
    there = newest.data[:12]
    yield from (f.data for f in sent[:COUNT])
    yield newest.data
    yield from (there + f.data[12:] for f in answers[-COUNT:])
    for n in range(COUNT):
        yield changed(newest, n)
        yield plain_udp(newest, n)
        yield with_esp(newest, struct.pack("!I", 0xBAD00 + n) + newest.esp[4:])
        yield sealed(newest, state, n, b"padded wrongly" + b"\1\2\3\3\4\x11")
        yield sealed(newest, state, COUNT + n, bytes(16) + b"\1\2\2\x3b")


def towards_secgw(sent):
    newest = max(sent, key=lambda f: f.sequence)
    yield from (f.data for f in sent[:OLD])
    for n in range(COUNT):
        yield changed(newest, n)
        yield plain_udp(newest, n)
        yield with_esp(newest, struct.pack("!I", 0xBAD00 + n) + newest.esp[4:])


def main(target, interface, capture, xfrm):
    frames = [f for f in map(espcapture.Frame, espcapture.read_pcap(capture)) if f.kind == "esp"]
    states = espcapture.read_states(xfrm)
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind((interface, 0))
    number = 0
    for towards, back in zip(states[::2], states[1::2]):
        sent = [f for f in frames if f.spi == towards.spi]
        answers = [f for f in frames if f.spi == back.spi]
        if target == "espgw":
            attack = towards_espgw(sent, answers, towards)
        else:
            attack = towards_secgw(answers) if target == "secgw" else (f.data for f in answers)
        for data in attack:
            raw.send(data)
            number += 1
            if number % BURST == 0:
                time.sleep(PAUSE)
    print(f"{number} frames")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in ("espgw", "secgw", "replay"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
