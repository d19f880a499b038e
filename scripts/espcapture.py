"""Captures of ESP, for the scripts that check them: pcap files, frames, and the keys of ip xfrm files.

Only Python's own library is needed.
"""
import ipaddress
import re
import shlex
import struct

ETHERTYPES = {0x0806: "arp", 0x88CC: "lldp", 0x8809: "lacp", 0x888E: "eapol", 0x88F7: "ptp"}
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 50: "esp", 58: "icmpv6"}
NEIGHBOUR = {130, 131, 132, 133, 134, 135, 136, 143}  # ICMPv6: neighbour discovery (RFC 4861), MLD (RFC 3810)
ENCAPSULATION_PORT = 4500  # RFC 3948
EXTENSIONS = {0, 43, 60}  # IPv6: hop-by-hop, routing, destination options
FRAGMENT = 44


class CaptureError(Exception):
    """The file is no pcap file, or is cut off."""


def read_pcap(path):
    """The frames of a classic pcap file of Ethernet, as octets, in order."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 24:
        raise CaptureError(f"{path}: no pcap header")
    for order in "<>":
        if struct.unpack(order + "I", data[:4])[0] in (0xA1B2C3D4, 0xA1B23C4D):
            break
    else:
        raise CaptureError(f"{path}: not a pcap file")
    if struct.unpack(order + "I", data[20:24])[0] & 0xFFFF != 1:
        raise CaptureError(f"{path}: not of Ethernet")
    frames, at = [], 24
    while at < len(data):
        header = data[at : at + 16]
        kept, length = struct.unpack(order + "II", header[8:16]) if len(header) == 16 else (1, 1)
        if at + 16 + kept > len(data) or kept != length:
            raise CaptureError(f"{path}: frame {len(frames) + 1} is cut off")
        frames.append(data[at + 16 : at + 16 + kept])
        at += 16 + kept
    return frames


class Frame:
    """What the headers of an Ethernet frame say.

    kind is "esp", "ip" (in the clear) or "other" (no IP); what names the protocol in small letters ("tcp",
    "icmpv6", "nd" for neighbour discovery and MLD, "arp"). esp is the ESP packet from SPI to ICV; payload is what
    stands behind the IP headers; src and dst are addresses. fault is what is wrong, None if nothing is.
    """

    def __init__(self, data):
        self.data, self.kind, self.what, self.fault = data, "other", "", None
        self.tags, self.version, self.encapsulated, self.fragment = [], 0, False, False
        self.src = self.dst = self.esp = None
        self.payload, at = b"", 12
        while data[at : at + 2] in (b"\x81\x00", b"\x88\xa8", b"\x91\x00"):
            self.tags.append(struct.unpack("!HH", data[at : at + 4]))
            at += 4
        ethertype = int.from_bytes(data[at : at + 2], "big")
        packet = data[at + 2 :]
        try:
            if ethertype == 0x0800:
                self._ipv4(packet)
            elif ethertype == 0x86DD:
                self._ipv6(packet)
            else:
                self.what = ETHERTYPES.get(ethertype, f"0x{ethertype:04x}")
        except (struct.error, IndexError):
            self.fault = "cut off"

    def _ipv4(self, packet):
        self.kind, self.version = "ip", 4
        header = (packet[0] & 15) * 4
        length, fragment = struct.unpack("!H", packet[2:4])[0], struct.unpack("!H", packet[6:8])[0]
        self.src, self.dst = ipaddress.ip_address(packet[12:16]), ipaddress.ip_address(packet[16:20])
        if checksum(packet[:header]) != 0:
            self.fault = "IPv4 header checksum is wrong"
        if length > len(packet):
            self.fault = "IPv4 total length goes beyond the frame"
        self.fragment = fragment & 0x3FFF != 0
        self._upper(packet[9], packet[header:length])

    def _ipv6(self, packet):
        self.kind, self.version = "ip", 6
        length = 40 + struct.unpack("!H", packet[4:6])[0]
        self.src, self.dst = ipaddress.ip_address(packet[8:24]), ipaddress.ip_address(packet[24:40])
        if length > len(packet):
            self.fault = "IPv6 payload length goes beyond the frame"
        proto, at = packet[6], 40
        while proto in EXTENSIONS or proto == FRAGMENT:
            self.fragment = self.fragment or proto == FRAGMENT
            proto, at = packet[at], at + (8 if proto == FRAGMENT else 8 * (packet[at + 1] + 1))
        self._upper(proto, packet[at:length])

    def _upper(self, proto, payload):
        self.proto, self.payload = proto, payload
        self.what = PROTOCOLS.get(proto, f"proto {proto}")
        if proto == 58 and payload and payload[0] in NEIGHBOUR:
            self.what = "nd"
        if proto == 50:
            self._found_esp(payload)
        elif proto == 17 and not self.fragment and ENCAPSULATION_PORT in struct.unpack("!HH", payload[:4]):
            if payload[8:9] == b"\xff" and len(payload) == 9:
                self.what = "keepalive"
            elif len(payload) >= 12 and payload[8:12] != bytes(4):
                self.encapsulated = True
                if struct.unpack("!H", payload[4:6])[0] != len(payload):
                    self.fault = "UDP length is not that of the packet"
                self._found_esp(payload[8:])

    def _found_esp(self, esp):
        self.kind, self.what, self.esp = "esp", "esp", esp
        if self.fragment:
            self.fault = "a fragment of ESP"
        if len(esp) < 8:
            raise IndexError("no ESP header")
        self.spi, self.sequence = struct.unpack("!II", esp[:8])


def checksum(data, start=0):
    """The Internet checksum of RFC 1071: 0 over data that contains a right one."""
    if len(data) % 2:
        data += b"\0"
    total = start + sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def transport_checksum_fault(src, dst, proto, payload):
    """What is wrong with the checksum of a TCP, UDP, ICMP or ICMPv6 message; None if nothing is."""
    minimum = {1: 4, 6: 20, 17: 8, 58: 4}.get(proto)
    if minimum is None:
        return None
    if len(payload) < minimum:
        return "transport header is cut off"
    if proto == 17 and payload[6:8] == b"\0\0" and src.version == 4:
        return None
    pseudo = b"" if proto == 1 else src.packed + dst.packed + struct.pack("!II", len(payload), proto)
    return None if checksum(pseudo + payload) == 0 else "transport checksum is wrong"


class State:
    """An SA as `ip xfrm state add` gives it: src, dst, spi, aead, key, salt, icv (octets), esn."""

    def __init__(self, words):
        at = {word: i for i, word in reversed(list(enumerate(words)))}
        self.src = ipaddress.ip_address(words[at["src"] + 1])
        self.dst = ipaddress.ip_address(words[at["dst"] + 1])
        self.spi = int(words[at["spi"] + 1], 0)
        self.aead, material, bits = words[at["aead"] + 1 : at["aead"] + 4]
        material = bytes.fromhex(material[2:])
        salt = 3 if self.aead == "rfc4309(ccm(aes))" else 4
        self.key, self.salt, self.icv = material[:-salt], material[-salt:], int(bits) // 8
        self.esn = "flag" in at and "esn" in words

    def wireshark(self):
        """The line of Wireshark's table esp_sa."""
        family = f"IPv{self.src.version}"
        cipher = f"AES-GCM with {self.icv} octet ICV [RFC4106]"
        key = "0x" + (self.key + self.salt).hex()
        return ",".join(f'"{x}"' for x in (family, self.src, self.dst, f"0x{self.spi:08x}", cipher, key, "NULL", ""))


def read_states(path):
    """The SAs of the `ip xfrm state add` commands of a file."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\\\n", " ", file.read())
    states = []
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["ip"]:
            words = words[1:]
        if len(words) > 3 and words[0] in ("x", "xfrm") and words[1] in ("s", "state") and words[2] in ("add", "update"):
            states.append(State(words))
    return states
