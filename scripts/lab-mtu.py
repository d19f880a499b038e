#!/usr/bin/env python3
"""What the lab's case mtu tries and looks at where ping and iperf3 do not do.

usage: lab-mtu.py learn ADDRESS MTU      exit status 1 unless a UDP socket that sends 1500 octets of IP packet with DF
                                         hears EMSGSIZE and that MTU, and what fits it is then answered
       lab-mtu.py blind ADDRESS COUNT    sends COUNT times 1500 octets of IP packet without DF; exit status 1 if
                                         anything is heard of them
       lab-mtu.py facts PREFIX           what a run has shown, a line each: PREFIX-A.json and PREFIX-B.json (counters),
                                         PREFIX-syn-A.pcap, ... (what came to the hosts), PREFIX-tcp-*.json (iperf3's)
       lab-mtu.py attack INTERFACE CAPTURE ignored|believed
                                         ICMP errors about A's ESP, with frames of a capture of the wire
"""
import errno
import glob
import json
import os
import socket
import struct
import sys
import time

from espcapture import Frame, checksum, read_pcap

# linux/in.h, linux/in6.h: socket options that the socket module of Python 3.11 does not name.
IP_MTU_DISCOVER, IP_MTU, IPV6_MTU_DISCOVER, IPV6_MTU, PMTUDISC_DONT, PMTUDISC_DO = 10, 14, 23, 24, 0, 2
LINK_MTU, ECHO_PORT = 1500, 7
MAC_A, MAC_B = bytes.fromhex("020000000052"), bytes.fromhex("020000000070")
FAR_AHEAD = 1 << 31  # sequence numbers that nobody has sent
FLOOD = 5


class Client:
    """A UDP socket towards the echo server, that does or does not set DF; headers are IP's and UDP's octets."""

    def __init__(self, address, discover):
        self.six = ":" in address
        self.headers = 48 if self.six else 28
        self.socket = socket.socket(socket.AF_INET6 if self.six else socket.AF_INET, socket.SOCK_DGRAM)
        self.level = socket.IPPROTO_IPV6 if self.six else socket.IPPROTO_IP
        self.socket.setsockopt(self.level, IPV6_MTU_DISCOVER if self.six else IP_MTU_DISCOVER, discover)
        self.socket.settimeout(3)
        self.socket.connect((address, ECHO_PORT))

    def mtu(self):
        return self.socket.getsockopt(self.level, IPV6_MTU if self.six else IP_MTU)

    def ask(self, packet):
        """Sends an IP packet of that many octets: "answered", "silence", or the name of the error that came back."""
        data = bytes(packet - self.headers)
        try:
            self.socket.send(data)
            return "answered" if self.socket.recv(65536) == data else "another answer"
        except TimeoutError:
            return "silence"
        except OSError as error:
            return errno.errorcode.get(error.errno, str(error))


def learn(address, mtu):
    client = Client(address, PMTUDISC_DO)
    steps = [("before, MTU", client.mtu(), LINK_MTU), (f"{LINK_MTU} octets", client.ask(LINK_MTU), "EMSGSIZE")]
    steps.append(("then, MTU", client.mtu(), mtu))
    steps.append((f"{mtu + 1} octets", client.ask(mtu + 1), "EMSGSIZE"))
    steps.append((f"{mtu} octets", client.ask(mtu), "answered"))
    for what, seen, wanted in steps:
        print(f"  {what}: {seen}{'' if seen == wanted else f', {wanted} expected'}")
    return int(any(seen != wanted for _, seen, wanted in steps))


def blind(address, count):
    client = Client(address, PMTUDISC_DONT)
    for _ in range(count):
        client.socket.send(bytes(LINK_MTU - client.headers))
    time.sleep(0.3)
    client.socket.setblocking(False)
    try:
        print(f"  {len(client.socket.recv(65536))} octets came back")
        return 1
    except BlockingIOError:
        print(f"  {count} datagrams sent, nothing heard; MTU still {client.mtu()}")
        return int(client.mtu() != LINK_MTU)


def segment_size(tcp):
    """What the options of a TCP header announce; 0 if nothing."""
    options = tcp[20 : (tcp[12] >> 4) * 4]
    while options and options[0] != 0:
        if options[0] == 1:
            options = options[1:]
        elif options[:2] == b"\x02\x04":
            return int.from_bytes(options[2:4], "big")
        else:
            options = options[max(options[1], 2) :]
    return 0


