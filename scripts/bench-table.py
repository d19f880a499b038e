#!/usr/bin/env python3
"""Makes the table of a benchmark run.

usage: bench-table.py RESULTS.jsonl OUT.json ESPGW

RESULTS.jsonl has one measurement a line; ESPGW is the program, asked for its version. The table goes to stdout, all
numbers and the machine to OUT.json.

Mpps are packets by CPU time of the process, so that a moment in which the kernel gave the CPU to somebody else does not
count (and what other threads than the lcore take counts against the program). `CPU` is the share of time that it had:
where it is far below 100 % the machine was busy, and caches were shared. The ratio is the median of the rounds' own
ratios, since a machine's speed may change between rounds. In brackets: the middle half of the rounds (quartiles). The
JSON has minimum and maximum too.
"""

import json
import os
import platform
import statistics
import subprocess
import sys

FLAGS = ("aes", "pclmulqdq", "avx2", "avx512f", "vaes", "vpclmulqdq")


def output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def package(pattern: str) -> str:
    """The version of the installed Debian package of which the name matches."""
    listed = output("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\\n", pattern).splitlines()
    versions = [line.split()[2] for line in listed if line.startswith("installed") and not line.split()[1].endswith("-dev")]
    return versions[0] if versions else "not known"


def processor() -> tuple:
    """Name and feature flags of the CPU."""
    about = {}
    with open("/proc/cpuinfo", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            about.setdefault(name.strip(), value.strip())
    name = f"{about.get('model name', 'not known')} (family {about.get('cpu family', '?')}, model {about.get('model', '?')})"
    return name, about.get("flags", "").split()


def machine(espgw: str) -> dict:
    model, flags = processor()
    return {
        "cpu": model,
        "cpus": os.cpu_count(),
        "flags": {flag: flag in flags for flag in FLAGS},
        "kernel": platform.release(),
        "espgw": output(espgw, "--version").splitlines()[:3],
        "ipsec-mb": package("libipsec-mb*"),
        "openssl": package("libssl3*"),
        "load": os.getloadavg(),
    }


class Series:
    """The measurements of one program in one cell (direction and size), by round."""

    def __init__(self, size: int):
        self.size = size
        self.mpps, self.wall, self.share = {}, [], []

    def add(self, r: dict) -> None:
        self.mpps[r["round"]] = r["packets"] / r["cpu"] / 1e6
        self.wall.append(r["packets"] / r["wall"] / 1e6)
        self.share.append(r["cpu"] / r["wall"])

    @property
    def median(self) -> float:
        return statistics.median(self.mpps.values())

    def ratio(self, other: "Series") -> dict:
        """self ÷ other, of the rounds' own ratios."""
        ratios = [rate / other.mpps[r] for r, rate in self.mpps.items() if r in other.mpps]
        return spread(ratios) if ratios else None

    def record(self) -> dict:
        return {
            "mpps": spread(list(self.mpps.values())),
            "gbps": self.median * self.size * 8 / 1000,
            "wall_mpps": spread(self.wall),
            "cpu_share": statistics.median(self.share),
            "rounds": len(self.mpps),
        }


def spread(values: list) -> dict:
    quarters = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return {"median": statistics.median(values), "q1": quarters[0], "q3": quarters[2], "min": min(values), "max": max(values)}


def read(path: str) -> dict:
    cells = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            r = json.loads(line)
            cell = cells.setdefault((r["direction"], r["size"]), {})
            cell.setdefault(r["name"], Series(r["size"])).add(r)
    return cells


def between(s: dict, digits: int) -> str:
    return f"{s['median']:.{digits}f} ({s['q1']:.{digits}f}–{s['q3']:.{digits}f})"


def rows(cells: dict) -> list:
    order = {"out": 0, "in": 1, "forward": 2}
    found = []
    for (direction, size), cell in sorted(cells.items(), key=lambda item: (order[item[0][0]], item[0][1])):
        espgw = cell.get("espgw")
        rivals = [(name, series) for name, series in cell.items() if name != "espgw"]
        rivals.sort(key=lambda item: -item[1].median)
        ordered = ([("espgw", espgw)] if espgw else []) + rivals
        for name, series in ordered:
            ratio = espgw.ratio(series) if espgw and name != "espgw" else None
            found.append({
                "direction": direction, "size": size, "program": name, **series.record(),
                "espgw_ratio": ratio, "fastest_rival": bool(rivals) and name == rivals[0][0],
            })
    return found


def print_table(about: dict, found: list) -> None:
    yes = [flag for flag, there in about["flags"].items() if there]
    no = [flag for flag, there in about["flags"].items() if not there]
    print(f"machine: {about['cpu']}; {about['cpus']} CPUs; has {' '.join(yes)}; lacks {' '.join(no) or 'none of these'}")
    print(f"versions: {', '.join(about['espgw'])}; ipsec-mb {about['ipsec-mb']}; OpenSSL {about['openssl']}; Linux {about['kernel']}")
    rounds = max((row["rounds"] for row in found), default=0)
    print("AES-128-GCM, one lcore, net_pcap (infinite_rx) to net_null; the ports' copies are in every number.")
    print(f"Mpps by CPU time of the process, median (quartiles of {rounds} rounds); Gbit/s of the plain frame; * the fastest ipsec-secgw\n")
    print(f"{'dir':8}{'octets':>6}  {'program':42}{'Mpps':>20}{'Gbit/s':>8}{'CPU':>6}  {'espgw ÷ it':>18}")
    last = None
    for row in found:
        cell = (row["direction"], row["size"])
        if last and last != cell:
            print()
        head = f"{row['direction']:8}{row['size']:>6}" if last != cell else " " * 14
        last = cell
        star = "*" if row["fastest_rival"] and row["direction"] != "forward" else " "
        ratio = between(row["espgw_ratio"], 2) if row["espgw_ratio"] else ""
        print(f"{head}  {row['program'] + star:42}{between(row['mpps'], 2):>20}{row['gbps']:>8.2f}{row['cpu_share']:>6.0%}  {ratio:>18}")


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    about, found = machine(sys.argv[3]), rows(read(sys.argv[1]))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"machine": about, "rows": found}, file, indent=1)
        file.write("\n")
    print_table(about, found)


main()
