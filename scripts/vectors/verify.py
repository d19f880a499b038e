#!/usr/bin/env python3
"""Recomputes test vectors with python3-cryptography.

usage: scripts/vectors/verify.py [DIR]

DIR may hold aead/, esp/ and scapy/ (default: ipsec/esp/testdata); what is not there is left out.

scapy is not used here.  For the packets under scapy/ this file carries a small
receiver after RFC 4303 (SPI look-up, fragments, sequence number reconstruction,
anti-replay, ICV, trailer) and checks that it comes to the outcome written in
the JSON.  Exit status 1 if anything differs.
"""
import json
import os
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

BAD = []
hb = bytes.fromhex


def fault(*a):
    BAD.append(a)
    print("FAULT", *a)


def gcm_dec(key, nonce, aad, ct, tag):
    d = Cipher(algorithms.AES(key), modes.GCM(nonce, tag, min_tag_length=min(len(tag), 16))).decryptor()
    d.authenticate_additional_data(aad)
    return d.update(ct) + d.finalize()


def gcm_enc(key, nonce, aad, pt):
    e = Cipher(algorithms.AES(key), modes.GCM(nonce)).encryptor()
    e.authenticate_additional_data(aad)
    ct = e.update(pt) + e.finalize()
    return ct, e.tag


# ------------------------------------------------------------------ ESP
def esp_open(alg, key, salt, esp, icv, hi, iiv=False):
    h = 8 if iiv else 16
    head, iv = esp[:8], esp[8:16]
    bodyb, tag = esp[h:len(esp) - icv], esp[len(esp) - icv:]
    aad = head if hi is None else head[:4] + struct.pack(">I", hi) + head[4:]
    nonce = salt + (struct.pack(">I", hi or 0) + head[4:8] if iiv else iv)
    if alg.startswith("aes-gcm"):
        return gcm_dec(key, nonce, aad, bodyb, tag)
    if alg.startswith("aes-gmac"):
        gcm_dec(key, nonce, aad + iv + bodyb, b"", tag)
        return bodyb
    return ChaCha20Poly1305(key).decrypt(nonce, bodyb + tag, aad)


def esp_seal(alg, key, salt, spi, seq, hi, iv, pt, icv, iiv=False):
    head = spi + struct.pack(">I", seq)
    aad = head if hi is None else spi + struct.pack(">I", hi) + head[4:]
    nonce = salt + (struct.pack(">II", hi or 0, seq) if iiv else iv)
    carried = b"" if iiv else iv
    if alg.startswith("aes-gcm"):
        ct, tag = gcm_enc(key, nonce, aad, pt)
        return head + carried + ct + tag[:icv]
    if alg.startswith("aes-gmac"):
        _, tag = gcm_enc(key, nonce, aad + iv + pt, b"")
        return head + carried + pt + tag[:icv]
    return head + carried + ChaCha20Poly1305(key).encrypt(nonce, pt, aad)


def trailer(pt):
    """-> payload, pad length, next header, padding is 1 2 3 ..., or None"""
    if len(pt) < 2 or pt[-2] + 2 > len(pt):
        return None
    n = pt[-2]
    p = len(pt) - 2 - n
    return pt[:p], n, pt[-1], pt[p:p + n] == bytes(range(1, n + 1))


