#!/usr/bin/env python3
"""Writes the vectors of mss_test.go, toobig_test.go and icmperror_test.go: ipsec/packet/testdata/gen-mtu.py > mtu.json

All packets are scapy's (python3-scapy), their checksums too, so that nothing here comes from the code under test.
Large packets end in a pattern, octet i being i mod 251, of which only the length is written.
"""
import json

from scapy.all import ESP, ICMP, IP, TCP, UDP, Dot1Q, Ether, Raw
from scapy.layers.inet import IPOption_NOP, IPOption_Router_Alert
from scapy.layers.inet6 import (ICMPv6DestUnreach, ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6ParamProblem,
                                ICMPv6TimeExceeded, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                IPv6ExtHdrRouting)

LINK = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
V4 = {"src": "192.0.2.1", "dst": "198.51.100.2"}
V6 = {"src": "2001:db8:a::1", "dst": "2001:db8:b::2"}
NOP = ("NOP", None)
vectors = {"mss": [], "too_big": [], "about_esp": []}


def pattern(n):
    return bytes(i % 251 for i in range(n))


def mss(name, ip, before, clamp, after, flags="S", payload=b"", link=LINK):
    """before and after are the TCP options."""
    frames = []
    for options in before, after:
        tcp = TCP(sport=40000, dport=443, seq=0x01020304, flags=flags, window=64240, options=options)
        frames.append(bytes(link / ip / tcp / payload).hex())
    vectors["mss"].append({"name": name, "mss": clamp, "before": frames[0], "after": frames[1]})


def too_big(name, ip, payload, mtu, said, link=LINK):
    """said is the MTU in the answer."""
    frame, l3 = bytes(link / ip / Raw(pattern(payload))), len(bytes(link))
    back = link.copy()
    back.dst, back.src = link.src, link.dst
    if ip.version == 4:
        quote, head = frame[l3:][:576 - 28], 28
        answer = IP(src=ip.dst, dst=ip.src, tos=0xC0, id=0, ttl=255) / ICMP(type=3, code=4, nexthopmtu=said)
    else:
        quote, head = frame[l3:][:1280 - 48], 48
        answer = IPv6(src=ip.dst, dst=ip.src, tc=0xC0, hlim=255) / ICMPv6PacketTooBig(mtu=said)
    answer = bytes(back / answer / Raw(quote))
    assert answer[l3 + head:] == quote and frame.endswith(pattern(payload))
    headers = frame[:len(frame) - payload]
    vectors["too_big"].append({"name": name, "headers": headers.hex(), "pattern": payload, "mtu": mtu,
                               "answer": answer[:l3 + head].hex(), "quoted": len(quote)})


def about(name, packet, kind, **quoted):
    vectors["about_esp"].append({"name": name, "frame": bytes(packet).hex(), "kind": kind, "quoted": quoted})


