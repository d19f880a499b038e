#!/usr/bin/env python3
"""Checks what espgw's --stats-json says about engines and devices.

usage: lab-engines.py FILE CONDITION...
       lab-engines.py FILE --offload

A condition is WHERE=VALUE, WHERE>NUMBER, WHERE>=NUMBER or WHERE~TEXT (contains). WHERE is a path of names with dots
(emulation.eth4.leak_tx), spi.0x7.NAME for every SA of that SPI, or one name of an SA (engine) for all of them.
--offload prints, of the first unprotected port: egress SAs in the device, ingress SAs in it, and SAs that wait.
Exit status 1, and a line for each condition that is not met.
"""
import json
import re
import sys


def values(stats, where):
    """All values that a path names; none when there is no such thing."""
    words = where.split(".")
    if words[0] == "spi":
        return [sa[words[2]] for sa in stats["sas"] if sa["spi"] == int(words[1], 0)]
    if len(words) == 1:
        return [sa[where] for sa in stats["sas"]]
    place = stats
    for word in words:
        if not isinstance(place, dict) or word not in place:
            return []
        place = place[word]
    return [place]


def met(value, sign, wanted):
    if sign == ">":
        return value > int(wanted)
    if sign == ">=":
        return value >= int(wanted)
    if sign == "~":
        return wanted in str(value)
    return str(value) == wanted


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        stats = json.load(file)
    if sys.argv[2] == "--offload":
        row = stats["offload"][0]
        print(row["egress_used"], row["ingress_used"], row["waiting"])
        return 0
    failed = 0
    for condition in sys.argv[2:]:
        where, sign, wanted = re.fullmatch(r"([^=>~]+)(>=|[=>~])(.*)", condition).groups()
        found = values(stats, where)
        if not found or not all(met(value, sign, wanted) for value in found):
            print(f"  {condition}: it is {found or 'not there'}")
            failed = 1
    if failed:
        for sa in stats["sas"][:8]:
            print(f"  SA 0x{sa['spi']:x} {sa['dir']}: {sa['engine']}: {sa['engine_reason']}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
