#!/usr/bin/env python3
"""Writes the packets under scapy/ with scapy's IPsec layer (Debian python3-scapy 2.5.0).

usage: scripts/vectors/gen-scapy.py OUTDIR

The output is deterministic: keys come from SHA-256 of a label, IVs and
timestamps are counters.  Packets that scapy cannot seal itself (AES-GMAC,
implicit IV, 8 and 12 octet ICVs, malformed trailers) are composed here from
scapy's headers and python3-cryptography, and their JSON entry says so in
"producer".
"""
import hashlib
import json
import logging
import os
import struct
import sys

logging.getLogger("scapy").setLevel(logging.ERROR)
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: E402
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: E402
from scapy.layers.inet import (ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_RR,  # noqa: E402
                               IPOption_Router_Alert, IPOption_Timestamp)
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NS, IPv6,  # noqa: E402
                                IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop,
                                IPv6ExtHdrRouting, PadN, RouterAlert)
from scapy.layers.ipsec import ESP, SecurityAssociation, _ESPPlain  # noqa: E402
from scapy.packet import Raw, raw  # noqa: E402

A4, B4 = "192.0.2.1", "198.51.100.2"
A6, B6 = "2001:db8:a::1", "2001:db8:b::2"
MAC_A, MAC_B = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
SCAPY = "scapy 2.5.0"
NATP = SCAPY + ", UDP length filled in (scapy writes 8)"
COMP = "composed with python3-cryptography from scapy headers"


# ---------------------------------------------------------------- SAs
class SA:
    def __init__(self, name, spi, alg, icv=16, fam=4, esn=False, mode="transport",
                 natt=False, src=None, dst=None, iiv=False):
        self.name, self.spi, self.alg, self.icv = name, spi, alg, icv
        self.fam, self.esn, self.mode, self.natt, self.iiv = fam, esn, mode, natt, iiv
        n = {"aes-gcm-128": 16, "aes-gcm-192": 24, "aes-gcm-256": 32, "aes-gmac-128": 16,
             "aes-gmac-256": 32, "chacha20-poly1305": 32}[alg]
        h = hashlib.sha256(b"espgw test key " + name.encode()).digest()
        self.key = h[:n]
        self.salt = hashlib.sha256(b"espgw test salt " + name.encode()).digest()[:4]
        self.src = src or (A4 if fam == 4 else A6)
        self.dst = dst or (B4 if fam == 4 else B6)
        self.seq = 0

    def scapy(self, **kw):
        algo = "CHACHA20-POLY1305" if self.alg.startswith("chacha") else "AES-GCM"
        return SecurityAssociation(ESP, spi=self.spi, crypt_algo=algo, crypt_key=self.key + self.salt,
                                   esn_en=self.esn, **kw)

    def json(self):
        return {"name": self.name, "spi": self.spi, "alg": self.alg, "key": self.key.hex(),
                "salt": self.salt.hex(), "icv_len": self.icv, "esn": self.esn, "mode": self.mode,
                "udp_encap": self.natt, "implicit_iv": self.iiv, "src": self.src, "dst": self.dst}


SAS = {}


def sa(*a, **k):
    s = SA(*a, **k)
    assert s.name not in SAS and s.spi not in [x.spi for x in SAS.values()]
    SAS[s.name] = s
    return s


# every SA has its own SPI, so one SAD can hold them all at once
g128 = sa("gcm128", 0x1001, "aes-gcm-128")
g192 = sa("gcm192", 0x1002, "aes-gcm-192")
g256 = sa("gcm256", 0x1003, "aes-gcm-256")
g128v6 = sa("gcm128-v6", 0x1004, "aes-gcm-128", fam=6)
g256v6 = sa("gcm256-v6", 0x1005, "aes-gcm-256", fam=6)
icv8 = sa("gcm128-icv8", 0x1006, "aes-gcm-128", icv=8)
icv12 = sa("gcm256-icv12", 0x1007, "aes-gcm-256", icv=12)
esn0 = sa("gcm128-esn-hi0", 0x1008, "aes-gcm-128", esn=True)
esn1 = sa("gcm256-esn-hi1", 0x1009, "aes-gcm-256", esn=True)
esnf = sa("gcm128-esn-hiffffffff", 0x100A, "aes-gcm-128", esn=True)
esn6 = sa("gcm256-esn-v6", 0x100B, "aes-gcm-256", esn=True, fam=6)
chacha = sa("chacha", 0x100C, "chacha20-poly1305")
chacha6 = sa("chacha-v6-esn", 0x100D, "chacha20-poly1305", fam=6, esn=True)
gmac = sa("gmac128", 0x100E, "aes-gmac-128")
gmac6 = sa("gmac256-v6-esn", 0x100F, "aes-gmac-256", fam=6, esn=True)
iiv = sa("gcm128-iiv", 0x1010, "aes-gcm-128", iiv=True)
iivesn = sa("gcm256-iiv-esn", 0x1011, "aes-gcm-256", iiv=True, esn=True)
iivcha = sa("chacha-iiv", 0x1012, "chacha20-poly1305", iiv=True)
nat4 = sa("gcm128-natt", 0x1013, "aes-gcm-128", natt=True)
nat6 = sa("gcm256-natt-v6", 0x1014, "aes-gcm-256", natt=True, fam=6)
pads = sa("gcm128-pad", 0x1015, "aes-gcm-128")
tun44 = sa("tunnel-4in4", 0x1016, "aes-gcm-128", mode="tunnel", src="203.0.113.1", dst="203.0.113.2")
tun64 = sa("tunnel-6in4", 0x1017, "aes-gcm-256", mode="tunnel", src="203.0.113.1", dst="203.0.113.2")
tun46 = sa("tunnel-4in6", 0x1018, "aes-gcm-128", mode="tunnel", fam=6, src="2001:db8:1::1", dst="2001:db8:2::2")
rep64 = sa("replay-w64", 0x1019, "aes-gcm-128")
rep256 = sa("replay-w256", 0x101A, "aes-gcm-128")
rep1024 = sa("replay-w1024", 0x101B, "aes-gcm-256")
repend = sa("replay-end-of-32-bit", 0x101C, "aes-gcm-128")
repesn = sa("replay-esn-rollover", 0x101D, "aes-gcm-128", esn=True)
repforge = sa("replay-forged", 0x101E, "aes-gcm-128")
hiSPI = sa("gcm128-spi-high-bit", 0xFFFFFFFE, "aes-gcm-128")
spi256 = sa("gcm128-spi-256", 0x100, "aes-gcm-128")


# ---------------------------------------------------------------- sealing
def nonce_iv(s, iv, seq, hi):
    return s.salt + (struct.pack(">II", hi or 0, seq) if s.iiv else iv)


def aad_of(s, seq, hi, spi=None):
    spi = s.spi if spi is None else spi
    return struct.pack(">III", spi, hi, seq) if s.esn else struct.pack(">II", spi, seq)


def seal_raw(s, pt, seq, iv, hi=0, spi=None, icv=None):
    """ESP bytes for an arbitrary plaintext (payload, padding, trailer as given)."""
    icv = s.icv if icv is None else icv
    a = aad_of(s, seq, hi, spi)
    n = nonce_iv(s, iv, seq, hi)
    carried = b"" if s.iiv else iv
    head = struct.pack(">II", s.spi if spi is None else spi, seq) + carried
    if s.alg.startswith("chacha"):
        return head + ChaCha20Poly1305(s.key).encrypt(n, pt, a)
    e = Cipher(algorithms.AES(s.key), modes.GCM(n)).encryptor()
    if s.alg.startswith("aes-gmac"):
        e.authenticate_additional_data(a + iv + pt)
        e.finalize()
        return head + pt + e.tag[:icv]
    e.authenticate_additional_data(a)
    ct = e.update(pt) + e.finalize()
    return head + ct + e.tag[:icv]


def pad(data, nh, n=None, padbytes=None):
    if n is None:
        n = -(len(data) + 2) % 4
    if padbytes is None:
        padbytes = bytes((i + 1) & 0xFF for i in range(n))
    return data + padbytes + bytes([n, nh])


def seal_scapy(s, data, nh, seq, iv, hi=0, spi=None, n=None, padbytes=None):
    """The same through scapy's own cipher code, with free choice of padding."""
    x = s.scapy()
    p = _ESPPlain(spi=s.spi if spi is None else spi, seq=seq, iv=iv)
    p.data, p.nh = Raw(data), nh
    if n is None:
        x.crypt_algo.pad(p)
    else:
        p.padlen = n
        p.padding = bytes((i + 1) & 0xFF for i in range(n)) if padbytes is None else padbytes
    e = raw(x.crypt_algo.encrypt(x, p, x.crypt_key, None, esn_en=s.esn, esn=hi))
    return e[:len(e) - 16 + s.icv]