def gen_mss():
    ip4, ip6 = IP(id=0x1234, **V4), IPv6(**V6)
    linux = [("SAckOK", b""), ("Timestamp", (1, 2)), NOP, ("WScale", 7)]
    mss("ipv4", ip4, [("MSS", 1460)], 1400, [("MSS", 1400)])
    mss("ipv6", ip6, [("MSS", 1440)], 1386, [("MSS", 1386)])
    mss("an answer of Linux", ip4, [("MSS", 1460), *linux], 1406, [("MSS", 1406), *linux], "SA")
    mss("odd offset", ip4, [NOP, ("MSS", 1460), NOP, NOP, NOP], 1400, [NOP, ("MSS", 1400), NOP, NOP, NOP])
    mss("odd offset over ipv6", ip6, [("WScale", 7), ("MSS", 65535), NOP], 1, [("WScale", 7), ("MSS", 1), NOP])
    mss("last option", ip4, [("Timestamp", (1, 2)), NOP, NOP, ("MSS", 1460)], 536,
        [("Timestamp", (1, 2)), NOP, NOP, ("MSS", 536)])
    mss("several options", ip4, [("MSS", 1460), NOP, ("MSS", 1300), ("MSS", 9000), NOP, NOP, NOP], 1400,
        [("MSS", 1400), NOP, ("MSS", 1300), ("MSS", 1400), NOP, NOP, NOP])
    mss("data with the SYN", ip4, [("MSS", 1460)], 1200, [("MSS", 1200)], "SEC", b"fast open")
    mss("ip options and tags", IP(id=1, options=[IPOption_Router_Alert()], **V4), [("MSS", 1460)], 1400,
        [("MSS", 1400)], link=LINK / Dot1Q(vlan=5) / Dot1Q(vlan=6))
    mss("routing header", ip6 / IPv6ExtHdrRouting(addresses=["2001:db8:c::9"], segleft=1), [("MSS", 1440)], 1300,
        [("MSS", 1300)])
    for name, clamp, options, flags in (
            ("equal", 1400, [("MSS", 1400)], "S"), ("smaller", 1400, [("MSS", 1399)], "S"),
            ("no option for it", 100, [("SAckOK", b"")], "S"), ("no options", 100, [], "S"),
            ("no SYN", 100, [("MSS", 1460)], "A"),
            ("behind the end of options", 100, [("EOL", None), NOP, NOP, NOP, ("MSS", 1460)], "S")):
        mss(name, ip4, options, clamp, options, flags)


def gen_too_big():
    udp, df = UDP(sport=4000, dport=4001), dict(id=0x4321, flags="DF", ttl=61, tos=0x28, **V4)
    tcp = TCP(sport=1, dport=2, flags="A", options=[("Timestamp", (1, 2)), NOP, NOP])
    too_big("ipv4 udp", IP(**df) / udp, 1472, 1466, 1466)
    too_big("ipv4 tcp with options, tagged", IP(options=[IPOption_NOP()] * 4, **df) / tcp, 1424, 1400, 1400,
            LINK / Dot1Q(vlan=5, prio=3))
    too_big("ipv4 all of it quoted", IP(**df) / udp, 520, 500, 500)
    too_big("ipv4 odd length", IP(**df) / udp, 77, 68, 68)
    too_big("ipv4 least mtu", IP(**df) / udp, 100, 0, 68)
    too_big("ipv4 mtu beyond the field", IP(**df) / udp, 100, 70000, 65535)
    too_big("ipv4 echo", IP(**df) / ICMP(type=8, id=1, seq=2), 1472, 1466, 1466)
    too_big("ipv4 esp", IP(proto=50, **df) / Raw(b"\0\0\1\0\0\0\0\1"), 1472, 1466, 1466)
    too_big("ipv4 first fragment", IP(id=7, flags="DF+MF", proto=17, **V4) / Raw(bytes(udp)), 1472, 1466, 1466)
    too_big("ipv6 udp", IPv6(**V6) / udp, 1452, 1466, 1466)
    too_big("ipv6 tcp, two tags", IPv6(tc=0x28, fl=0x12345, hlim=3, **V6) / tcp, 1440, 1400, 1400,
            LINK / Dot1Q(vlan=5, type=0x8100) / Dot1Q(vlan=6))
    too_big("ipv6 all of it quoted", IPv6(**V6) / IPv6ExtHdrDestOpt() / udp, 1176, 1280, 1280)
    too_big("ipv6 least mtu", IPv6(**V6) / udp, 1301, 1200, 1280)
    too_big("ipv6 large mtu", IPv6(**V6) / udp, 100, 70000, 70000)
    too_big("ipv6 echo", IPv6(**V6) / ICMPv6EchoRequest(id=1, seq=2), 1452, 1466, 1466)


