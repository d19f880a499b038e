#!/usr/bin/env python3
"""A test of check-esp.py and check-esp.sh: what must make them fail does, and what is right does not.

The packets are scapy's, from ipsec/esp/testdata. Exit status 1 if a checker judges wrongly.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

from espcapture import read_pcap

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "ipsec", "esp", "testdata", "scapy", "pad")


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def flipped(frames, octet):
    """The frames with one bit of the tenth changed."""
    changed = bytearray(frames[9])
    changed[octet] ^= 4
    return frames[:9] + [bytes(changed)] + frames[10:]


def cases(frames, plain):
    """Name, frames, the status due, and whether tshark can tell, too."""
    yield "good packets", frames, 0, True
    yield "a bit of the ciphertext changed", flipped(frames, 52), 1, True
    yield "a bit of the ICV changed", flipped(frames, -1), 1, True
    yield "a bit of the IV changed", flipped(frames, 45), 1, True
    yield "a packet twice", frames + frames[9:10], 1, False
    yield "a packet in the clear", frames[:5] + plain[:1] + frames[5:], 1, False
    yield "no packet", [], 1, True


def states(folder, right):
    with open(DATA + ".json", encoding="utf-8") as file:
        data = json.load(file)
    s = next(s for s in data["sas"] if s["name"] == data["tests"][0]["sa"])
    key = s["key"] + s["salt"]
    if not right:
        key = f"{int(key[:2], 16) ^ 1:02x}" + key[2:]
    path = os.path.join(folder, "right.xfrm" if right else "wrong.xfrm")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"ip xfrm state add src {s['src']} dst {s['dst']} proto esp spi {s['spi']} \\\n")
        file.write(f"    mode transport aead 'rfc4106(gcm(aes))' 0x{key} {8 * s['icv_len']}\n")
    return path


def status_of(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode


def main():
    wrong = checked = 0
    frames, plain = read_pcap(DATA + "-esp.pcap"), read_pcap(DATA + "-plain.pcap")
    with tempfile.TemporaryDirectory() as folder:
        capture, keys, other = os.path.join(folder, "capture.pcap"), states(folder, True), states(folder, False)
        runs = [(name, made, keys, due, shark) for name, made, due, shark in cases(frames, plain)]
        runs.append(("the wrong key", frames, other, 1, True))
        for name, made, xfrm, due, shark in runs:
            write_pcap(capture, made)
            got = {"check-esp.py": status_of(f"{HERE}/check-esp.py", "--xfrm", xfrm, capture)}
            if shark:
                got["check-esp.sh"] = status_of(f"{HERE}/check-esp.sh", capture, xfrm)
            for program, status in got.items():
                checked += 1
                if status != due:
                    wrong += 1
                    print(f"check-esp-test: {program}, {name}: status {status}, {due} was due")
        with open(capture, "wb") as file:
            file.write(b"no capture at all, but long enough to have a header")
        checked += 1
        if status_of(f"{HERE}/check-esp.py", "--xfrm", keys, capture) != 2:
            wrong += 1
            print("check-esp-test: a file that is no capture was not refused")
    print(f"check-esp-test: {checked - wrong} of {checked} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
