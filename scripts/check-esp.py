#!/usr/bin/env python3
"""Opens every ESP packet of a capture with python3-cryptography, and says what else there is.

It shares no code with espgw. A packet is good when its ICV is right under the key of its SA, the padding is 1, 2,
3, ..., the outer headers are right, and so is the checksum of the TCP, UDP or ICMP message inside. Over the whole
capture, no sequence number may come twice in an SA, and no IV twice under a key: with AES-GCM a second use of
an IV gives the key stream away, also when two SAs (the two directions, say) share the key.

Exit status: 0 all is good; 1 something is not, or there is no ESP; 2 wrong usage or an unreadable file.
"""
import argparse
import collections
import sys

import espcapture


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", nargs="?", help="a pcap file")
    parser.add_argument("--xfrm", action="append", required=True, metavar="FILE", help="ip xfrm commands with the SAs")
    parser.add_argument("--clear", default="arp", metavar="LIST", help="what may be in the clear: arp, icmp, nd, ...; all others fail (arp)")
    parser.add_argument("--inside", default="", metavar="LIST", help="protocols that ESP may carry: tcp, udp, ... (any)")
    parser.add_argument("--min", type=int, default=1, metavar="N", help="so many ESP packets at least from each sender (1)")
    parser.add_argument("--longest", type=int, default=0, metavar="N", help="a frame of N octets at least must be there")
    parser.add_argument("--beyond", type=lambda text: int(text, 0), default=0, metavar="N", help="every SA must have got to sequence number N at least")
    parser.add_argument("--tagged", action="store_true", help="every ESP packet must have a VLAN tag")
    parser.add_argument("--encap", action="store_true", help="every ESP packet must be inside UDP")
    parser.add_argument("--keys", action="store_true", help="print Wireshark's table esp_sa instead of checking")
    return parser.parse_args()


def cipher(state):
    """A function (nonce, data, aad) to plaintext that raises InvalidTag, for the SA's algorithm."""
    # Only here, so that --keys works without the package.
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    if state.aead == "rfc7539esp(chacha20,poly1305)":
        return ChaCha20Poly1305(state.key).decrypt, InvalidTag
    if state.aead != "rfc4106(gcm(aes))":
        raise espcapture.CaptureError(f"SA 0x{state.spi:x}: {state.aead} is not known here")

    def gcm(nonce, data, aad):
        text, tag = data[: -state.icv], data[-state.icv :]
        opened = Cipher(algorithms.AES(state.key), modes.GCM(nonce, tag, min_tag_length=state.icv)).decryptor()
        opened.authenticate_additional_data(aad)
        return opened.update(text) + opened.finalize()

    return gcm, InvalidTag


class Opener:
    """Opens the ESP packets of one SA, in the order of the wire."""

    def __init__(self, state):
        self.state, self.count, self.highest, self.sequences = state, 0, 0, set()
        self.decrypt, self.invalid = cipher(state)

    def open(self, frame, ivs):
        """Plaintext protocol and payload of the packet; raises ValueError with what is wrong."""
        esp, iv = frame.esp, frame.esp[8:16]
        if len(esp) < 16 + 4 + self.state.icv:
            raise ValueError("shorter than ESP can be")
        for sequence in self.candidates(frame.sequence):
            aad = sequence.to_bytes(8, "big")
            aad = esp[:4] + (aad if self.state.esn else aad[4:])
            try:
                text = self.decrypt(self.state.salt + iv, esp[16:], aad)
                break
            except self.invalid:
                continue
        else:
            raise ValueError("ICV is wrong")
        if sequence in self.sequences or sequence == 0:
            raise ValueError(f"sequence number {sequence}{' again' if sequence else ''}")
        first = ivs.setdefault((self.state.key, self.state.salt, iv), frame)
        if first is not frame:
            raise ValueError(f"IV {iv.hex()} again under the same key (the first one had SPI 0x{first.spi:x})")
        self.sequences.add(sequence)
        self.highest, self.count = max(self.highest, sequence), self.count + 1
        return trailer(text)

    def candidates(self, low):
        """The sequence numbers that 32 bits on the wire may stand for, likely ones first (RFC 4303, appendix A)."""
        if not self.state.esn:
            return [low]
        high = self.highest >> 32
        return [h << 32 | low for h in (high, high + 1, high - 1) if h >= 0]


