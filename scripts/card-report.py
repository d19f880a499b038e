#!/usr/bin/env python3
"""Reads what nicmodel's cards saw (--report).

usage: card-report.py FILE CONDITION...   NAME=NUMBER, NAME>=NUMBER or NAME<=NUMBER; exit status 1, and a line for each
                                          that is not met. NAME is a counter, summed over the cards, or "breaches"
       card-report.py --row NAME FILE...  a line for a table: name, packets sent, sealed, in clear text by mistake,
                                          received, opened, breaches
"""
import json
import re
import sys


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def counters(report):
    sums = {"breaches": report["breaches"]}
    for card in report["cards"]:
        for name, value in card["counters"].items():
            sums[name] = sums.get(name, 0) + value
        for name, value in card["breaches"].items():
            sums[name] = sums.get(name, 0) + value
    return sums


def check(report, conditions):
    sums = counters(report)
    failed = 0
    for condition in conditions:
        name, sign, wanted = re.fullmatch(r"([a-z_-]+)(>=|<=|=)(\d+)", condition).groups()
        have = sums.get(name, 0)
        if not {"=": have == int(wanted), ">=": have >= int(wanted), "<=": have <= int(wanted)}[sign]:
            print(f"  {condition}: it is {have}")
            failed = 1
    if failed:
        for card in report["cards"]:
            print(f"  card {card['address']}: {card['breaches']}")
            for remark in card["remarks"] or []:
                print(f"    {remark}")
    return failed


def row(name, files):
    sums = {}
    for file in files:
        for key, value in counters(load(file)).items():
            sums[key] = sums.get(key, 0) + value
    names = ("tx_frames", "tx_sealed", "tx_clear", "rx_frames", "rx_opened", "breaches")
    print(f"{name:<22}" + "".join(f"{sums.get(n, 0):>12}" for n in names))
    return 0


def main():
    if sys.argv[1] == "--row":
        return row(sys.argv[2], sys.argv[3:])
    return check(load(sys.argv[1]), sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
