#!/usr/bin/env python3
"""Looks at what a run beside ipsec-secgw left behind.

usage: interop-secgw-facts.py telemetry SOCKET                    prints ipsec-secgw's counters, as JSON
       interop-secgw-facts.py carried STATS-JSON TELEMETRY-JSON   every SA carried packets, as many at one end as at the
                                                                  other; - for no telemetry
       interop-secgw-facts.py ivs CAPTURE XFRM-FILE ADDRESS...    of the senders, exactly those at the ADDRESSes use the
                                                                  sequence number as IV (its low half is compared)

Exit status 1, and what was seen, when that is not so.
"""
import collections
import ipaddress
import json
import socket
import sys

import espcapture


def carried(stats, telemetry_file):
    with open(stats, encoding="utf-8") as file:
        sas = json.load(file)["sas"]
    peer = sas_of(telemetry_file) if telemetry_file != "-" else {}
    faults = 0 if sas else 1
    for sa in sas:
        print(f"  SA 0x{sa['spi']:x} {sa['dir']}: {sa['packets']} packets, {sa['bytes']} octets;"
              f" ipsec-secgw: {peer.get(sa['spi'])}")
        faults += sa["packets"] == 0
        if telemetry_file == "-":
            continue
        # What it sends, ipsec-secgw counts as sealed; only what it receives has the octets that espgw counts.
        theirs = peer[sa["spi"]]
        faults += theirs["count"] != sa["packets"] or theirs["errors"] != 0
        faults += sa["dir"] == "out" and theirs["bytes"] != sa["bytes"]
    return 1 if faults else 0


def sas_of(telemetry_file):
    """ipsec-secgw's counters of each SA, by SPI."""
    with open(telemetry_file, encoding="utf-8") as file:
        answers = json.load(file)
    return {spi: answers[f"/ipsec/sa/stats,{spi}"][f"SA_SPI_{spi}"] for spi in answers["/ipsec/sa/list"]}


def ivs(capture, xfrm, *addresses):
    sequential = {ipaddress.ip_address(a) for a in addresses}
    states = {(s.dst, s.spi) for s in espcapture.read_states(xfrm)}
    count = collections.defaultdict(collections.Counter)
    for frame in map(espcapture.Frame, espcapture.read_pcap(capture)):
        if frame.kind == "esp" and (frame.dst, frame.spi) in states:
            count[frame.src][int.from_bytes(frame.esp[12:16], "big") == frame.sequence] += 1
    faults = 0 if count else 1
    for source, n in count.items():
        print(f"  {source}: the IV is the sequence number in {n[True]} of {n.total()} packets")
        faults += n[source not in sequential] > (0 if source in sequential else n.total() // 1000)
    return 1 if faults else 0


def telemetry(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(5)
        connection.connect(path)
        connection.recv(65536)  # who it is

        def ask(command):
            connection.send(command.encode())
            return next(iter(json.loads(connection.recv(65536)).values()))

        answers = {command: ask(command) for command in ("/ipsec/sa/list", "/ethdev/stats,0", "/ethdev/stats,1")}
        answers["/ipsec/sa/list"] = answers["/ipsec/sa/list"] or []
        for spi in answers["/ipsec/sa/list"]:
            answers[f"/ipsec/sa/stats,{spi}"] = ask(f"/ipsec/sa/stats,{spi}")
    print(json.dumps(answers, indent=1))
    return 0


if __name__ == "__main__":
    actions = {"carried": carried, "ivs": ivs, "telemetry": telemetry}
    if len(sys.argv) < 3 or sys.argv[1] not in actions:
        sys.exit(__doc__)
    sys.exit(actions[sys.argv[1]](*sys.argv[2:]))