def gen_about4():
    def error(typ, code, quote, **more):
        return LINK / IP(id=1, src="203.0.113.9", dst="192.0.2.1") / ICMP(type=typ, code=code, **more) / Raw(quote)

    bare = bytes(IP(id=9, flags="DF", **V4) / ESP(spi=0x1001, seq=77, data=pattern(20)))
    options = bytes(IP(id=9, options=[IPOption_NOP()] * 8, **V4) / ESP(spi=0x1001, seq=77, data=pattern(20)))
    udp = bytes(IP(id=9, **V4) / UDP(sport=4500, dport=4501) / ESP(spi=0xC0001001, seq=0xFFFFFFFE, data=pattern(20)))
    esp = {"spi": 0x1001, "sequence": 77}
    encap = {"encap": True, "sport": 4500, "dport": 4501, "spi": 0xC0001001, "sequence": 0xFFFFFFFE}
    about("ipv4 too big", error(3, 4, bare, nexthopmtu=1400), "mtu", mtu=1400, **esp)
    about("ipv4 too big, least quote", error(3, 4, bare[:28], nexthopmtu=1400), "mtu", mtu=1400, **esp)
    about("ipv4 too big, old router", error(3, 4, bare[:28], nexthopmtu=0), "mtu", **esp)
    about("ipv4 too big, options", error(3, 4, options[:36], nexthopmtu=576), "mtu", mtu=576, **esp)
    about("ipv4 too big, encapsulated", error(3, 4, udp, nexthopmtu=1400), "mtu", mtu=1400, **encap)
    about("ipv4 too big, encapsulated, least quote", error(3, 4, udp[:36], nexthopmtu=1400), "mtu", mtu=1400, **encap)
    about("ipv4 port unreachable", error(3, 3, udp), "other", **encap)
    for name, typ, code in (("host unreachable", 3, 1), ("source quench", 4, 0), ("source quench of code 4", 4, 4),
                            ("redirect", 5, 1), ("time exceeded", 11, 0), ("parameter problem", 12, 0)):
        about("ipv4 " + name, error(typ, code, bare), "other", **esp)


def gen_about6():
    def error(icmp, quote, link=LINK, ip=IPv6(src="2001:db8:ffff::9", dst="2001:db8:a::1")):
        return link / ip / icmp / Raw(quote)

    bare = bytes(IPv6(**V6) / ESP(spi=0x1006, seq=79, data=pattern(20)))
    udp = bytes(IPv6(**V6) / UDP(sport=4500, dport=4500) / ESP(spi=0x1006, seq=79, data=pattern(20)))
    headers = IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting(addresses=["2001:db8:c::9"], segleft=0)
    headers = headers / IPv6ExtHdrFragment(id=5, m=1, nh=60) / IPv6ExtHdrDestOpt(nh=50)
    behind = bytes(IPv6(**V6) / headers / Raw(b"\0\0\x10\x06\0\0\0\x4f"))
    esp = {"spi": 0x1006, "sequence": 79, "v6": True}
    encap = {"encap": True, "sport": 4500, "dport": 4500, **esp}
    about("ipv6 too big", error(ICMPv6PacketTooBig(mtu=1280), bare), "mtu", mtu=1280, **esp)
    about("ipv6 too big, least quote, tagged",
          error(ICMPv6PacketTooBig(mtu=70000), bare[:48], LINK / Dot1Q(vlan=5)), "mtu", mtu=70000, **esp)
    about("ipv6 too big, encapsulated", error(ICMPv6PacketTooBig(mtu=1400), udp[:56]), "mtu", mtu=1400, **encap)
    about("ipv6 too big, extension headers", error(ICMPv6PacketTooBig(mtu=1400), behind), "mtu", mtu=1400, **esp)
    about("ipv6 unreachable", error(ICMPv6DestUnreach(code=4), bare), "other", **esp)
    about("ipv6 time exceeded", error(ICMPv6TimeExceeded(), bare), "other", **esp)
    about("ipv6 parameter problem behind options",
          error(IPv6ExtHdrDestOpt() / ICMPv6ParamProblem(ptr=6), bare), "other", **esp)


gen_mss()
gen_too_big()
gen_about4()
gen_about6()
print(json.dumps(vectors, indent=1))
