#!/usr/bin/env python3
"""Asks and answers over UDP: one datagram is on its way at a time, so that no buffer of a host can overflow.

usage: lab-echo.py serve                     answers on port 7, IPv4 and IPv6, until it is killed
       lab-echo.py ask ADDRESS SIZE COUNT    exit status 1 when one of COUNT datagrams is not answered as it was sent
"""
import os
import socket
import sys


def serve():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as server:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(("::", 7))
        while True:
            data, address = server.recvfrom(65536)
            server.sendto(data, address)


def ask(address, size, count):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.settimeout(5)
        client.connect((address, 7))
        for number in range(1, count + 1):
            data = os.urandom(size)
            client.send(data)
            try:
                if client.recv(65536) != data:
                    print(f"datagram {number} of {count}: the answer differs")
                    return 1
            except TimeoutError:
                print(f"datagram {number} of {count}: no answer")
                return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    elif len(sys.argv) == 5 and sys.argv[1] == "ask":
        sys.exit(ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    else:
        sys.exit(__doc__)
