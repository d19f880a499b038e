#!/usr/bin/env python3
"""Sends or receives the lab's VLAN-tagged frames, through raw sockets.

usage: lab-frames.py send INTERFACE A|B        from that host
       lab-frames.py receive INTERFACE A|B     what that host sends; exit status 1 unless each came once, bit for bit

The kernel takes the outer tag out of a received frame and reports it beside the frame (packet(7), PACKET_AUXDATA);
it is put back here. Only tags of type 0x8100 are sent: DPDK 22.11's net_af_packet puts tags back as such, whatever
their type was. A third tag is more than espgw reads, so that frame must not arrive.
"""
import ipaddress
import socket
import struct
import sys
import time

from espcapture import checksum

ETH_P_ALL, SOL_PACKET, PACKET_AUXDATA, VLAN_VALID, VLAN_TPID_VALID = 3, 263, 8, 0x10, 0x40
MACS = {"A": bytes.fromhex("020000000052"), "B": bytes.fromhex("020000000070")}
HOSTS = {"A": "52", "B": "70"}


def message(proto, src, dst, number):
    """A TCP, UDP or ICMP message that tells the frames apart and asks for no answer."""
    data = b"espgw lab frame %d " % number * 9
    if proto == 17:
        head, at = struct.pack("!HHHH", 40000, 9, 8 + len(data), 0), 6
    elif proto == 6:  # with RST: nobody answers that
        head, at = struct.pack("!HHIIBBHHH", 40000, 9, number, 0, 5 << 4, 4, 0, 0, 0), 16
    else:  # an echo reply that nobody asked for
        head, at = struct.pack("!BBHHH", 0, 0, 0, 40000, number), 2
    pseudo = b"" if proto == 1 else src.packed + dst.packed + struct.pack("!II", len(head) + len(data), proto)
    total = checksum(pseudo + head + data)
    return head[:at] + struct.pack("!H", total) + head[at + 2 :] + data


def ip(version, src, dst, proto, payload):
    if version == 6:
        return struct.pack("!IHBB", 6 << 28, len(payload), proto, 64) + src.packed + dst.packed + payload
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 7, 0, 64, proto, 0) + src.packed + dst.packed
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def frame(sender, tags, version, proto, number):
    other = "AB".replace(sender, "")
    prefix = "14.0.0." if version == 4 else "2001:db8:14::"
    src, dst = (ipaddress.ip_address(prefix + HOSTS[h]) for h in (sender, other))
    tagged = b"".join(struct.pack("!HH", 0x8100, tci) for tci in tags)
    ethertype = b"\x08\x00" if version == 4 else b"\x86\xdd"
    return MACS[other] + MACS[sender] + tagged + ethertype + ip(version, src, dst, proto, message(proto, src, dst, number))


def frames(sender):
    """What is sent, in order, and whether it is to arrive."""
    one, priority, two, three = (5,), (5 << 13,), (100, 3 << 13 | 4000), (1, 2, 3)
    kinds = [(one, 4, 17), (one, 4, 6), (one, 4, 1), (one, 6, 17), (one, 6, 6), (priority, 4, 1), (two, 4, 17), (two, 4, 6), (two, 6, 17)]
    made = [(frame(sender, *kind, number), True) for number, kind in enumerate(kinds * 3, 1)]
    return [(frame(sender, three, 4, 17, 99), False)] + made


def receive_one(raw):
    """One frame with its outer tag, or None when it is an outgoing one."""
    data, extra, _, address = raw.recvmsg(65536, 256)
    if address[2] == socket.PACKET_OUTGOING:
        return None
    for level, kind, value in extra:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", value[:20])
            if status & VLAN_VALID:
                tpid = tpid if status & VLAN_TPID_VALID else 0x8100
                data = data[:12] + struct.pack("!HH", tpid, tci) + data[12:]
    return data


def receive(interface, sender):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    raw.bind((interface, ETH_P_ALL))
    raw.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    print("listening", flush=True)
    wanted = [data for data, arrives in frames(sender) if arrives]
    came, deadline = [], time.monotonic() + 10
    while len(came) < len(wanted) and time.monotonic() < deadline:
        raw.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            data = receive_one(raw)
        except TimeoutError:
            break
        if data and b"espgw lab frame" in data:
            came.append(data)
    if came == wanted:
        return 0
    print(f"{len(came)} of {len(wanted)} tagged frames came")
    for number, (one, other) in enumerate(zip(came, wanted), 1):
        if one != other:
            print(f"frame {number}: {one.hex()}\n  sent as {other.hex()}")
            break
    return 1


def send(interface, sender):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind((interface, 0))
    for data, _ in frames(sender):
        raw.send(data)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("send", "receive") or sys.argv[3] not in MACS:
        sys.exit(__doc__)
    sys.exit((send if sys.argv[1] == "send" else receive)(*sys.argv[2:]))
