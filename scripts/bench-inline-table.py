#!/usr/bin/env python3
"""Prints the table of bench-inline.sh.

usage: bench-inline-table.py RESULTS-JSONL

ns are those of CPU time a packet, the median of the rounds. A ratio is taken in each round, between neighbours in time,
and given as median (10th to 90th percentile).
"""
import collections
import json
import statistics
import sys


def spread(values):
    """Median and the 10th and 90th percentile."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]


def main():
    cost = collections.defaultdict(dict)  # (direction, size, name): {round: ns}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            m = json.loads(line)
            if m["packets"]:
                cost[m["direction"], m["size"], m["name"]][m["round"]] = m["cpu"] / m["packets"] * 1e9
    print("CPU time of one lcore a packet. inline: an emulated NIC with crypto=off (a model that is idle: it checks every")
    print("packet's metadata, framing and lengths, and encrypts each 1,000th).\n")
    print(f"{'direction':9} {'octets':>6}  {'forward':>10} {'inline':>10} {'go':>10}   {'inline/forward':>22} {'go/inline':>22}")
    for direction, size in dict.fromkeys(key[:2] for key in cost):
        of = {name: cost[direction, size, name] for name in ("forward", "inline", "go")}
        row = [f"{statistics.median(of[name].values()):7.0f} ns" for name in of]
        ratios = []
        for upper, lower in (("inline", "forward"), ("go", "inline")):
            both = of[upper].keys() & of[lower].keys()
            median, low, high = spread([of[upper][r] / of[lower][r] for r in both])
            ratios.append(f"{median:.2f} ({low:.2f} to {high:.2f})")
        print(f"{direction:9} {size:6}  {row[0]:>10} {row[1]:>10} {row[2]:>10}   {ratios[0]:>22} {ratios[1]:>22}")


if __name__ == "__main__":
    sys.exit(main())