def trailer(text):
    """Next header and payload in front of the padding, which must be 1, 2, 3, ..."""
    pad, proto = text[-2], text[-1]
    end = len(text) - 2 - pad
    if end < 0 or text[end:-2] != bytes(range(1, pad + 1)):
        raise ValueError("padding is wrong")
    return proto, text[:end]


def check(o, states):
    openers = {(s.dst, s.spi): Opener(s) for s in states}
    by_spi = {s.spi: openers[s.dst, s.spi] for s in states}
    faults, clear, inside, ivs = [], collections.Counter(), collections.Counter(), {}
    allowed = set(filter(None, o.clear.split(",")))
    carried = set(filter(None, o.inside.split(",")))
    frames = espcapture.read_pcap(o.capture)
    for number, data in enumerate(frames, 1):
        frame = espcapture.Frame(data)
        try:
            if frame.fault:
                raise ValueError(frame.fault)
            if frame.kind != "esp":
                clear[frame.what] += 1
                if frame.what not in allowed:
                    raise ValueError(f"{frame.what} in the clear, {frame.src} to {frame.dst}")
                continue
            opener = openers.get((frame.dst, frame.spi)) or (frame.encapsulated and by_spi.get(frame.spi))
            if not opener:
                raise ValueError(f"no SA for SPI 0x{frame.spi:x} to {frame.dst}")
            proto, payload = opener.open(frame, ivs)
            name = espcapture.PROTOCOLS.get(proto, f"proto {proto}")
            inside[name] += 1
            if carried and name not in carried:
                raise ValueError(f"{name} inside ESP")
            if o.tagged and not frame.tags or o.encap and not frame.encapsulated:
                raise ValueError("ESP without its VLAN tag or UDP header")
            fault = espcapture.transport_checksum_fault(frame.src, frame.dst, proto, payload)
            if fault and not frame.encapsulated:
                raise ValueError(f"inside: {fault}")
        except ValueError as fault:
            faults.append(f"frame {number}: {fault}")
    for opener in openers.values():
        s = opener.state
        print(f"  SA 0x{s.spi:x} {s.src} to {s.dst}: {opener.count} packets opened, highest sequence number {opener.highest}")
        if opener.count < o.min:
            faults.append(f"SA 0x{s.spi:x} to {s.dst}: {opener.count} packets, at least {o.min} are wanted")
        if opener.highest < o.beyond:
            faults.append(f"SA 0x{s.spi:x} to {s.dst}: sequence number {o.beyond} was not reached")
    longest = max(map(len, frames), default=0)
    if longest < o.longest:
        faults.append(f"the longest frame has {longest} octets, {o.longest} are wanted")
    words = [f"{n} {what}" for what, n in sorted(inside.items())]
    print(f"  {len(frames)} frames: {sum(inside.values())} ESP ({', '.join(words)}), {len(ivs)} different IVs under"
          f" {len({key[:2] for key in ivs})} keys; in the clear: {', '.join(f'{n} {w}' for w, n in sorted(clear.items())) or 'nothing'}")
    for fault in faults[:10]:
        print(f"  {fault}")
    if len(faults) > 10:
        print(f"  and {len(faults) - 10} more")
    return 1 if faults else 0


def main():
    o = arguments()
    try:
        states = {}
        for path in o.xfrm:
            for state in espcapture.read_states(path):
                states[state.dst, state.spi] = state
        if o.keys:
            print("\n".join(s.wireshark() for s in states.values() if s.aead == "rfc4106(gcm(aes))"))
            return 0
        if not o.capture or not states:
            raise espcapture.CaptureError("a capture and at least one SA are needed")
        return check(o, states.values())
    except (espcapture.CaptureError, OSError) as error:
        print(f"check-esp: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