def segments(capture, version):
    """The segment sizes that the SYNs of a capture announce."""
    frames = [f for f in map(Frame, read_pcap(capture)) if f.what == "tcp" and f.version == version]
    return ",".join(map(str, sorted({segment_size(f.payload) for f in frames if f.payload[13] & 2}))) or "none"


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def facts(prefix):
    gateways = [read_json(f"{prefix}-{side}.json") for side in "AB"]
    print("out_too_big", *(g["drops"]["out_too_big"] for g in gateways))
    print("originated", *(g["totals"]["originated"] for g in gateways))
    out = {4: {}, 6: {}}
    for state in gateways[0]["sas"]:
        if state["dir"] == "out":
            out[6 if ":" in state["dst"] else 4] = state
    print("path_mtu", *(state["path_mtu"] for state in out.values()))
    print("inner_mtu", *(state["mtu"] for state in out.values()))
    for version in (4, 6):
        if os.path.exists(f"{prefix}-syn-A.pcap"):
            print(f"mss{version}", *(segments(f"{prefix}-syn-{side}.pcap", version) for side in "AB"))
    measured = [read_json(path).get("end", {}) for path in sorted(glob.glob(glob.escape(prefix) + "-tcp-*.json"))]
    print("mbits", *(round(end.get("sum_received", {}).get("bits_per_second", 0) / 1e6) for end in measured))
    return 0


def icmp_error(quoted, kind, code, mtu, spoil=0):
    """The frame of an ICMP error to A that says it comes from B: about quoted, an IP packet of A."""
    src, dst = (socket.inet_pton(socket.AF_INET, a) for a in ("14.0.0.70", "14.0.0.52"))
    body = struct.pack("!BBHI", kind, code, 0, mtu) + quoted[:28]
    body = body[:2] + struct.pack("!H", checksum(body) ^ spoil) + body[4:]
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0, 64, 1, 0) + src + dst
    return MAC_A + MAC_B + b"\x08\x00" + head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def icmp6_error(quoted, kind, code, mtu, spoil=0):
    src, dst = (socket.inet_pton(socket.AF_INET6, "2001:db8:14::" + n) for n in ("70", "52"))
    body = struct.pack("!BBHI", kind, code, 0, mtu) + quoted[:48]
    total = checksum(src + dst + struct.pack("!II", len(body), 58) + body)
    body = body[:2] + struct.pack("!H", total ^ spoil) + body[4:]
    return MAC_A + MAC_B + b"\x86\xdd" + struct.pack("!IHBB", 6 << 28, len(body), 58, 64) + src + dst + body


def attack(capture, believed):
    """The frames. Of each family: in_path_mtu 1 if believed, otherwise in_esp_error 8, in_policy_mismatch 5 and
    in_malformed 1."""
    sent = [f for f in map(Frame, read_pcap(capture)) if f.kind == "esp" and f.data[6:12] == MAC_A]
    families = ((4, 20, icmp_error, (3, 4), (3, 3)), (6, 40, icmp6_error, (2, 0), (1, 4)))
    for version, head, error, too_big, unreachable in families:
        newest = max((f for f in sent if f.version == version), key=lambda f: f.sequence)
        packet = newest.data[14:]

        def quote(spi, sequence, packet=packet, head=head):
            return packet[:head] + struct.pack("!II", spi, sequence & 0xFFFFFFFF) + packet[head + 8 :]

        print(f"  IPv{version}: the newest packet has SPI 0x{newest.spi:x}, sequence number {newest.sequence}")
        if believed:
            yield error(packet, *too_big, 68)
            continue
        for number in range(FLOOD):
            yield error(quote(newest.spi, newest.sequence + FAR_AHEAD + number), *too_big, 68)
            yield error(quote(0xBAD00 + number, newest.sequence), *too_big, 68)
        yield error(quote(newest.spi, 0), *too_big, 68)
        yield error(packet, *too_big, 0)
        yield error(packet, *unreachable, 0)
        yield error(packet, *too_big, 68, spoil=1)


def send(interface, frames):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind((interface, 0))
        for frame in frames:
            raw.send(frame)
    return 0


def main(words):
    match words:
        case ["learn", address, mtu]:
            return learn(address, int(mtu))
        case ["blind", address, count]:
            return blind(address, int(count))
        case ["facts", prefix]:
            return facts(prefix)
        case ["attack", interface, capture, ("ignored" | "believed") as how]:
            return send(interface, attack(capture, how == "believed"))
    return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
