#!/usr/bin/env python3
"""Prints the table of bench-inline.sh.

usage: bench-inline-table.py RESULTS-JSONL

ns are those of CPU time a packet, the median of the rounds. A ratio is taken in each round, between neighbours in time,
and given as median (10th to 90th percentile); that of inline is without the model's own time.
"""
import collections
import json
import statistics
import sys


def spread(values):
    """Median and the 10th and 90th percentile."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]


def ratio(upper, lower, less):
    both = upper.keys() & lower.keys()
    median, low, high = spread([(upper[r] - less) / lower[r] for r in both])
    return f"{median:.2f} ({low:.2f} to {high:.2f})"


def main():
    cost, model = collections.defaultdict(dict), {}  # (direction, size, name): {round: ns}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            m = json.loads(line)
            if m["name"] == "model":
                model[m["direction"], m["size"]] = m["ns"]
            elif m["packets"]:
                cost[m["direction"], m["size"], m["name"]][m["round"]] = m["cpu"] / m["packets"] * 1e9
    print("CPU time of one lcore a packet. inline: an emulated NIC with crypto=off, an idle model that checks every packet's")
    print("metadata, framing and lengths and encrypts each 1,000th; its own time is in the column model, and not in the ratio.\n")
    print(f"{'':9} {'octets':>6} {'forward':>10} {'inline':>10} {'model':>10} {'go':>10}   {'inline/forward':>20} {'go/inline':>20}")
    for direction, size in dict.fromkeys(key[:2] for key in cost):
        of = {name: cost.get((direction, size, name)) for name in ("forward", "inline", "go")}
        if not all(of.values()) or (direction, size) not in model:
            print(f"{direction:9} {size:6}  not measured")
            continue
        less = model[direction, size]
        ns = [f"{n:.0f} ns" for n in (*(statistics.median(v.values()) for v in of.values()), less)]
        print(f"{direction:9} {size:6} {ns[0]:>10} {ns[1]:>10} {ns[3]:>10} {ns[2]:>10}   {ratio(of['inline'], of['forward'], less):>20}"
              f" {ratio(of['go'], of['inline'], 0):>20}")


if __name__ == "__main__":
    sys.exit(main())