def csum(b):
    if len(b) % 2:
        b += b"\0"
    t = sum(struct.unpack(">%dH" % (len(b) // 2), b))
    while t >> 16:
        t = (t & 0xFFFF) + (t >> 16)
    return ~t & 0xFFFF


def fix4(hdr, proto, total):
    h = bytearray(hdr)
    h[9] = proto
    h[2:4] = struct.pack(">H", total)
    h[10:12] = b"\0\0"
    h[10:12] = struct.pack(">H", csum(bytes(h)))
    return bytes(h)


def ip_wrap(s, e, src=None, dst=None, proto=50, **kw):
    """A fresh outer header in front of ESP bytes."""
    if s.fam == 4:
        h = raw(IP(src=src or s.src, dst=dst or s.dst, proto=proto, id=kw.pop("id", 0x4242), ttl=64, **kw))
        return fix4(h, proto, len(h) + len(e)) + e
    return raw(IPv6(src=src or s.src, dst=dst or s.dst, nh=proto, plen=len(e), hlim=64)) + e


def udp_csum6(src6, dst6, udp):
    ph = src6 + dst6 + struct.pack(">II", len(udp), 17)
    c = csum(ph + udp[:6] + b"\0\0" + udp[8:])
    return udp[:6] + struct.pack(">H", c or 0xFFFF) + udp[8:]


def udp_csum4(src4, dst4, udp):
    ph = src4 + dst4 + struct.pack(">BBH", 0, 17, len(udp))
    c = csum(ph + udp[:6] + b"\0\0" + udp[8:])
    return udp[:6] + struct.pack(">H", c or 0xFFFF) + udp[8:]


def eth(pkt, tags=(), swap=False, etype=None):
    t = etype if etype is not None else (0x0800 if pkt[:1] and pkt[0] >> 4 == 4 else 0x86DD)
    m = MAC_B + MAC_A
    for tpid, tci in tags:
        m += struct.pack(">HH", tpid, tci)
    return m + struct.pack(">H", t) + pkt


# ---------------------------------------------------------------- output
class Group:
    def __init__(self, name, title, **extra):
        self.name, self.tests = name, []
        self.head = {"title": title, **extra}
        self.esp, self.plain = [], []

    def add(self, name, s=None, esp=None, plain=None, seq=None, hi=None, iv=None, expect_in=None, expect_out=None,
            reason=None, tags=(), tags_plain=None, esp_frame=None, plain_frame=None, producer=SCAPY, notes=None, **more):
        t = {"name": name}
        if s is not None:
            t.update({"sa": s.name, "mode": s.mode, "alg": s.alg, "key": s.key.hex(), "salt": s.salt.hex(),
                      "icv_len": s.icv, "udp_encap": s.natt, "implicit_iv": s.iiv})
        t["spi"] = "%08x" % more.pop("spi") if "spi" in more else (None if s is None else "%08x" % s.spi)
        t["seq"], t["esn_hi"] = seq, hi
        t["iv"] = iv.hex() if iv is not None else None
        t["direction"] = "both" if expect_in and expect_out else "in" if expect_in else "out"
        t["expect_in"], t["expect_out"] = expect_in, expect_out
        if reason:
            t["reason"] = reason
        t["plaintext_packet"] = plain.hex() if plain is not None else None
        t["esp_packet"] = esp.hex() if esp is not None else None
        if tags:
            t["vlan"] = [{"tpid": "%04x" % a, "vid": b & 0xFFF, "pcp": b >> 13} for a, b in tags]
        f = esp_frame if esp_frame is not None else (eth(esp, tags) if esp is not None else None)
        if f is not None:
            self.esp.append(f)
            t["esp_frame"] = len(self.esp)
        f = plain_frame if plain_frame is not None else (eth(plain, tags) if plain is not None and expect_out else None)
        if f is None and plain is not None and expect_in == "decrypt":
            f = eth(plain, tags)
        if f is not None:
            self.plain.append(f)
            t["plain_frame"] = len(self.plain)
        t.update(more)
        t["producer"] = producer
        if notes:
            t["notes"] = notes
        self.tests.append(t)

    def write(self, out):
        head = dict(self.head)
        for kind, frames in (("esp", self.esp), ("plain", self.plain)):
            if not frames:
                continue
            fn = "%s-%s.pcap" % (self.name, kind)
            head[kind + "_pcap"] = fn
            with open(os.path.join(out, fn), "wb") as f:
                f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
                for i, fr in enumerate(frames):
                    f.write(struct.pack("<IIII", 1700000000 + i // 1000, (i % 1000) * 1000, len(fr), len(fr)) + fr)
        head["sas"] = [x.json() for x in SAS.values()]
        head["tests"] = self.tests
        with open(os.path.join(out, self.name + ".json"), "w") as f:
            f.write("{\n")
            for k, v in head.items():
                if k in ("sas", "tests"):
                    continue
                f.write(" %s: %s,\n" % (json.dumps(k), json.dumps(v)))
            f.write(' "sas": [\n  ' + ",\n  ".join(json.dumps(x) for x in head["sas"]) + "\n ],\n")
            f.write(' "tests": [\n  ' + ",\n  ".join(json.dumps(x) for x in head["tests"]) + "\n ]\n}\n")
        print("%-20s %3d cases, %d esp frames, %d plain frames" % (self.name, len(self.tests), len(self.esp), len(self.plain)))


IVC = [0xA000000000000000]


def next_iv():
    IVC[0] += 1
    return struct.pack(">Q", IVC[0])


def body(n, seed=0):
    return bytes((seed + i * 7) & 0xFF for i in range(n))


def norm(p):
    """Build and reparse, so that lengths and checksums are filled in."""
    return p.__class__(raw(p))


def v4(s=g128, **kw):
    kw.setdefault("id", 0x1234)
    return IP(src=s.src, dst=s.dst, ttl=64, **kw)


def v6(s=g128v6, **kw):
    return IPv6(src=s.src, dst=s.dst, hlim=64, **kw)


def encrypt(s, pkt, seq=None, iv=None, hi=0):
    """scapy's SecurityAssociation.encrypt, as bytes; returns (esp packet, seq, iv)."""
    if seq is None:
        s.seq += 1
        seq = s.seq
    iv = next_iv() if iv is None else iv
    kw = {}
    if s.natt:
        kw["nat_t_header"] = UDP(sport=4500, dport=4500)
    if s.mode == "tunnel":
        kw["tunnel_header"] = IP(src=s.src, dst=s.dst, id=0x7777, ttl=64) if s.fam == 4 else IPv6(src=s.src, dst=s.dst, hlim=64)
    x = s.scapy(**kw)
    assert seq != 0
    e = raw(x.encrypt(norm(pkt), seq_num=seq, iv=iv, esn_en=s.esn, esn=hi))
    if s.natt:  # scapy 2.5.0 leaves 8 in the UDP length over IPv4
        o = 20 if s.fam == 4 else 40
        e = e[:o + 4] + struct.pack(">H", len(e) - o) + e[o + 6:]
    if s.icv != 16:
        e = e[:len(e) - 16 + s.icv]
        assert s.fam == 4
        ihl = (e[0] & 15) * 4
        e = fix4(e[:ihl], 50, len(e)) + e[ihl:]
    return e, seq, iv


def main(out):
    os.makedirs(out, exist_ok=True)
    groups = []

    # ------------------------------------------------------------ transport mode, good packets
    G = Group("transport", "Good transport mode packets. Inbound: esp_packet must become plaintext_packet. "
              "Outbound: plaintext_packet sealed with this seq and iv must give esp_packet octet for octet, "
              "except where byte_exact_out is false.")
    groups.append(G)

    def ok(name, s, pkt, seq=None, iv=None, hi=None, **more):
        pkt = norm(pkt)
        e, q, v = encrypt(s, pkt, seq, iv, hi or 0)
        G.add(name, s, e, raw(pkt), q, hi, v, "decrypt", "protect",
              producer=SCAPY if s.icv == 16 else SCAPY + ", ICV cut to %d octets" % s.icv, **more)

    for n in (0, 1, 2, 3, 18, 64, 511, 1400):
        ok("ipv4 udp data %d" % n, g128, v4() / UDP(sport=4000, dport=5000) / Raw(body(n)))
    ok("ipv4 udp data 1438, esp packet is 1500", g128, v4(flags="DF") / UDP(sport=4000, dport=5000) / Raw(body(1438)))
    ok("ipv4 tcp syn with options", g128, v4() / TCP(sport=40000, dport=443, flags="S", seq=1, options=[
        ("MSS", 1460), ("SAckOK", b""), ("Timestamp", (1, 0)), ("NOP", None), ("WScale", 7)]))
    ok("ipv4 tcp data 100", g256, v4() / TCP(sport=40000, dport=443, flags="PA", seq=2, ack=9) / Raw(body(100)))
    ok("ipv4 tcp bare ack", g192, v4() / TCP(sport=40000, dport=443, flags="A", seq=2, ack=9))
    ok("ipv4 icmp echo 56", g192, v4() / ICMP(id=7, seq=1) / Raw(body(56)))
    ok("ipv4 icmp without data", g256, v4() / ICMP(id=7, seq=2))
    ok("ipv4 protocol 253, one octet", g128, v4(proto=253) / Raw(b"\x5a"))
    # an empty upper layer: scapy cannot carry an empty payload through encrypt()
    s = g128
    s.seq += 1
    iv = next_iv()
    p = raw(norm(v4(proto=253)))
    e = seal_scapy(s, b"", 253, s.seq, iv)
    G.add("ipv4 protocol 253, empty payload", s, fix4(p[:20], 50, 20 + len(e)) + e, p, s.seq, None, iv, "decrypt", "protect",
          notes="total length 20; the ESP payload is only the trailer")
    for pr, nm in ((47, "gre"), (50, "esp"), (51, "ah"), (4, "ipv4"), (41, "ipv6"), (132, "sctp"), (255, "reserved 255")):
        if pr == 4:
            pay = raw(norm(IP(src="10.0.0.1", dst="10.0.0.2", id=5) / UDP(sport=1, dport=2) / Raw(body(9))))
        elif pr == 41:
            pay = raw(norm(IPv6(src="2001:db8::9", dst="2001:db8::8") / UDP(sport=1, dport=2) / Raw(body(9))))
        else:
            pay = body(37, pr)
        # through the cipher layer: scapy would otherwise dissect the payload
        s = g128
        s.seq += 1
        iv = next_iv()
        p = raw(norm(v4(proto=pr) / Raw(pay)))
        e = seal_scapy(s, pay, pr, s.seq, iv)
        G.add("ipv4 next protocol %s" % nm, s, fix4(p[:20], 50, 20 + len(e)) + e, p, s.seq, None, iv, "decrypt", "protect",
              notes="transport mode: the protocol number goes into the next header and comes back")
    ok("ipv4 dscp ef, ecn ce, df, ttl 1", g128, IP(src=A4, dst=B4, tos=0xBB, ttl=1, id=0xBEEF, flags="DF") / UDP(sport=1, dport=2) / Raw(b"tos"),
       notes="every header field but protocol, total length and checksum is unchanged")
    ok("ipv4 id 0", g128, IP(src=A4, dst=B4, id=0, ttl=255) / UDP(sport=1, dport=2) / Raw(b"id"))
    ok("ipv4 options nop x4", g128, v4(options=[IPOption_NOP()] * 4) / UDP(sport=1, dport=2) / Raw(body(10)))
    ok("ipv4 options record route 39", g128, v4(options=[IPOption_RR(routers=["0.0.0.0"] * 9), IPOption_NOP()]) / UDP(sport=1, dport=2) / Raw(body(11)),
       notes="header of 60 octets, the longest")
    ok("ipv4 option router alert", g256, v4(options=[IPOption_Router_Alert()]) / UDP(sport=1, dport=2) / Raw(body(12)))
    ok("ipv4 option timestamp", g256, v4(options=[IPOption_Timestamp(flg=0, timestamp=0)]) / TCP(sport=1, dport=2, flags="S"))
    ok("ipv4 udp checksum zero", g128, v4() / UDP(sport=1, dport=2, chksum=0) / Raw(body(5)))
    ok("iv all zero", g128, v4() / UDP(sport=1, dport=2) / Raw(b"iv0"), iv=b"\0" * 8)
    ok("iv all ones", g128, v4() / UDP(sport=1, dport=2) / Raw(b"ivf"), iv=b"\xff" * 8)
    ok("spi 0xfffffffe", hiSPI, v4() / UDP(sport=1, dport=2) / Raw(b"high spi"))
    ok("spi 256, the lowest usable", spi256, v4() / UDP(sport=1, dport=2) / Raw(b"low spi"))
    ok("sequence number 0xffffffff without esn", sa("gcm128-last-seq", 0x1020, "aes-gcm-128"),
       v4() / UDP(sport=1, dport=2) / Raw(b"last"), seq=0xFFFFFFFF,
       notes="outbound: the SA may not send another packet after this one (RFC 4303 3.3.3)")
    # Ethernet padding
    s = g128
    pkt = norm(v4() / UDP(sport=1, dport=2))
    e, q, v = encrypt(s, pkt)
    G.add("ipv4 udp data 0 in a 60 octet frame", s, e, raw(pkt), q, None, v, "decrypt", "protect",
          plain_frame=(eth(raw(pkt)) + b"\xee" * 60)[:60], notes="the plain frame carries Ethernet padding 0xee, which is not part of the datagram: use the IP total length")
    pkt = norm(v4() / UDP(sport=1, dport=2) / Raw(b"tail"))
    e, q, v = encrypt(s, pkt)
    G.add("ipv4 octets behind the esp packet", s, e, raw(pkt), q, None, v, "decrypt", "protect",
          esp_frame=eth(e) + b"\xdd" * 7, notes="the ESP frame has 7 octets after the IP datagram: the ICV ends where the IP total length says")

    for n in (0, 1, 2, 3, 64, 1000):
        ok("ipv6 udp data %d" % n, g128v6, v6() / UDP(sport=4000, dport=5000) / Raw(body(n)))
    ok("ipv6 udp data 1418, esp packet is 1500", g256v6, v6() / UDP(sport=4000, dport=5000) / Raw(body(1418)))
    ok("ipv6 tcp syn", g256v6, v6() / TCP(sport=40000, dport=443, flags="S", options=[("MSS", 1440)]))
    ok("ipv6 icmpv6 echo", g128v6, v6() / ICMPv6EchoRequest(id=3, seq=1, data=body(32)))
    ok("ipv6 traffic class 0xb9, flow label 0x12345, hop limit 1", g128v6,
       IPv6(src=A6, dst=B6, tc=0xB9, fl=0x12345, hlim=1) / UDP(sport=1, dport=2) / Raw(b"flow"),
       notes="every header field but next header and payload length is unchanged")
    hbh = IPv6ExtHdrHopByHop(options=[RouterAlert()])
    dst = IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])
    rh = IPv6ExtHdrRouting(type=2, segleft=1, addresses=["2001:db8:b::3"])
    ok("ipv6 hop-by-hop ahead of esp", g128v6, v6() / hbh / UDP(sport=1, dport=2) / Raw(body(10)))
    ok("ipv6 routing header ahead of esp", g128v6, v6() / rh / UDP(sport=1, dport=2) / Raw(body(11)),
       notes="type 2 routing header, one segment left; ESP goes behind it")
    ok("ipv6 hop-by-hop, dest options, routing ahead of esp", g128v6, v6() / hbh / dst / rh / UDP(sport=1, dport=2) / Raw(body(12)),
       notes="destination options in front of a routing header stay in front of ESP")
    ok("ipv6 hop-by-hop, routing ahead; dest options behind esp", g256v6, v6() / hbh / rh / dst / UDP(sport=1, dport=2) / Raw(body(13)),
       notes="next header 60 inside ESP")
    ok("ipv6 dest options ahead of esp, no routing header", g128v6, v6() / dst / UDP(sport=1, dport=2) / Raw(body(14)), byte_exact_out=False,
       notes="RFC 4303 3.1.1 permits destination options on either side; scapy puts them ahead. Inbound this packet must decrypt; outbound the gateway may produce the layout of the next case")
    s = g128v6
    s.seq += 1
    iv = next_iv()
    p = raw(norm(v6() / dst / UDP(sport=1, dport=2) / Raw(body(14))))
    e = seal_scapy(s, p[40:], 60, s.seq, iv)
    G.add("ipv6 dest options behind esp, no routing header", s, p[:4] + struct.pack(">HB", len(e), 50) + p[7:40] + e, p, s.seq, None, iv,
          "decrypt", "protect", byte_exact_out=False, notes="the other permitted layout of the case before")

    for tg, nm in ((((0x8100, 100 | 5 << 13),), "802.1Q vid 100"), (((0x8100, 0),), "802.1Q priority tag, vid 0"),
                   (((0x88A8, 200), (0x8100, 300)), "802.1ad vid 200 with 802.1Q vid 300")):
        ok("vlan ipv4 %s" % nm, g128, v4() / UDP(sport=1, dport=2) / Raw(b"vlan"), tags=tg, policy="vlan",
           notes="if the port handles tags: same result as untagged, tags kept. If it does not: drop, and never misparse")
    ok("vlan ipv6 802.1Q vid 4094", g256v6, v6() / UDP(sport=1, dport=2) / Raw(b"vlan6"), tags=((0x8100, 4094),), policy="vlan",
       notes="as the other vlan cases")

    ok("icv 8, ipv4 udp", icv8, v4() / UDP(sport=1, dport=2) / Raw(body(21)))
    ok("icv 8, ipv4 tcp", icv8, v4() / TCP(sport=1, dport=2, flags="S"))
    ok("icv 12, ipv4 udp", icv12, v4() / UDP(sport=1, dport=2) / Raw(body(22)))
    ok("icv 12, ipv4 icmp", icv12, v4() / ICMP(id=1, seq=1) / Raw(body(23)))

    esn_note = "receiver state before this packet: highest sequence number accepted is last_seq (64 bits); the high half is not on the wire"
    ok("esn hi 0, lo 1", esn0, v4() / UDP(sport=1, dport=2) / Raw(b"esn0"), seq=1, hi=0, last_seq="0000000000000000", notes=esn_note)
    ok("esn hi 0, lo 0xffffffff", esn0, v4() / UDP(sport=1, dport=2) / Raw(b"esn0 last"), seq=0xFFFFFFFF, hi=0, last_seq="00000000fffffffe", notes=esn_note)
    s = esn1
    for lo in (0, 1):
        iv = next_iv()
        p = norm(v4(s) / UDP(sport=1, dport=2) / Raw(b"esn1 %d" % lo))
        e = seal_scapy(s, raw(p)[20:], 17, lo, iv, hi=1)
        G.add("esn hi 1, lo %d" % lo, s, fix4(raw(p)[:20], 50, 20 + len(e)) + e, raw(p), lo, 1, iv, "decrypt", "protect",
              last_seq="00000000ffffffff" if lo == 0 else "0000000100000000",
              notes=esn_note + ("; the low half on the wire is 0, which is legal with ESN once the high half is not 0" if lo == 0 else ""))
    ok("esn hi 1, lo 0x80000000", esn1, v4() / UDP(sport=1, dport=2) / Raw(b"esn1 mid"), seq=0x80000000, hi=1, last_seq="000000017fffffff", notes=esn_note)
    ok("esn hi 0xffffffff, lo 7", esnf, v4() / UDP(sport=1, dport=2) / Raw(b"esnf"), seq=7, hi=0xFFFFFFFF, last_seq="ffffffff00000006", notes=esn_note)
    ok("esn hi 0xffffffff, lo 0xffffffff", esnf, v4() / UDP(sport=1, dport=2) / Raw(b"esnf last"), seq=0xFFFFFFFF, hi=0xFFFFFFFF,
       last_seq="fffffffffffffffe", notes=esn_note + "; outbound: the SA may not send another packet after this one")
    ok("esn ipv6 hi 0x01020304, lo 0x0a0b0c0d", esn6, v6() / UDP(sport=1, dport=2) / Raw(b"esn6"), seq=0x0A0B0C0D, hi=0x01020304,
       last_seq="010203040a0b0c0c", notes=esn_note + "; all eight octets differ, so a swapped half or a wrong byte order shows")

    ok("chacha20-poly1305 ipv4 udp", chacha, v4() / UDP(sport=1, dport=2) / Raw(body(33)))
    ok("chacha20-poly1305 ipv4 tcp", chacha, v4() / TCP(sport=1, dport=2, flags="S"))
    ok("chacha20-poly1305 ipv6 udp, esn hi 2", chacha6, v6() / UDP(sport=1, dport=2) / Raw(body(34)), seq=5, hi=2, last_seq="0000000200000004", notes=esn_note)

    def comp(name, s, pkt, hi=None, seq=None, **more):
        pkt = raw(norm(pkt))
        if seq is None:
            s.seq += 1
            seq = s.seq
        iv = struct.pack(">II", hi or 0, seq) if s.iiv else next_iv()
        h = 20 if s.fam == 4 else 40
        e = seal_raw(s, pad(pkt[h:], pkt[9] if s.fam == 4 else pkt[6]), seq, iv, hi or 0)
        w = fix4(pkt[:20], 50, 20 + len(e)) + e if s.fam == 4 else pkt[:4] + struct.pack(">HB", len(e), 50) + pkt[7:40] + e
        G.add(name, s, w, pkt, seq, hi, None if s.iiv else iv, "decrypt", "protect", producer=COMP, **more)

    gn = "RFC 4543: nothing is encrypted; the ICV covers SPI, sequence number, IV, payload, padding, pad length and next header"
    comp("aes-gmac-128 ipv4 udp", gmac, v4() / UDP(sport=1, dport=2) / Raw(body(30)), notes=gn)
    comp("aes-gmac-256 ipv6 tcp, esn hi 1", gmac6, v6() / TCP(sport=1, dport=2, flags="S"), hi=1, seq=3, last_seq="0000000100000002", notes=gn + "; " + esn_note)
    im = "RFC 8750: no IV on the wire; nonce = salt, then the 64-bit sequence number (high half 0 without ESN)"
    comp("implicit iv aes-gcm-128 ipv4 udp", iiv, v4() / UDP(sport=1, dport=2) / Raw(body(31)), notes=im)
    comp("implicit iv aes-gcm-128 ipv4 icmp", iiv, v4() / ICMP(id=1, seq=1) / Raw(body(8)), notes=im)
    comp("implicit iv aes-gcm-256 ipv4 udp, esn hi 1", iivesn, v4() / UDP(sport=1, dport=2) / Raw(body(32)), hi=1, seq=0x10, last_seq="000000010000000f", notes=im + "; " + esn_note)
    comp("implicit iv chacha20-poly1305 ipv4 udp", iivcha, v4() / UDP(sport=1, dport=2) / Raw(body(35)), notes=im)

    # ------------------------------------------------------------ tunnel mode
    G = Group("tunnel", "Good tunnel mode packets. Inbound: the inner packet is plaintext_packet, unchanged. The outer header's ID, TTL and DSCP are the sender's choice, so outbound compare from the ESP header on.")
    groups.append(G)

    def okt(name, s, pkt, **more):
        pkt = norm(pkt)
        e, q, v = encrypt(s, pkt)
        G.add(name, s, e, raw(pkt), q, None, v, "decrypt", "protect", byte_exact_out=False, **more)

    okt("tunnel ipv4 in ipv4", tun44, IP(src=A4, dst=B4, id=1) / UDP(sport=1, dport=2) / Raw(body(40)))
    okt("tunnel ipv6 in ipv4", tun64, IPv6(src=A6, dst=B6) / TCP(sport=1, dport=2, flags="S"))
    okt("tunnel ipv4 in ipv6", tun46, IP(src=A4, dst=B4, id=2) / ICMP(id=1, seq=2) / Raw(body(41)))
    okt("tunnel ipv4 fragment in ipv4", tun44, IP(src=A4, dst=B4, id=3, flags="MF", frag=0, proto=17) / Raw(body(64)),
        notes="a fragment may be protected in tunnel mode (RFC 4303 3.3.4)")
    s = tun44
    s.seq += 1
    iv = next_iv()
    p = raw(norm(IP(src=A4, dst=B4, id=4) / UDP(sport=1, dport=2) / Raw(body(20))))
    e = seal_scapy(s, p + b"\0" * 100, 4, s.seq, iv)
    G.add("tunnel ipv4 in ipv4 with 100 octets of tfc padding", s, ip_wrap(s, e), p, s.seq, None, iv, "decrypt", None,
          notes="RFC 4303 2.7: octets behind the inner packet's total length are traffic flow confidentiality padding and are cut off")
    s.seq += 1
    iv = next_iv()
    e = seal_scapy(s, p[:30], 4, s.seq, iv)
    G.add("tunnel inner packet shorter than its total length", s, ip_wrap(s, e), None, s.seq, None, iv, "drop", None, reason="malformed-inner")
    s.seq += 1
    iv = next_iv()
    e = seal_scapy(s, p, 41, s.seq, iv)
    G.add("tunnel next header 41 with an ipv4 inner packet", s, ip_wrap(s, e), None, s.seq, None, iv, "drop", None, reason="malformed-inner",
          notes="version nibble and next header disagree")
    s.seq += 1
    iv = next_iv()
    e = seal_scapy(s, p[20:], 17, s.seq, iv)
    G.add("tunnel sa, transport mode packet (next header udp)", s, ip_wrap(s, e), None, s.seq, None, iv, "drop", None, reason="mode-mismatch")

    # ------------------------------------------------------------ every pad length
    G = Group("pad", "Every pad length 0..255 with the default padding 1, 2, 3, ... A receiver must accept all of them. frame n has pad length n-1.", note="packet bytes are in the pcap files only")
    groups.append(G)
    s = pads
    for n in range(256):
        s.seq += 1
        iv = next_iv()
        k = (-(8 + n + 2)) % 4 + (4 if n % 3 else 0)
        p = raw(norm(IP(src=A4, dst=B4, id=n, ttl=64) / UDP(sport=1, dport=2) / Raw(body(k, n))))
        e = seal_scapy(s, p[20:], 17, s.seq, iv, n=n)
        G.add("pad length %d" % n, s, fix4(p[:20], 50, 20 + len(e)) + e, p, s.seq, None, iv, "decrypt", None, pad_len=n)
    for t in G.tests:
        for k in ("plaintext_packet", "esp_packet", "key", "salt", "mode", "alg", "icv_len", "udp_encap", "implicit_iv", "reason"):
            t.pop(k, None)

    # ------------------------------------------------------------ NAT traversal
    G = Group("natt", "ESP in UDP, RFC 3948. expect_in: decrypt; drop; consume = NAT keepalive, swallow without an error count; to-ike = hand to the IKE port, never to ESP.")
    groups.append(G)

    def okn(name, s, pkt, **more):
        pkt = norm(pkt)
        e, q, v = encrypt(s, pkt)
        G.add(name, s, e, raw(pkt), q, None, v, "decrypt", "protect", producer=NATP, **more)

    okn("natt ipv4 udp inside, checksum 0", nat4, v4() / UDP(sport=1, dport=2) / Raw(body(15)))
    okn("natt ipv4 tcp inside", nat4, v4() / TCP(sport=1, dport=2, flags="S"))
    okn("natt ipv4 icmp inside", nat4, v4() / ICMP(id=1, seq=1) / Raw(body(16)))
    s = nat4

    def nat_variant(name, change, expect="decrypt", out=None, reason=None, notes=None, **more):
        pkt = norm(v4() / UDP(sport=1, dport=2) / Raw(name.encode()))
        e, q, v = encrypt(s, pkt)
        e = change(e)
        pl = raw(pkt)
        G.add(name, s, e, pl if expect == "decrypt" else None, q, None, v, expect, out, reason=reason, notes=notes, producer=NATP, **more)

    def setport(sp):
        return lambda e: e[:20] + struct.pack(">H", sp) + e[22:]

    nat_variant("natt ipv4 source port rewritten to 30001", setport(30001), notes="the NAT changed the source port: accept, by SPI; replies go to the new port")
    nat_variant("natt ipv4 udp checksum present and right", lambda e: e[:20] + udp_csum4(e[12:16], e[16:20], e[20:]),
                notes="RFC 3948 2.1: the receiver must not depend on the checksum being zero")
    nat_variant("natt ipv4 udp checksum present and wrong", lambda e: e[:26] + b"\x12\x34" + e[28:], expect="either",
                notes="the ICV is right. Drop (UDP checksum verified) or decrypt (UDP checksum ignored for ESP) are both seen in the field; choose one and test it")

    def natsrc(e):
        h = bytearray(e[:20])
        h[12:16] = bytes([203, 0, 113, 77])
        return fix4(bytes(h), 17, len(e)) + e[20:]

    pkt = norm(v4() / UDP(sport=1, dport=2) / Raw(b"nat moved me"))
    e, q, v = encrypt(s, pkt)
    G.add("natt ipv4 source address rewritten by the nat", s, natsrc(e), raw(pkt), q, None, v, "decrypt-inner", None,
          producer=NATP, reason="checksum-fixup", payload=raw(pkt)[20:].hex(),
          notes="transport mode behind NAT: the decrypted UDP header carries a checksum for the address before the NAT. RFC 3948 3.1.2: fix it up, or set a UDP checksum to 0; the UDP data must come out as in payload")
    pkt = norm(v6(nat6) / UDP(sport=1, dport=2) / Raw(body(17)))
    e, q, v = encrypt(nat6, pkt)
    h = raw(pkt)
    c = e[:40] + udp_csum6(h[8:24], h[24:40], e[40:])
    G.add("natt ipv6, udp checksum present", nat6, c, raw(pkt), q, None, v, "decrypt", "protect",
          producer=SCAPY + ", UDP checksum filled in")
    pkt = norm(v6(nat6) / TCP(sport=1, dport=2, flags="S"))
    e, q, v = encrypt(nat6, pkt)
    G.add("natt ipv6, udp checksum zero", nat6, e, raw(pkt), q, None, v, "either", None,
          notes="RFC 8200 8.1 forbids a zero checksum unless the port is set up for it (RFC 6935); scapy and Linux send it. Choose one and test it")

    def udp4(sp, dp, data, ln=None):
        u = struct.pack(">HHHH", sp, dp, 8 + len(data) if ln is None else ln, 0) + data
        h = raw(IP(src=A4, dst=B4, id=9, ttl=64, proto=17))
        return fix4(h, 17, 20 + len(u)) + u

    def natin(name, pkt, expect, reason=None, notes=None, **more):
        G.add(name, None, pkt, None, None, None, None, expect, None, reason=reason, producer="hand-built", notes=notes, **more)

    natin("natt keepalive", udp4(4500, 4500, b"\xff"), "consume", notes="one octet 0xff")
    natin("natt keepalive from port 30001", udp4(30001, 4500, b"\xff"), "consume")
    natin("natt one octet, not 0xff", udp4(4500, 4500, b"\x00"), "drop", "malformed")
    natin("natt empty udp", udp4(4500, 4500, b""), "drop", "malformed")
    for n in (2, 3):
        natin("natt %d octets" % n, udp4(4500, 4500, b"\xff" * n), "drop", "malformed", notes="too short for an SPI or a non-ESP marker")
    natin("natt four zero octets only", udp4(4500, 4500, b"\0" * 4), "to-ike", notes="a non-ESP marker with nothing behind it: dropping it is fine, treating it as ESP is not")
    natin("natt ike message", udp4(4500, 4500, b"\0" * 4 + bytes.fromhex("0102030405060708000000000000000021202208000000000000001c")), "to-ike",
          notes="non-ESP marker, then an IKEv2 header")
    natin("natt spi only", udp4(4500, 4500, struct.pack(">I", nat4.spi)), "drop", "malformed")
    natin("natt spi and sequence number only", udp4(4500, 4500, struct.pack(">II", nat4.spi, 99)), "drop", "malformed")
    natin("natt unknown spi", udp4(4500, 4500, struct.pack(">II", 0xDEADBEEF, 1) + body(40)), "drop", "unknown-spi")
    pkt = norm(v4() / UDP(sport=1, dport=2) / Raw(b"udp length short"))
    e, q, v = encrypt(s, pkt)
    G.add("natt udp length larger than the ip payload", s, e[:24] + struct.pack(">H", len(e) - 20 + 40) + e[26:], None, q, None, v, "drop", None, reason="malformed")
    pkt = norm(v4() / UDP(sport=1, dport=2) / Raw(b"udp length short"))
    e, q, v = encrypt(s, pkt)
    G.add("natt udp length smaller than the ip payload", s, e[:24] + struct.pack(">H", len(e) - 20 - 4) + e[26:], None, q, None, v, "drop", None, reason="integrity",
          notes="the UDP length bounds the ESP packet, so the ICV is taken four octets early and fails; dropping the packet as malformed is as good")
    pkt = norm(v4(nat4) / UDP(sport=1, dport=2) / Raw(b"plain esp"))
    x = SecurityAssociation(ESP, spi=nat4.spi, crypt_algo="AES-GCM", crypt_key=nat4.key + nat4.salt)
    nat4.seq += 1
    iv = next_iv()
    G.add("protocol 50 packet for a udp-encapsulated sa", nat4, raw(x.encrypt(pkt, seq_num=nat4.seq, iv=iv)), raw(pkt), nat4.seq, None, iv, "either", None,
          notes="the ICV is right; whether an SA set up for UDP accepts bare ESP is policy")

    # ------------------------------------------------------------ must be dropped on the way in
    G = Group("drop", "Inbound frames that must not be delivered. reason names the counter that should move. Nothing of the plaintext may leave the gateway, and a packet whose ICV is wrong must not move the replay window. "
              "strength should = RFC 4303 says SHOULD, not MUST. expect_in either = both outcomes are conformant; the point is no crash and no wrong octets.")
    groups.append(G)

    def bad(name, change, reason="integrity", s=g128, pkt=None, expect="drop", frame=None, notes=None, producer=SCAPY, **more):
        p = norm(pkt if pkt is not None else (v4(s) if s.fam == 4 else v6(s)) / UDP(sport=7, dport=8) / Raw(b"must not get through"))
        e, q, v = encrypt(s, p)
        e2 = change(e) if change else e
        q = more.pop("wire_seq", lambda x: x)(q)
        G.add(name, s, e2, None, q, more.pop("hi", None), v, expect, None, reason=reason, producer=producer, notes=notes,
              esp_frame=frame(e2) if frame else None, **more)

    def flip(i, bit=1):
        def f(e):
            b = bytearray(e)
            b[i] ^= bit
            return bytes(b)
        return f

    bad("icv first octet flipped", flip(-16))
    bad("icv last octet flipped", flip(-1))
    bad("icv last bit of octet 9 flipped", flip(-8, 0x80), notes="caught only if more than the first 8 octets are compared")
    bad("icv all zero", lambda e: e[:-16] + b"\0" * 16)
    bad("ciphertext first octet flipped", flip(36))
    bad("ciphertext next header octet flipped", flip(-17, 0x11), notes="would turn next header UDP into another protocol")
    bad("iv flipped", flip(28))
    bad("sequence number flipped", flip(27), wire_seq=lambda x: x ^ 1, notes="the sequence number is in the AAD")
    bad("sequence number raised by 2^31", flip(24, 0x80), wire_seq=lambda x: x ^ 0x80000000, notes="must not move the window")
    bad("spi changed to another known sa", lambda e: e[:20] + struct.pack(">I", g192.spi) + e[24:])
    bad("icv 8 sa, icv flipped", flip(-1), s=icv8, producer=SCAPY + ", ICV cut to 8 octets")
    bad("icv 12 sa, icv flipped", flip(-1), s=icv12, producer=SCAPY + ", ICV cut to 12 octets")
    bad("icv cut to 12 on a 16 octet sa", lambda e: fix4(e[:20], 50, len(e) - 4) + e[20:-4], notes="a truncated tag must not verify")
    bad("icv cut to 8 on a 16 octet sa", lambda e: fix4(e[:20], 50, len(e) - 8) + e[20:-8])
    p = norm(v4(icv8) / UDP(sport=7, dport=8) / Raw(b"icv16 on icv8"))
    icv8.seq += 1
    iv = next_iv()
    e = seal_raw(icv8, pad(raw(p)[20:], 17), icv8.seq, iv, icv=16)
    G.add("icv of 16 on an 8 octet sa", icv8, ip_wrap(icv8, e), None, icv8.seq, None, iv, "drop", None, reason="integrity", producer=COMP)
    bad("chacha20-poly1305 icv flipped", flip(-1), s=chacha)
    bad("ipv6 icv flipped", flip(-1), s=g128v6)
    for al, s in (("gmac payload octet flipped", gmac), ("gmac iv flipped", gmac)):
        s.seq += 1
        iv = next_iv()
        p = raw(norm(v4(s) / UDP(sport=7, dport=8) / Raw(b"must not get through")))
        e = bytearray(seal_raw(s, pad(p[20:], 17), s.seq, iv))
        e[30 if "payload" in al else 9] ^= 1
        G.add(al, s, ip_wrap(s, bytes(e)), None, s.seq, None, iv, "drop", None, reason="integrity", producer=COMP)
    iiv.seq += 1
    p = raw(norm(v4(iiv) / UDP(sport=7, dport=8) / Raw(b"must not get through")))
    e = bytearray(seal_raw(iiv, pad(p[20:], 17), iiv.seq, b""))
    e[7] ^= 4
    G.add("implicit iv, sequence number changed", iiv, ip_wrap(iiv, bytes(e)), None, iiv.seq ^ 4, None, None, "drop", None, reason="integrity", producer=COMP)
    wk = SA("gcm128", 0x1001, "aes-gcm-128")
    wk.key = bytes(b ^ 0xFF for b in wk.key)
    g128.seq += 1
    iv = next_iv()
    p = norm(v4() / UDP(sport=7, dport=8) / Raw(b"other key"))
    e, _, _ = encrypt(wk, p, seq=g128.seq, iv=iv)
    G.add("sealed with another key", g128, e, None, g128.seq, None, iv, "drop", None, reason="integrity")
    wk = SA("gcm128", 0x1001, "aes-gcm-128")
    wk.salt = bytes(b ^ 0xFF for b in wk.salt)
    g128.seq += 1
    iv = next_iv()
    e, _, _ = encrypt(wk, p, seq=g128.seq, iv=iv)
    G.add("sealed with another salt", g128, e, None, g128.seq, None, iv, "drop", None, reason="integrity")
    iv = next_iv()
    e, _, _ = encrypt(esn0, norm(v4() / UDP(sport=7, dport=8) / Raw(b"hi 1 not 0")), seq=20, iv=iv, hi=1)
    G.add("esn sealed with hi 1, receiver is at hi 0", esn0, e, None, 20, 1, iv, "drop", None, reason="integrity", last_seq="0000000000000010",
          notes="the receiver works out hi 0 from last_seq and the ICV fails; it may not try other high halves")
    iv = next_iv()
    noesn = SA("x", esn0.spi, "aes-gcm-128")
    noesn.key, noesn.salt = esn0.key, esn0.salt
    e, _, _ = encrypt(noesn, norm(v4() / UDP(sport=7, dport=8) / Raw(b"no esn in aad")), seq=21, iv=iv)
    G.add("sealed without esn for an esn sa", esn0, e, None, 21, None, iv, "drop", None, reason="integrity", last_seq="0000000000000010")

    # SPI
    def spi_case(name, spi, reason, notes=None):
        iv = next_iv()
        p = raw(norm(v4() / UDP(sport=7, dport=8) / Raw(b"spi")))
        e = seal_scapy(g128, p[20:], 17, 500, iv, spi=spi)
        G.add(name, g128, ip_wrap(g128, e), None, 500, None, iv, "drop", None, reason=reason, spi=spi, notes=notes)

    spi_case("spi 0", 0, "reserved-spi", "RFC 4303 2.1: 0 never goes on the wire; the ICV is right for the key of sa gcm128")
    spi_case("spi 1", 1, "reserved-spi", "1..255 are reserved by IANA; counting it as an unknown SPI is as good")
    spi_case("spi 255", 255, "reserved-spi", "as spi 1")
    spi_case("spi unknown", 0xDEADBEEF, "unknown-spi", "RFC 4303 3.4.2: auditable, SPI, addresses and sequence number go to the log")
    spi_case("spi known with octets swapped", 0x01100000, "unknown-spi")

    # selectors
    bad("known spi, other source address", lambda e: fix4(e[:12] + bytes([203, 0, 113, 99]) + e[16:20], 50, len(e)) + e[20:], "selector",
        notes="the ICV is right (the IP header is not covered). Transport mode: addresses must match the SA's selectors (RFC 4301 5.2)")
    bad("known spi, other destination address", lambda e: fix4(e[:16] + bytes([203, 0, 113, 98]), 50, len(e)) + e[20:], "selector")
    bad("ipv4 sa used over ipv6", lambda e: raw(IPv6(src=A6, dst=B6, nh=50, plen=len(e) - 20, hlim=64)) + e[20:], "selector",
        notes="the ICV is right; the SA is for IPv4")

    # truncation: the IP length agrees with the frame
    for n in (0, 1, 3, 4, 7, 8, 12, 15, 16, 20, 24, 31):
        bad("esp cut to %d octets" % n, lambda e, n=n: fix4(e[:20], 50, 20 + n) + e[20:20 + n], "malformed",
            notes="8 octets hold SPI and sequence number, 16 the IV too, 32 the ICV too")
    for n in (0, 8, 16):
        bad("ipv6 esp cut to %d octets" % n, lambda e, n=n: e[:4] + struct.pack(">H", n) + e[6:40 + n], "malformed", s=g128v6)
    for n in (0, 1):
        g128.seq += 1
        iv = next_iv()
        e = seal_raw(g128, b"\x11"[:n], g128.seq, iv)
        G.add("valid icv over %d octets of plaintext" % n, g128, ip_wrap(g128, e), None, g128.seq, None, iv, "drop", None, reason="malformed",
              producer=COMP, notes="the ICV is right but there is no room for pad length and next header")
    g128.seq += 1
    iv = next_iv()
    e = seal_raw(g128, b"\x00\x11", g128.seq, iv)
    G.add("valid icv over 2 octets of plaintext", g128, ip_wrap(g128, e), None, g128.seq, None, iv, "either", None, producer=COMP,
          notes="pad length 0, next header 17, empty payload, not aligned to 4 octets (a sender must align, RFC 4303 2.4): drop or deliver an empty payload")
    bad("frame shorter than the ip total length", None, "malformed", frame=lambda e: eth(e)[:-20], notes="20 octets are missing from the frame")
    bad("ipv6 frame shorter than the payload length", None, "malformed", s=g128v6, frame=lambda e: eth(e)[:-20])

    # trailer faults, ICV right
    def trail(name, pt, expect="drop", reason="malformed", notes=None, plain=None, **more):
        g128.seq += 1
        iv = next_iv()
        e = seal_raw(g128, pt, g128.seq, iv)
        G.add(name, g128, ip_wrap(g128, e, id=0x1234), plain, g128.seq, None, iv, expect, None, reason=reason, producer=COMP, notes=notes, **more)

    u = raw(norm(v4() / UDP(sport=7, dport=8) / Raw(b"trailer")))[20:]  # 15 octets
    trail("pad octet wrong: 0", u + b"\0\0\0\x03\x11", reason="bad-padding", notes="RFC 4303 2.4: a receiver SHOULD inspect the padding", strength="should")
    trail("pad octet wrong: 1 2 2", u + b"\1\2\2\x03\x11", reason="bad-padding", strength="should")
    trail("pad octet wrong: 0 1 2", u + b"\0\1\2\x03\x11", reason="bad-padding", notes="counting from 0 instead of 1", strength="should")
    trail("pad octet wrong: only the last of 255", u + bytes(range(1, 255)) + b"\0" + b"\xff\x11", reason="bad-padding", strength="should")
    trail("pad length one more than there is", b"\1\2\3\4\5\6" + b"\x07\x11", notes="6 octets in front of the trailer, pad length 7")
    trail("pad length 255 on an empty payload", b"\xff\x11")
    trail("pad length 255 on 2 octets", b"\1\2\xff\x11")
    trail("pad length 16 on 14 octets", bytes(range(1, 15)) + b"\x10\x11")
    trail("pad length takes the whole payload", bytes(range(1, 15)) + b"\x0e\x11", expect="decrypt", reason=None,
          plain=fix4(raw(IP(src=A4, dst=B4, id=0x1234, ttl=64, proto=17)), 17, 20),
          notes="legal: 14 octets of right padding and an empty UDP payload. The result is a bare IPv4 header")

    # dummy packets
    for nm, data in (("with 40 octets of data", body(40)), ("with empty payload", b"")):
        g128.seq += 1
        iv = next_iv()
        e = seal_scapy(g128, data, 59, g128.seq, iv)
        G.add("dummy packet, next header 59, %s" % nm, g128, ip_wrap(g128, e), None, g128.seq, None, iv, "discard-dummy", None,
              advances_window=True, notes="RFC 4303 2.6: verify, count, discard without an error; the sequence number counts as received")
    g128v6.seq += 1
    iv = next_iv()
    e = seal_scapy(g128v6, body(33), 59, g128v6.seq, iv)
    G.add("dummy packet over ipv6", g128v6, ip_wrap(g128v6, e), None, g128v6.seq, None, iv, "discard-dummy", None, advances_window=True)
    g128.seq += 1
    iv = next_iv()
    e = bytearray(seal_scapy(g128, body(40), 59, g128.seq, iv))
    e[-1] ^= 1
    G.add("dummy packet with a wrong icv", g128, ip_wrap(g128, bytes(e)), None, g128.seq, None, iv, "drop", None, reason="integrity")

    # fragments of ESP packets
    def frag4(off, mf):
        def f(e):
            h = bytearray(e[:20])
            h[6:8] = struct.pack(">H", (0x2000 if mf else 0) | off // 8)
            return fix4(bytes(h), 50, len(e)) + e[20:]
        return f

    fn = "RFC 4303 3.4.1: reassembly comes before ESP; what still looks like a fragment is discarded and audited"
    bad("ipv4 esp, more fragments set", frag4(0, True), "fragment", notes=fn + ". The ESP packet inside is whole and its ICV is right")
    bad("ipv4 esp, fragment offset 8", frag4(8, False), "fragment", notes=fn)
    bad("ipv4 esp, offset and more fragments", frag4(1480, True), "fragment", notes=fn)

    def frag6(off, m):
        def f(e):
            return e[:4] + struct.pack(">HB", len(e) - 40 + 8, 44) + e[7:40] + struct.pack(">BBHI", 50, 0, off | m, 0x01020304) + e[40:]
        return f

    bad("ipv6 esp behind a fragment header, m set", frag6(0, 1), "fragment", s=g128v6, notes=fn)
    bad("ipv6 esp behind a fragment header, offset 8", frag6(8, 0), "fragment", s=g128v6, notes=fn)
    bad("ipv6 atomic fragment", frag6(0, 0), None, s=g128v6, expect="either", notes="offset 0, m 0 (RFC 6946): a whole packet; deliver or drop")

    # IP header faults
    bad("ipv4 header checksum wrong", flip(10), "bad-ip")
    bad("ipv4 version 5", lambda e: b"\x55" + e[1:], "bad-ip", frame=lambda e: eth(e, etype=0x0800))
    bad("ipv4 ihl 4", lambda e: b"\x44" + e[1:], "bad-ip")
    bad("ipv4 ihl 15 into the esp packet", lambda e: fix4(b"\x4f" + e[1:60], 50, len(e)) + e[60:], "unknown-spi",
        notes="the header claims 40 octets of options, which are ESP octets; the checksum is right, so the ESP packet starts 40 octets late. bad-ip or malformed are as good a reason")
    bad("ipv4 total length 19", lambda e: fix4(e[:20], 50, 19) + e[20:], "bad-ip")
    bad("ipv4 total length 20", lambda e: fix4(e[:20], 50, 20) + e[20:], "malformed", notes="no ESP octets inside the datagram, though the frame has them")
    bad("ipv4 packet in an ipv6 frame", None, "bad-ip", frame=lambda e: eth(e, etype=0x86DD))
    bad("ipv6 packet in an ipv4 frame", None, "bad-ip", s=g128v6, frame=lambda e: eth(e, etype=0x0800))
    bad("ipv6 payload length 0", lambda e: e[:4] + b"\0\0" + e[6:], "malformed", s=g128v6)

    def ext(nh, hdr):
        return lambda e: e[:4] + struct.pack(">HB", len(e) - 40 + len(hdr), nh) + e[7:40] + hdr + e[40:]

    bad("ipv6 dest options longer than the packet", ext(60, bytes([50, 255, 1, 4, 0, 0, 0, 0])), "bad-ip", s=g128v6, notes="header extension length 255")
    bad("ipv6 hop-by-hop not first", ext(60, bytes([0, 0, 1, 4, 0, 0, 0, 0]) + bytes([50, 0, 1, 4, 0, 0, 0, 0])), None, s=g128v6, expect="either",
        notes="RFC 8200 4.1: hop-by-hop only right behind the IPv6 header; drop is usual")
    bad("ipv6 twenty dest options headers", ext(60, bytes([60, 0, 1, 4, 0, 0, 0, 0]) * 19 + bytes([50, 0, 1, 4, 0, 0, 0, 0])), None, s=g128v6, expect="either",
        notes="a bound on the header chain is fine; a loop without a bound is not")
    bad("ipv6 no next header behind the ipv6 header", lambda e: e[:6] + b"\x3b" + e[7:], "not-esp", s=g128v6, notes="next header 59 in front of what would be ESP: there is no ESP here")
    # sequence number 0
    iv = next_iv()
    p = raw(norm(v4() / UDP(sport=7, dport=8) / Raw(b"seq 0")))
    e = seal_scapy(g128, p[20:], 17, 0, iv)
    G.add("sequence number 0, icv right", g128, ip_wrap(g128, e), None, 0, None, iv, "drop", None, reason="replay",
          notes="the first packet of an SA has number 1 (RFC 4303 2.2); the RFC 6479 check rejects 0")

    # ------------------------------------------------------------ outbound, not to be sealed as it is
    G = Group("outbound", "Plain frames that must not leave as they are in ESP transport mode. expect_out: no-esp = never an ESP packet made from this frame alone (drop it, or reassemble first); "
              "too-big = sealing it gives more than 1500 octets; drop = not a valid packet; not-ip = no IP packet, never ESP.")
    groups.append(G)

    def plain(name, frame, expect, reason=None, notes=None, s=None):
        G.add(name, s, None, None, None, None, None, None, expect, reason=reason, plain_frame=frame, producer=SCAPY, notes=notes)

    rf = "RFC 4303 3.3.4: transport mode ESP is applied to whole datagrams only"
    whole = raw(norm(v4() / UDP(sport=1, dport=2) / Raw(body(2000))))
    for off, ln, mf, nm in ((0, 1480, 1, "first"), (1480, 528, 0, "last"), (720, 720, 1, "middle")):
        h = bytearray(whole[:20])
        h[6:8] = struct.pack(">H", (0x2000 if mf else 0) | off // 8)
        d = whole[20 + off:20 + off + ln]
        plain("ipv4 %s fragment" % nm, eth(fix4(bytes(h), 17, 20 + len(d)) + d), "no-esp", "fragment", rf, g128)
    h = bytearray(whole[:20])
    h[6:8] = struct.pack(">H", 0x2000)
    plain("ipv4 first fragment of 8 octets", eth(fix4(bytes(h), 17, 28) + whole[20:28]), "no-esp", "fragment", rf, g128)
    w6 = raw(norm(v6() / UDP(sport=1, dport=2) / Raw(body(2000))))
    for off, ln, m, nm in ((0, 1432, 1, "first"), (1432, 576, 0, "last")):
        d = struct.pack(">BBHI", 17, 0, off | m, 0xCAFE) + w6[40 + off:40 + off + ln]
        plain("ipv6 %s fragment" % nm, eth(w6[:4] + struct.pack(">HB", len(d), 44) + w6[7:40] + d), "no-esp", "fragment", rf, g128v6)
    plain("ipv4 1500 octets, df set", eth(raw(norm(v4(flags="DF") / UDP(sport=1, dport=2) / Raw(body(1472))))), "too-big",
          "mtu", "ICMP type 3 code 4 to the sender with an MTU that leaves room for ESP, or a counted drop; never a 1536 octet frame on a 1500 octet link", g128)
    plain("ipv4 1500 octets, df clear", eth(raw(norm(v4() / UDP(sport=1, dport=2) / Raw(body(1472))))), "too-big",
          "mtu", "RFC 4303 3.3.4: seal, then fragment the ESP packet; or a counted drop", g128)
    plain("ipv4 udp data 1439, one octet too many", eth(raw(norm(v4(flags="DF") / UDP(sport=1, dport=2) / Raw(body(1439))))), "too-big", "mtu",
          "the neighbour of the 1438 case in transport.json: padding makes it 1504", g128)
    plain("ipv6 1500 octets", eth(raw(norm(v6() / UDP(sport=1, dport=2) / Raw(body(1452))))), "too-big", "mtu", "ICMPv6 packet too big, or a counted drop", g128v6)
    p = raw(norm(v4() / UDP(sport=1, dport=2) / Raw(b"checksum")))
    plain("ipv4 header checksum wrong", eth(p[:10] + bytes([p[10] ^ 1]) + p[11:]), "drop", "bad-ip", None, g128)
    plain("ipv4 total length 19", eth(fix4(p[:20], 17, 19) + p[20:]), "drop", "bad-ip", None, g128)
    plain("ipv4 total length beyond the frame", eth(fix4(p[:20], 17, len(p) + 100) + p[20:]), "drop", "bad-ip", None, g128)
    plain("ipv4 ihl 4", eth(b"\x44" + p[1:]), "drop", "bad-ip", None, g128)
    plain("ipv4 header cut to 12 octets", eth(p[:12]), "drop", "bad-ip", None, g128)
    p6 = raw(norm(v6() / UDP(sport=1, dport=2) / Raw(b"six")))
    plain("ipv6 payload length beyond the frame", eth(p6[:4] + struct.pack(">H", 1000) + p6[6:]), "drop", "bad-ip", None, g128v6)
    plain("ipv6 header cut to 39 octets", eth(p6[:39]), "drop", "bad-ip", None, g128v6)
    plain("ethernet header only", eth(b"", etype=0x0800), "drop", "bad-ip")
    plain("ethernet frame of 13 octets", eth(b"", etype=0x0800)[:13], "drop", "bad-ip")
    plain("vlan tag cut off", eth(b"", ((0x8100, 100),), etype=0x0800)[:16], "drop", "bad-ip")
    plain("arp request", b"\xff" * 6 + MAC_A + bytes.fromhex("0806000108000604000102000000000100000000") + b"\0" * 6 + bytes([198, 51, 100, 2]), "not-ip")
    plain("lldp", bytes.fromhex("0180c200000e") + MAC_A + bytes.fromhex("88cc0207040200000000010403020000060200780000"), "not-ip")
    plain("ipv6 neighbour solicitation", eth(raw(norm(IPv6(src="fe80::1", dst="ff02::1:ff00:2", hlim=255) / ICMPv6ND_NS(tgt="fe80::2")))), "no-esp", "policy",
          "link-local neighbour discovery has to pass outside the SAs of this file, or the link does not come up")

    # ------------------------------------------------------------ replay streams
    G = Group("replay", "Streams in frame order, one SA per stream. window is the size W; with highest accepted number T, RFC 4303 accepts T-W+1..T when not seen before. "
              "The sample code of RFC 6479 also accepts T-W: that one number is marked either.")
    groups.append(G)

    def stream(s, w, seqs, state=None, flipper=None):
        for i, row in enumerate(seqs):
            q, exp, why = row[0], row[1], row[2] if len(row) > 2 else None
            forge = len(row) > 3 and row[3]
            why_old = "integrity" if len(row) > 4 else None
            hi, lo = (q >> 32, q & 0xFFFFFFFF) if s.esn else (None, q)
            iv = next_iv()
            p = raw(norm(v4(s) / UDP(sport=1, dport=2) / Raw(b"%s %d" % (s.name.encode(), i))))
            e = bytearray(seal_scapy(s, p[20:], 17, lo, iv, hi=hi or 0))
            if forge:
                e[-1] ^= 1
            e = fix4(p[:20], 50, 20 + len(e)) + bytes(e)
            more = {"stream": s.name, "step": i + 1, "window": w}
            if i == 0 and state is not None:
                more["last_seq"] = state
            G.add("%s step %d" % (s.name, i + 1), s, e, p if exp == "decrypt" else None, lo, hi, iv, exp, None,
                  reason=None if exp != "drop" else ("integrity" if forge else why_old or "replay"), notes=why, **more)

    D, R, E = "decrypt", "drop", "either"
    stream(rep64, 64, [(1, D), (1, R, "duplicate of the first"), (3, D, "gap"), (2, D, "fills the gap"), (2, R), (3, R), (100, D, "window is now 37..100"),
                       (37, D, "T-W+1, the lowest inside"), (37, R, "duplicate at the edge"), (36, E, "T-W"), (35, R, "left of the window"), (3, R), (99, D), (99, R),
                       (163, D, "T moves by 63: window 100..163"), (100, R, "seen before, now the left edge"), (101, D), (228, D, "moves by 65, more than the window: 165..228"),
                       (165, D), (163, R), (164, E, "T-W"), (1 << 31, D, "a large jump"), ((1 << 31) - 63, D, "the lowest inside"), (229, R)])
    stream(rep256, 256, [(1, D), (256, D), (2, D), (1, R), (257, D, "window 2..257"), (2, R), (3, D), (64, D), (65, D), (127, D), (128, D), (128, R), (320, D, "window 65..320"),
                         (66, D), (65, R), (64, R, "T-W, and seen before"), (63, R), (321 + 256, D, "window 322..577, all of it new"), (322, D), (320, R), (448, D), (448, R), (577, R)])
    stream(rep1024, 1024, [(5000, D, "first packet far from 1"), (3977, D, "T-W+1"), (3976, E, "T-W"), (3975, R), (4999, D), (4999, R), (5001, D), (5000, R), (5001 + 1023, D, "window 5001..6024"),
                           (5001, R), (5002, D), (5000, R, "T-W, and seen before"), (6025 + 1024, D, "window 6026..7049"), (6026, D), (6024, R), (7049, R), (7050, D)])
    stream(repend, 64, [(0xFFFFFFF0, D), (0xFFFFFFFF, D), (0, R, "the counter may not cycle"), (1, R, "without ESN 1 is far left of the window"), (0xFFFFFFC0, D, "T-W+1"), (0xFFFFFFBF, E, "T-W"), (0xFFFFFFFF, R)])
    H1 = 1 << 32
    stream(repesn, 64, [(0xFFFFFFF1, D), (0xFFFFFFFE, D), (H1 + 0, D, "low half 0, high half goes to 1"), (0xFFFFFFFF, D, "late, from before the rollover: the receiver must use high half 0"),
                        (0xFFFFFFFF, R), (H1 + 0, R), (H1 + 10, D, "window 0xffffffcb..0x10000000a"), (0xFFFFFFCB, D, "T-W+1, in the old half"), (0xFFFFFFF1, R),
                        (0xFFFFFFC9, R, "left of the window: RFC 4303 appendix A reads it as high half 1, and the ICV fails", False, True), (H1 + 200, D, "window 0x100000089..0x1000000c8"),
                        (H1 + 137, D, "T-W+1"), (H1 + 10, R, "left of the window: read as high half 2, and the ICV fails", False, True),
                        (0xFFFFFFFE, R, "read as high half 1, and the ICV fails", False, True)], state="00000000fffffff0")
    stream(repforge, 64, [(1, D), (1000, R, "forged: wrong ICV, must not move the window", True), (2, D, "still inside"), (0xFFFFFFFF, R, "forged", True), (3, D),
                          (50, R, "forged: must not mark 50 as seen", True), (50, D, "the real 50"), (50, R), (4, R, "forged copy of a new number", True), (4, D)])

    for g in groups:
        g.write(out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
