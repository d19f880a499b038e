#!/usr/bin/env python3
"""Checks that both ends have counted the same in every SA, and so that nothing was lost or refused.

usage: interop-sas.py [--gso] LISTING JSON

LISTING is what `ip -s xfrm state` prints on Linux, JSON what espgw's --stats-json writes. Every SA of the listing must
have carried packets, and espgw must have counted as many. Octets too: Linux counts those behind the IP header in
transport mode, espgw those of the IP packet. With --gso Linux must have counted less in what it sent: once esp4_offload
is loaded, which an SA with the word offload brings about, it counts a long TCP packet before it is cut up.
Exit status 1 when that is not so.
"""
import json
import re
import sys

STATE = re.compile(
    r"^src (\S+) dst (\S+)\n\s+proto esp spi (0x[0-9a-f]+).*\n(?:\s.*\n)*?\s+lifetime current:\n\s+(\d+)\(bytes\), (\d+)\(packets\)",
    re.MULTILINE)


def faults(listing, sas, gso):
    ours = {(s["dst"], s["spi"]): s for s in sas}
    if not listing:
        yield "Linux lists no SA"
    for src, dst, spi, octets, packets in listing:
        spi, octets, packets = int(spi, 16), int(octets), int(packets)
        name, our = f"SA 0x{spi:x} {src} to {dst}", ours.get((dst, spi))
        if our is None:
            yield f"{name}: espgw does not list it"
            continue
        header = 40 if ":" in dst else 20
        print(f"  {name}: {packets} packets, {octets} octets behind the IP header; espgw: {our['packets']} packets, {our['bytes']} octets")
        if packets == 0:
            yield f"{name}: carried nothing"
        if gso and our["dir"] == "in":
            if packets >= our["packets"]:
                yield f"{name}: Linux has counted after it cut up"
            continue
        if packets != our["packets"]:
            yield f"{name}: the packets differ"
        elif octets + packets * header != our["bytes"]:
            yield f"{name}: the octets differ by more than the IP headers"


def main():
    gso, (listing, stats) = sys.argv[1] == "--gso", sys.argv[-2:]
    with open(listing, encoding="utf-8") as file:
        states = STATE.findall(file.read())
    with open(stats, encoding="utf-8") as file:
        sas = json.load(file)["sas"]
    found = list(faults(states, sas, gso))
    for fault in found:
        print(f"  {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != (4 if sys.argv[1:2] == ["--gso"] else 3):
        sys.exit(__doc__)
    sys.exit(main())
