#!/usr/bin/env python3
"""Opens a capture of ESP packets with python3-cryptography and verifies every one.

usage: scripts/vectors/check-pcap.py [-k] [-D] [-n N] PCAP SA [SA]...

  SA   SPI,ALG,KEY,SALT[,option]...     hex KEY and SALT; options:
         icv=8|12|16   ICV length (default 16)
         esn=HIGH      extended sequence numbers, first packet has high half HIGH
                       (it goes up by one when the low half falls by 2^31 or more)
         iiv           implicit IV, RFC 8750
       ALG: aes-gcm, aes-gmac or chacha20-poly1305 (a key size may follow, as aes-gcm-128)
  -k   skip frames that are not ESP or have another SPI (default: BAD)
  -D   allow a repeated IV or sequence number (default: BAD)
  -n   exactly N packets must be OK

For what tshark 4.0 cannot verify: ESN, ChaCha20-Poly1305, AES-GMAC, implicit
IV.  Output and exit status are those of check-with-tshark.sh.  Classic pcap
with micro- or nanosecond timestamps, Ethernet.
"""
import argparse
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cryptography.exceptions import InvalidTag  # noqa: E402
from verify import csum, esp_open, hb, trailer  # noqa: E402


def pcap(path):
    b = open(path, "rb").read()
    if len(b) < 24:
        sys.exit(2)
    end = {0xA1B2C3D4: "<", 0xA1B23C4D: "<", 0xD4C3B2A1: ">", 0x4D3CB2A1: ">"}.get(struct.unpack("<I", b[:4])[0])
    if end is None:
        print("check-pcap: not a pcap file", file=sys.stderr)
        sys.exit(2)
    o = 24
    while o < len(b):
        n = struct.unpack(end + "I", b[o + 8:o + 12])[0] if o + 16 <= len(b) else len(b)
        if o + 16 + n > len(b):
            print("check-pcap: the file is cut in the middle of a packet", file=sys.stderr)
            sys.exit(2)
        yield b[o + 16:o + 16 + n]
        o += 16 + n


def find(f):
    """frame -> ESP octets or None, and what is wrong with the outer header"""
    o = 12
    while f[o:o + 2] in (b"\x81\x00", b"\x88\xa8"):
        o += 4
    p = f[o + 2:]
    if f[o:o + 2] == b"\x08\x00" and len(p) >= 20:
        h, tl = (p[0] & 15) * 4, struct.unpack(">H", p[2:4])[0]
        why = "IPv4 header checksum wrong" if csum(p[:h]) else None
        if struct.unpack(">H", p[6:8])[0] & 0x3FFF:
            why = "outer packet is a fragment"
        if tl > len(p):
            why = "IPv4 total length beyond the frame"
        nh, x = p[9], p[h:tl]
    elif f[o:o + 2] == b"\x86\xdd" and len(p) >= 40:
        pl, why, nh, k = struct.unpack(">H", p[4:6])[0], None, p[6], 40
        if 40 + pl > len(p):
            why = "IPv6 payload length beyond the frame"
        p = p[:40 + pl]
        while nh in (0, 43, 44, 60) and len(p) >= k + 8:
            if nh == 44:
                why = "outer packet is a fragment"
            nh, k = p[k], k + (8 if nh == 44 else 8 * (p[k + 1] + 1))
        x = p[k:]
    else:
        return None, None
    if nh == 17 and x[2:4] == b"\x11\x94" and x[8:12] != b"\0" * 4 and len(x) > 12:
        if struct.unpack(">H", x[4:6])[0] != len(x):
            why = "UDP length"
        return x[8:], why
    return (x, why) if nh == 50 else (None, None)


def addresses(f):
    """Source and destination octets of the IP header behind Ethernet and its VLAN tags."""
    k = 12
    while f[k : k + 2] in (b"\x81\x00", b"\x88\xa8"):
        k += 4
    p = f[k + 2 :]
    return p[12:20] if p[0] >> 4 == 4 else p[8:40]


def main():
    a = argparse.ArgumentParser(usage=__doc__)
    a.add_argument("-k", action="store_true")
    a.add_argument("-D", action="store_true")
    a.add_argument("-n", type=int)
    a.add_argument("pcap")
    a.add_argument("sa", nargs="+")
    a = a.parse_args()
    sad = {}
    for t in a.sa:
        spi, alg, key, salt, *opt = t.split(",")
        s = {"alg": alg, "key": hb(key), "salt": hb(salt), "icv": 16, "hi": None, "iiv": False}
        for x in opt:
            k, _, v = x.partition("=")
            if k == "icv":
                s["icv"] = int(v)
            elif k == "esn":
                s["hi"] = int(v, 0)
            elif k == "iiv":
                s["iiv"] = True
            else:
                a.error("option " + x)
        sad[int(spi, 0)] = s
    n = {"OK": 0, "BAD": 0, "SKIP": 0}
    flows, ivs = {}, {}  # by addresses and SPI; by key: SAs that share a key must not share an IV

    def check(i, f):
        x, why = find(f)
        if x is None or len(x) < 8:
            return "-", "-", "SKIP" if a.k else "BAD", "not ESP"
        spi, seq = struct.unpack(">II", x[:8])
        s = sad.get(spi)
        r = "0x%08x" % spi, seq
        if s is None:
            return *r, "SKIP" if a.k else "BAD", "no key for this SPI"
        if why:
            return *r, "BAD", why
        if len(x) < (8 if s["iiv"] else 16) + s["icv"]:
            return *r, "BAD", "truncated"
        flow = flows.setdefault((addresses(f), spi), {"hi": s["hi"], "last": None, "sequence number": {}})
        hi = flow["hi"]
        if hi is not None and flow["last"] is not None and flow["last"] - seq >= 1 << 31:
            hi += 1
        try:
            pt = esp_open(s["alg"], s["key"], s["salt"], x, s["icv"], hi, s["iiv"])
        except InvalidTag:
            return *r, "BAD", "ICV wrong"
        flow["hi"], flow["last"] = hi, seq
        t = trailer(pt)
        if t is None or len(pt) % 4:
            return *r, "BAD", "trailer malformed"
        if not t[3]:
            return *r, "BAD", "padding is not 1 2 3 ..."
        if not seq and not hi:
            return *r, "BAD", "sequence number 0"
        iv = None if s["iiv"] else x[8:16]
        for k, v, seen in (("IV", iv, ivs.setdefault((s["key"], s["salt"]), {})), ("sequence number", (hi, seq), flow["sequence number"])):
            if v is not None and not a.D:
                if v in seen:
                    return *r, "BAD", "%s already used in frame %d" % (k, seen[v])
                seen[v] = i
        return *r, "OK", "next header %d" % t[2]

    for i, f in enumerate(pcap(a.pcap), 1):
        spi, seq, verdict, why = check(i, f)
        n[verdict] += 1
        print("frame %d spi %s seq %s %s %s" % (i, spi, seq, verdict, why))
    print("%d OK, %d BAD, %d skipped" % (n["OK"], n["BAD"], n["SKIP"]))
    if n["BAD"] or not n["OK"] or (a.n is not None and n["OK"] != a.n):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
