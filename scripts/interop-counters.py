#!/usr/bin/env python3
"""Says by how much counters have moved.

usage: interop-counters.py BEFORE AFTER [NAME=N]...

The files are copies of Linux's /proc/net/xfrm_stat, which may be followed by what `ip -s xfrm state` prints, or what
espgw's --stats-json writes. The counters that moved are printed with how much. Exit status 1 unless they are just those
that are named, by N each. Beside the errors there is "accepted": packets of the SAs that receive.
"""
import json
import re
import sys


def counters(path, receiver):
    """Errors by name, and accepted, of the SAs whose destination is the receiver's."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.startswith("{"):
        stats = json.loads(text)
        errors = dict(stats["drops"])
        # The SA's own direction, for an SA of the other one has counted what was sent.
        errors["accepted"] = sum(s["packets"] for s in stats["sas"] if s["dir"] == "in")
        return errors
    errors = {m[1]: int(m[2]) for m in re.finditer(r"^(Xfrm\w+)\s+(\d+)$", text, re.MULTILINE)}
    if not errors:
        raise ValueError(f"{path}: neither xfrm_stat nor JSON")
    listed = re.finditer(r"^src \S+ dst (\S+)\n(?:\s.*\n)*?\s+lifetime current:\n\s+\d+\(bytes\), (\d+)\(packets\)", text, re.MULTILINE)
    errors["accepted"] = sum(int(m[2]) for m in listed if m[1] in receiver)
    return errors


def main():
    guest = {"14.0.0.52", "2001:db8:14::52"}
    before, after = (counters(path, guest) for path in sys.argv[1:3])
    moved = {name: n - before.get(name, 0) for name, n in after.items() if n != before.get(name, 0)}
    wanted = {name: int(n) for name, _, n in (word.partition("=") for word in sys.argv[3:])}
    print(", ".join(f"{name} {n:+d}" for name, n in sorted(moved.items(), key=lambda m: (m[0] == "accepted", m[0]))) or "none")
    unknown = set(wanted) - set(after)
    if unknown:
        print(f"no such counter: {', '.join(sorted(unknown))}")
    return 0 if moved == wanted else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main())
