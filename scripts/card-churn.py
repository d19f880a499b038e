#!/usr/bin/env python3
"""Adds and removes SAs at random on two gateways, between which traffic flows.

usage: card-churn.py SOCKET-A SOCKET-B XFRM-A XFRM-B OPERATIONS SEED

An operation is an add or a removal on gateway A, of an SA in one direction: a quarter each, on average. What A does to
an SA, B does too: a receiver has an SA before its sender does, and for a while longer. All SAs have one reqid, so that
traffic may use any of them. Each command is written to the gateway's file, too, when it adds. The last line says what was done. Exit
status 1 when a gateway refused a command.
"""
import os
import random
import socket
import sys
import time

LEAST, MOST = 2, 300  # SAs a direction; a card has fewer places
LINGER = 1.0  # seconds that a receiver keeps an SA longer
PACE = 0.003  # seconds an operation, at least


class Gateway:
    """A control socket and a file for what is added."""

    def __init__(self, path, xfrm):
        self.file = open(xfrm, "a", encoding="utf-8")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(30)
        self.socket.connect(path)
        self.answers = self.socket.makefile()

    def command(self, line):
        self.socket.sendall(line.encode() + b"\n")
        for answer in self.answers:
            if answer == "ok\n":
                return
            if answer.startswith("error: "):
                raise SystemExit(f"{line[:120]}: {answer.strip()}")
        raise SystemExit("the gateway closed the connection")

    def add(self, line):
        self.command(line)
        print(line, file=self.file)


class Churn:
    def __init__(self, a, b, seed):
        self.a, self.b = a, b
        self.random = random.Random(seed)
        self.live = {"out": [], "in": []}  # SPIs, as A sees it
        self.later = []  # (time, function): removals at the receiver
        self.spi = 0x100000
        self.adds = self.removals = 0

    def add(self, direction):
        self.spi += 1
        ends = ("14.0.0.52", "14.0.0.70") if direction == "out" else ("14.0.0.70", "14.0.0.52")
        line = (f"ip xfrm state add src {ends[0]} dst {ends[1]} proto esp spi 0x{self.spi:x} reqid 1 mode transport replay-window 1024"
                f" aead 'rfc4106(gcm(aes))' 0x{os.urandom(20).hex()} 128 offload dev eth4 dir ")
        if direction == "out":
            self.b.add(line + "in")
            self.a.add(line + "out")
        else:
            self.a.add(line + "in")
            self.b.add(line + "out")
        self.live[direction].append(self.spi)
        self.adds += 1

    def remove(self, direction):
        live = self.live[direction]
        spi = live.pop(self.random.randrange(len(live)))
        line = f"ip xfrm state delete dst {'14.0.0.70' if direction == 'out' else '14.0.0.52'} proto esp spi 0x{spi:x}"
        sender, receiver = (self.a, self.b) if direction == "out" else (self.b, self.a)
        sender.command(line)
        self.later.append((time.monotonic() + LINGER, receiver, line))
        self.removals += 1

    def due(self, wait=False):
        while self.later and (wait or self.later[0][0] < time.monotonic()):
            at, gateway, line = self.later.pop(0)
            time.sleep(max(0, at - time.monotonic()))
            gateway.command(line)

    def run(self, operations):
        for _ in range(operations):
            begin = time.monotonic()
            direction = self.random.choice(("out", "in"))
            n = len(self.live[direction])
            if n <= LEAST or n < MOST and self.random.random() < 0.5:
                self.add(direction)
            else:
                self.remove(direction)
            self.due()
            time.sleep(max(0, PACE - (time.monotonic() - begin)))
        self.due(wait=True)


def main():
    socket_a, socket_b, xfrm_a, xfrm_b = sys.argv[1:5]
    churn = Churn(Gateway(socket_a, xfrm_a), Gateway(socket_b, xfrm_b), int(sys.argv[6]))
    begin = time.monotonic()
    churn.run(int(sys.argv[5]))
    print(f"{churn.adds} added, {churn.removals} removed in {time.monotonic() - begin:.1f} s")
    for gateway in churn.a, churn.b:
        gateway.file.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
