#!/usr/bin/env python3
"""Checks that what was measured was right.

usage: bench-compare.py A.pcap B.pcap           the same frames, in the same order, but for their MAC addresses
       bench-compare.py --counters FILE DIR     espgw's --stats-json: nothing dropped, and all of it ESP (out, in)

Exit status 1, with a line on stderr, where it was not.
"""

import json
import struct
import sys


ADDRESSES = 12  # octets; ipsec-secgw is a router and writes its own


def frames(path: str) -> list:
    """The frames of a pcap, each from its EtherType on."""
    with open(path, "rb") as file:
        octets = file.read()
    order = "<" if octets[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    found, at = [], 24
    while at < len(octets):
        length = struct.unpack(f"{order}I", octets[at + 8 : at + 12])[0]
        found.append(octets[at + 16 + ADDRESSES : at + 16 + length])
        at += 16 + length
    return found


def counters(path: str, direction: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            stats = json.load(file)
    except FileNotFoundError:
        return "it left no counters"
    totals, protected = stats["totals"], sum(state["packets"] for state in stats["sas"])
    if totals["received"] == 0:
        return "it received nothing"
    if totals["dropped"] != 0:
        drops = {reason: n for reason, n in stats["drops"].items() if n}
        return f"it dropped {totals['dropped']} packets: {drops}"
    wanted = 0 if direction == "forward" else totals["received"]
    if protected != wanted:
        return f"{protected} of {wanted} packets went through an SA"
    return ""


def main() -> int:
    if len(sys.argv) == 4 and sys.argv[1] == "--counters":
        wrong = counters(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 3:
        a, b = frames(sys.argv[1]), frames(sys.argv[2])
        wrong = "" if a == b else f"{sys.argv[1]} ({len(a)} frames) and {sys.argv[2]} ({len(b)} frames) differ"
    else:
        sys.exit(__doc__)
    if wrong:
        print(f"bench: espgw: {wrong}" if sys.argv[1] == "--counters" else f"bench: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
