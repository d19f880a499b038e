#!/usr/bin/env python3
"""Checks the counters that espgw's --stats-json wrote.

usage: lab-stats.py FILE [REASON=N | REASON>=N]...

They must balance, with nothing in flight, and every drop reason must be 0 but those that are named. Exit status 1,
and a line for each fault, when that is not so.
"""
import json
import sys


def faults(stats, expected):
    t = stats["totals"]
    if t["received"] + t["originated"] != t["transmitted"] + t["dropped"] + t["in_flight"]:
        yield f"does not balance: {t}"
    if t["in_flight"] != 0:
        yield f"{t['in_flight']} packets in flight at the end"
    if t["dropped"] != sum(stats["drops"].values()):
        yield f"dropped {t['dropped']} is not the sum of {stats['drops']}"
    for reason in expected:
        if reason not in stats["drops"]:
            yield f"no drop reason {reason}"
    for reason, n in stats["drops"].items():
        wanted, at_least = expected.get(reason, (0, False))
        if n != wanted and not (at_least and n > wanted):
            yield f"{reason} {n}, {wanted}{' or more' if at_least else ''} expected"


def main():
    expected = {}
    for word in sys.argv[2:]:
        reason, _, number = word.partition("=")
        expected[reason.removesuffix(">")] = (int(number), reason.endswith(">"))
    with open(sys.argv[1], encoding="utf-8") as file:
        stats = json.load(file)
    found = list(faults(stats, expected))
    for fault in found:
        print(f"  {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