def csum(b):
    if len(b) % 2:
        b += b"\0"
    t = sum(struct.unpack(">%dH" % (len(b) // 2), b))
    while t >> 16:
        t = (t & 0xFFFF) + (t >> 16)
    return ~t & 0xFFFF


# ------------------------------------------------------------------ raw AEAD files
def check_wycheproof(root):
    for fn in sorted(os.listdir(root)):
        if not fn.endswith(".json"):
            continue
        d = json.load(open(os.path.join(root, fn)))
        n = skipped = 0
        for g in d["testGroups"]:
            for t in g["tests"]:
                key, iv, tag = hb(t["key"]), hb(t["iv"]), hb(t["tag"])
                if "gmac" in fn:
                    aad, pt, ct = hb(t["msg"]), b"", b""
                else:
                    aad, pt, ct = hb(t["aad"]), hb(t["msg"]), hb(t["ct"])
                if not 8 <= len(iv) <= 128 and "chacha" not in fn:  # refused by the library
                    skipped += 1
                    continue
                try:
                    if "chacha" in fn:
                        if len(iv) != 12:
                            if t["result"] != "invalid":
                                fault(fn, t["tcId"])
                            skipped += 1
                            continue
                        ok = ChaCha20Poly1305(key).decrypt(iv, ct + tag, aad) == pt
                    else:
                        ok = gcm_dec(key, iv, aad, ct, tag) == pt
                except InvalidTag:
                    ok = False
                n += 1
                if ok != (t["result"] != "invalid"):
                    fault(fn, t["tcId"], t["result"], ok)
        print("%-52s %5d recomputed, %d with a nonce size the library refuses" % (fn, n, skipped))


def check_nist(path):
    d = json.load(open(path))
    for i, t in enumerate(d["tests"]):
        key, iv, aad, ct, tag = (hb(t[k]) for k in ("key", "iv", "aad", "ct", "tag"))
        try:
            pt = gcm_dec(key, iv, aad, ct, tag)
            ok = True
        except InvalidTag:
            ok = False
        if ok == bool(t.get("fail")) or (ok and pt != hb(t["pt"])):
            fault(path, i)
        if ok:
            c, g = gcm_enc(key, iv, aad, pt)
            if c != ct or g[:len(tag)] != tag:
                fault(path, i, "encrypt")
    print("%-52s %5d recomputed" % (os.path.basename(path), len(d["tests"])))


def check_strongswan(path):
    d = json.load(open(path))
    for t in d["tests"]:
        key, n, aad, pt, ct, tag = hb(t["key"]), hb(t["salt"] + t["iv"]), hb(t["aad"]), hb(t["pt"]), hb(t["ct"]), hb(t["tag"])
        if t["alg"].startswith("chacha"):
            x = ChaCha20Poly1305(key).encrypt(n, pt, aad)
            c, g = x[:-16], x[-16:]
        else:
            c, g = gcm_enc(key, n, aad, pt)
        if c != ct or g[:t["icv_len"]] != tag or len(tag) != t["icv_len"]:
            fault(path, t["name"])
    print("%-52s %5d recomputed" % (os.path.basename(path), len(d["tests"])))


# ------------------------------------------------------------------ ESP packets from elsewhere
def check_esp(path):
    d = json.load(open(path))
    notes = []
    for t in d["tests"]:
        key, salt, esp = hb(t["key"]), hb(t["salt"]), hb(t["esp"])
        if esp[:4].hex() != t["spi"] or struct.unpack(">I", esp[4:8])[0] != t["seq"] or esp[8:16].hex() != t["iv"]:
            fault(path, t["name"], "header fields")
        try:
            pt = esp_open(t["alg"], key, salt, esp, t["icv_len"], t["esn_hi"])
        except InvalidTag:
            if t["expect"] != "drop" or t["icv_valid"]:
                fault(path, t["name"], "icv")
            continue
        if t["expect"] != "decrypt" or not t["icv_valid"] or pt.hex() != t["esp_plaintext"]:
            fault(path, t["name"], "plaintext")
        if esp_seal(t["alg"], key, salt, esp[:4], t["seq"], t["esn_hi"], esp[8:16], pt, t["icv_len"]) != esp:
            fault(path, t["name"], "seal")
        tr = trailer(pt)
        if t["trailer_valid"] != bool(tr and tr[3] and len(pt) % 4 == 0):
            fault(path, t["name"], "trailer")
        if t["plaintext_packet"] and tr:
            p = hb(t["plaintext_packet"])
            if t["mode"] == "transport" and p[0] >> 4 == 4:
                p = p[(p[0] & 15) * 4:]
            if tr[0] != p:
                fault(path, t["name"], "payload is not plaintext_packet")
        if t["esp_packet"]:
            o = hb(t["esp_packet"])
            if o[0] >> 4 == 4 and csum(o[:(o[0] & 15) * 4]):
                notes.append(t["name"] + ": outer IPv4 checksum wrong")
            if not o.endswith(esp):
                fault(path, t["name"], "esp_packet")
    print("%-52s %5d recomputed %s" % (os.path.basename(path), len(d["tests"]), "; ".join(notes)))


# ------------------------------------------------------------------ scapy/
def pcap(path):
    b = open(path, "rb").read()
    assert struct.unpack("<I", b[:4])[0] == 0xA1B2C3D4
    o, r = 24, []
    while o < len(b):
        n = struct.unpack("<I", b[o + 8:o + 12])[0]
        r.append(b[o + 16:o + 16 + n])
        o += 16 + n
    return r


ICV_RIGHT = ("selector", "fragment", "bad-padding", "replay", "reserved-spi", "mode-mismatch", "malformed-inner")


class Drop(Exception):
    pass


class Receiver:
    """Inbound processing of one SA set, RFC 4303 section 3.4."""

    def __init__(self, sas):
        self.sad = {s["spi"]: s for s in sas}
        self.win = {}

    def l2(self, f):
        o = 12
        while True:
            if len(f) < o + 2:
                raise Drop("bad-ip")
            t = struct.unpack(">H", f[o:o + 2])[0]
            o += 2
            if t in (0x8100, 0x88A8):
                o += 2
                continue
            return t, f[o:]

    def frame(self, f, last_seq=None, window=64):
        t, p = self.l2(f)
        if t == 0x0800:
            if len(p) < 20 or p[0] >> 4 != 4 or p[0] & 15 < 5:
                raise Drop("bad-ip")
            h = (p[0] & 15) * 4
            tl = struct.unpack(">H", p[2:4])[0]
            if tl < h:
                raise Drop("bad-ip")
            if tl > len(p):
                raise Drop("malformed")
            if csum(p[:h]):
                raise Drop("bad-ip")
            p = p[:tl]
            frag = struct.unpack(">H", p[6:8])[0] & 0x3FFF
            hdr, nh, x, fam = p[:h], p[9], p[h:], 4
            src, dst = ".".join(map(str, p[12:16])), ".".join(map(str, p[16:20]))
            nhpos = 9
        elif t == 0x86DD:
            if len(p) < 40 or p[0] >> 4 != 6:
                raise Drop("bad-ip")
            pl = struct.unpack(">H", p[4:6])[0]
            if 40 + pl > len(p):
                raise Drop("malformed")
            p = p[:40 + pl]
            nh, o, nhpos, frag, fam = p[6], 40, 6, 0, 6
            import ipaddress
            src, dst = str(ipaddress.IPv6Address(p[8:24])), str(ipaddress.IPv6Address(p[24:40]))
            while nh in (0, 43, 60, 44):
                if len(p) < o + 8:
                    raise Drop("bad-ip")
                n = 8 if nh == 44 else 8 * (p[o + 1] + 1)
                if len(p) < o + n:
                    raise Drop("bad-ip")
                if nh == 44:
                    frag = struct.unpack(">H", p[o + 2:o + 4])[0] & 0xFFF9
                nhpos = o
                nh, o = p[o], o + n
            hdr, x = p[:o], p[o:]
            if nh == 59:
                raise Drop("not-esp" if pl else "malformed")
        else:
            raise Drop("not-ip")
        udp = False
        if nh == 17:
            if len(x) < 8:
                raise Drop("malformed")
            sp, dp, ul, uc = struct.unpack(">HHHH", x[:8])
            if dp != 4500:
                raise Drop("not-esp")
            if ul < 8 or ul > len(x):
                raise Drop("malformed")
            x = x[8:ul]
            if x == b"\xff":
                return ("consume",)
            if len(x) >= 4 and x[:4] == b"\0" * 4:
                return ("to-ike",)
            udp = True
        elif nh != 50:
            raise Drop("not-esp")
        if frag:
            raise Drop("fragment")
        if len(x) < 8:
            raise Drop("malformed")
        spi, seq = struct.unpack(">II", x[:8])
        if spi < 256:
            raise Drop("reserved-spi")
        s = self.sad.get(spi)
        if s is None:
            raise Drop("unknown-spi")
        if s["mode"] == "transport" and (src, dst) != (s["src"], s["dst"]) and not udp:
            raise Drop("selector")
        w = self.win.setdefault(spi, [0, set()])
        if last_seq is not None:
            w[0] = last_seq
        hi = None
        if s["esn"]:
            top, w1 = w[0], window
            th, tlo = top >> 32, top & 0xFFFFFFFF
            if tlo >= w1 - 1:
                hi = th if seq >= tlo - w1 + 1 else th + 1
            else:
                hi = th - 1 if seq >= (tlo - w1 + 1) & 0xFFFFFFFF else th
            if hi < 0 or hi > 0xFFFFFFFF:
                raise Drop("replay")
        full = seq if hi is None else hi << 32 | seq
        if full == 0 or full <= w[0] - window or full in w[1]:
            raise Drop("replay")
        iiv = s["implicit_iv"]
        if len(x) < (8 if iiv else 16) + s["icv_len"]:
            raise Drop("malformed")
        try:
            pt = esp_open(s["alg"], hb(s["key"]), hb(s["salt"]), x, s["icv_len"], hi, iiv)
        except InvalidTag:
            raise Drop("integrity")
        w[0] = max(w[0], full)
        w[1].add(full)
        tr = trailer(pt)
        if tr is None:
            raise Drop("malformed")
        pay, n, inner, padok = tr
        if inner == 59:
            return ("discard-dummy",)
        if not padok:
            raise Drop("bad-padding")
        if s["mode"] == "tunnel":
            if inner not in (4, 41):
                raise Drop("mode-mismatch")
            if not pay or pay[0] >> 4 != (4 if inner == 4 else 6):
                raise Drop("malformed-inner")
            ln = struct.unpack(">H", pay[2:4])[0] if inner == 4 else 40 + struct.unpack(">H", pay[4:6])[0]
            if ln > len(pay):
                raise Drop("malformed-inner")
            return "decrypt", pay[:ln]
        h = bytearray(hdr)
        h[nhpos] = inner
        if fam == 4:
            h[2:4] = struct.pack(">H", len(h) + len(pay))
            h[10:12] = b"\0\0"
            h[10:12] = struct.pack(">H", csum(bytes(h)))
        else:
            h[4:6] = struct.pack(">H", len(h) - 40 + len(pay))
        return "decrypt", bytes(h) + pay


def find_esp(p, udp):
    """start of ESP and header to keep, for re-sealing a plaintext packet's counterpart"""
    if p[0] >> 4 == 4:
        o = (p[0] & 15) * 4
    else:
        nh, o = p[6], 40
        while nh in (0, 43, 60, 44):
            nh, o = p[o], o + (8 if nh == 44 else 8 * (p[o + 1] + 1))
    return o + (8 if udp else 0)


def check_group(root, fn):
    d = json.load(open(os.path.join(root, fn)))
    espf = pcap(os.path.join(root, d["esp_pcap"])) if "esp_pcap" in d else []
    plf = pcap(os.path.join(root, d["plain_pcap"])) if "plain_pcap" in d else []
    sas = {s["name"]: s for s in d["sas"]}
    n_in = n_out = 0
    rx = Receiver(d["sas"])
    for t in d["tests"]:
        nm = fn + ": " + t["name"]
        s = sas.get(t.get("sa"))
        f = espf[t["esp_frame"] - 1] if "esp_frame" in t else None
        pf = plf[t["plain_frame"] - 1] if "plain_frame" in t else None
        ep = hb(t["esp_packet"]) if t.get("esp_packet") else None
        pp = hb(t["plaintext_packet"]) if t.get("plaintext_packet") else None
        if pp is None and pf is not None and t["expect_in"] == "decrypt":
            pp = pf[14:]
        if ep is not None and s is not None and t["seq"] is not None and t.get("reason") not in ("malformed", "bad-ip", "unknown-spi", "not-esp"):
            o = find_esp(ep, s["udp_encap"] and ep[9 if ep[0] >> 4 == 4 else 6] == 17)
            if struct.unpack(">I", ep[o + 4:o + 8])[0] != t["seq"] or (t["iv"] and ep[o + 8:o + 16].hex() != t["iv"] and t["name"] not in ("iv flipped", "gmac iv flipped")):
                fault(nm, "seq or iv is not that of the packet")
        if ep is not None and f is not None and ep not in f and t.get("reason") not in ("malformed",):
            fault(nm, "esp_packet is not in its frame")
        if pp is not None and pf is not None and pp not in pf:
            fault(nm, "plaintext_packet is not in its frame")
        if t["expect_in"]:
            n_in += 1
            want = t["expect_in"]
            last = int(t["last_seq"], 16) if "last_seq" in t else None
            # outside the replay streams every frame meets a fresh receiver
            r = rx if "stream" in t else Receiver(d["sas"])
            try:
                got = r.frame(f, last, t.get("window", 64))
            except Drop as e:
                got = ("drop", str(e))
            if want == "drop":
                if got[0] != "drop" or got[1] != t["reason"]:
                    fault(nm, "want drop", t["reason"], "got", got[0], got[1:])
                if t["reason"] in ICV_RIGHT:  # dropped for that reason and for no other
                    e = ep[find_esp(ep, s["udp_encap"]):]
                    try:
                        esp_open(s["alg"], hb(s["key"]), hb(s["salt"]), e, s["icv_len"], t["esn_hi"] if s["esn"] else None, s["implicit_iv"])
                    except InvalidTag:
                        fault(nm, "the ICV should be right")
            elif want == "decrypt":
                if got[0] != "decrypt" or got[1] != pp:
                    fault(nm, "want decrypt", "got", got[0], [x.hex() if isinstance(x, bytes) else x for x in got[1:]])
            elif want == "decrypt-inner":
                if got[0] != "decrypt" or not got[1].endswith(hb(t["payload"])):
                    fault(nm, want, got[0])
            elif want == "either":
                if got[0] not in ("decrypt", "drop"):
                    fault(nm, want, got[0])
                if got[0] == "drop" and got[1] == "integrity":
                    fault(nm, "either, but the ICV is wrong")
            elif got[0] != want:
                fault(nm, "want", want, "got", got)
        if t["expect_out"] == "protect":
            n_out += 1
            o = find_esp(ep, s["udp_encap"])
            po = len(pp) - len(trailer_of(s, ep[o:], t))
            nh = esp_open(s["alg"], hb(s["key"]), hb(s["salt"]), ep[o:], s["icv_len"], t["esn_hi"] if s["esn"] else None, s["implicit_iv"])[-1]
            pay = pp[po:]
            k = -(len(pay) + 2) % 4
            again = esp_seal(s["alg"], hb(s["key"]), hb(s["salt"]), struct.pack(">I", s["spi"]), t["seq"], t["esn_hi"] if s["esn"] else None,
                             hb(t["iv"]) if t["iv"] else b"", pay + bytes(range(1, k + 1)) + bytes([k, nh]), s["icv_len"], s["implicit_iv"])
            if again != ep[o:]:
                fault(nm, "seal differs")
            if len(ep) > 1500:
                fault(nm, "esp packet of %d octets" % len(ep))
            if ep[0] >> 4 == 4:
                if csum(ep[:(ep[0] & 15) * 4]) or struct.unpack(">H", ep[2:4])[0] != len(ep):
                    fault(nm, "outer ipv4 header")
            elif struct.unpack(">H", ep[4:6])[0] + 40 != len(ep):
                fault(nm, "outer ipv6 header")
            if s["udp_encap"] and struct.unpack(">H", ep[o - 4:o - 2])[0] != len(ep) - o + 8:
                fault(nm, "udp length")
        elif t["expect_out"]:
            n_out += 1
            check_out(nm, t, pf)
    print("%-52s %5d inbound, %d outbound" % ("scapy/" + fn, n_in, n_out))


def trailer_of(s, esp, t):
    pt = esp_open(s["alg"], hb(s["key"]), hb(s["salt"]), esp, s["icv_len"], t["esn_hi"] if s["esn"] else None, s["implicit_iv"])
    return trailer(pt)[0]


def check_out(nm, t, f):
    """The frame really has the property its expectation names."""
    et = struct.unpack(">H", f[12:14])[0] if len(f) >= 14 else None
    p = f[14:]
    if t["expect_out"] == "not-ip":
        ok = et not in (0x0800, 0x86DD)
    elif t["expect_out"] == "too-big":
        h = (p[0] & 15) * 4 if et == 0x0800 else 40
        ok = len(p) <= 1500 and h + 32 + (len(p) - h + 2 + 3) // 4 * 4 > 1500
    elif t.get("reason") == "fragment":
        ok = (struct.unpack(">H", p[6:8])[0] & 0x3FFF) != 0 and csum(p[:20]) == 0 if et == 0x0800 else p[6] == 44
    elif t.get("reason") == "policy":
        ok = et == 0x86DD
    else:
        try:
            Receiver([]).frame(f)
            ok = False
        except Drop as e:
            ok = str(e) in ("bad-ip", "malformed")
    if not ok:
        fault(nm, "frame does not have the property", t["expect_out"])


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../ipsec/esp/testdata")
    aead, esp, scapy = (os.path.join(root, d) for d in ("aead", "esp", "scapy"))
    if os.path.isdir(aead):
        check_wycheproof(os.path.join(aead, "wycheproof"))
        check_nist(os.path.join(aead, "nist-cavp-gcm-decrypt.json"))
        check_strongswan(os.path.join(aead, "strongswan-aead.json"))
    for d, check in ((esp, lambda fn: check_esp(os.path.join(esp, fn))), (scapy, lambda fn: check_group(scapy, fn))):
        for fn in sorted(os.listdir(d)) if os.path.isdir(d) else ():
            if fn.endswith(".json"):
                check(fn)
    print("%d faults" % len(BAD))
    return 1 if BAD else 0


if __name__ == "__main__":
    sys.exit(main())
