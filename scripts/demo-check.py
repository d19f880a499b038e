#!/usr/bin/env python3
"""Compares what the demo's gateways carried with what was sent, and prints a table of it.

usage: demo-check.py progress FOLDER    prints "complete", or how far the gateways are
       demo-check.py report FOLDER      the table and the checks; exit status 1 if one fails

FOLDER holds what scripts/demo.sh leaves: came-to-a.pcap, came-to-b.pcap, esp.pcap (the wire), a.json, b.json.
"""
import collections
import json
import os
import sys

from espcapture import Frame, read_pcap

SENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testdata", "demo")
ALLOWED_CLEAR = {"arp"}
failures = 0


def verdict(good, text):
    global failures
    failures += not good
    print(f"  {'ok  ' if good else 'FAIL'}  {text}")


def progress(folder):
    expected = {side: len(read_pcap(f"{SENT}/host-{side}.pcap")) for side in "ab"}
    written = {}
    for side in "ab":
        with open(f"{folder}/{side}.json", encoding="utf-8") as file:
            written[side] = sum(p["tx_packets"] for p in json.load(file)["ports"] if p["side"] == "protected")
    complete = written["a"] == expected["b"] and written["b"] == expected["a"]
    print("complete" if complete else f"{written['a']} {written['b']}")


def compare(name, came, sent):
    """Bit for bit, in order; the first difference is named."""
    for number, (one, other) in enumerate(zip(came, sent), 1):
        if one != other:
            octets = [i for i, (x, y) in enumerate(zip(one, other)) if x != y]
            where = f"octet {octets[0]}" if octets else "its length"
            return verdict(False, f"{name}: frame {number} differs at {where} ({len(came)} of {len(sent)} frames came)")
    verdict(len(came) == len(sent), f"{name}: {len(came)} of {len(sent)} frames came, each bit for bit as it was sent")


def check_wire(wire, sent):
    """Nothing on the wire but ESP and what may pass in the clear; returns the wire's frames by sender."""
    counts, strangers = collections.Counter(), []
    by_sender = collections.defaultdict(list)
    for number, data in enumerate(wire, 1):
        frame = Frame(data)
        counts[frame.what] += 1
        by_sender[data[6:12]].append(frame)
        if frame.fault or frame.kind != "esp" and frame.what not in ALLOWED_CLEAR:
            strangers.append(f"frame {number} ({frame.fault or frame.what})")
    words = ", ".join(f"{n} {what}" for what, n in counts.most_common())
    verdict(not strangers, f"on the wire: {words}; in the clear nothing but ARP" if not strangers else f"on the wire: {', '.join(strangers[:5])}")
    # Text that would be recognised: what the transport headers carried, of 16 octets and more.
    texts = {p[-16:] for half in sent.values() for p in (Frame(f).payload for f in half) if len(p) >= 40 and len(set(p[-16:])) > 8}
    seen = sum(any(data[i : i + 16] in texts for i in range(len(data) - 15)) for data in wire)
    verdict(seen == 0 and len(texts) > 0, f"{seen} frames on the wire contain one of {len(texts)} pieces of plaintext")
    return by_sender


def table(sent, by_sender):
    """Frames and octets per direction and protocol, plain and on the wire."""
    print(f"  {'direction':<10} {'protocol':<12} {'frames':>7} {'octets':>9}   {'on the wire':<12} {'octets':>9}")
    for side, other in ("ab", "ba"):
        plain = [Frame(data) for data in sent[side]]
        wire = by_sender.get(sent[side][0][6:12], [])
        if len(wire) != len(plain):
            print(f"  {side.upper()} to {other.upper()}     {len(plain)} frames were sent, {len(wire)} were on the wire")
            continue
        rows = collections.defaultdict(lambda: [0, 0, 0])
        for one, carried in zip(plain, wire):
            name = f"{one.what.upper()}/IPv{one.version}" if one.version else one.what.upper()
            row = rows[name, "in the clear" if carried.kind != "esp" else "ESP"]
            row[0], row[1], row[2] = row[0] + 1, row[1] + len(one.data), row[2] + len(carried.data)
        for (name, how), (frames, octets, wire_octets) in sorted(rows.items()):
            print(f"  {side.upper()} to {other.upper():<5} {name:<12} {frames:>7} {octets:>9}   {how:<12} {wire_octets:>9}")


def check_counters(folder):
    for side in "ab":
        with open(f"{folder}/{side}.json", encoding="utf-8") as file:
            stats = json.load(file)
        t = stats["totals"]
        balanced = t["received"] + t["originated"] == t["transmitted"] + t["dropped"] + t["in_flight"] and t["in_flight"] == 0
        drops = {reason: n for reason, n in stats["drops"].items() if n}
        named = ", ".join(f"{reason} {n}" for reason, n in drops.items()) or "none"
        verdict(balanced and not drops, f"gateway {side.upper()}: received {t['received']}, transmitted {t['transmitted']}, dropped: {named}")
        for s in stats["sas"]:
            print(f"          SA 0x{s['spi']:x} {s['dir']:<3} {s['algorithm']} {s['key_bits']} bits: {s['packets']} packets, {s['bytes']} octets")


def report(folder):
    sent = {side: read_pcap(f"{SENT}/host-{side}.pcap") for side in "ab"}
    wire = read_pcap(f"{folder}/esp.pcap")
    print("\nWhat was carried:")
    by_sender = collections.defaultdict(list)
    for data in wire:
        by_sender[data[6:12]].append(Frame(data))
    table(sent, by_sender)
    print("\nWhat was checked:")
    compare("host B", read_pcap(f"{folder}/came-to-b.pcap"), sent["a"])
    compare("host A", read_pcap(f"{folder}/came-to-a.pcap"), sent["b"])
    check_wire(wire, sent)
    check_counters(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("progress", "report"):
        sys.exit(__doc__)
    sys.exit(progress(sys.argv[2]) if sys.argv[1] == "progress" else report(sys.argv[2]))
