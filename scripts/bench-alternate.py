#!/usr/bin/env python3
"""Measures how fast DPDK programs send, in turns on one CPU: one line of JSON for each measurement.

usage: bench-alternate.py PORT ROUNDS SECONDS FOLDER NAME...

FOLDER/NAME.argv is a program's command, one argument a line, with --file-prefix among them; its output goes to
FOLDER/NAME.log. All programs are started, and stopped with SIGSTOP once packets flow. Then, in each round, each of them
goes on for SECONDS, in changing order. So neighbours in time are compared, which matters on machines whose speed
changes from one second to the next: virtual ones, busy ones. At the end SIGINT ends them.

The packets that left by port PORT are read from DPDK's telemetry socket, which every DPDK program has: all are measured
by the same counter of the same driver. Beside it stands the CPU time of the process, which is that of the polling lcore:

  {"name": …, "round": 0…, "packets": …, "wall": seconds, "cpu": seconds}

A program that ends by itself, sends nothing, or ends with an error is reported on stderr with the end of its log, and
the others go on; the exit status is then 1.
"""

import json
import signal
import socket
import subprocess
import sys
import time

START_LIMIT = 30  # seconds until packets must flow
SETTLE = 0.03  # seconds that a program runs before it is measured, for caches
STOP_LIMIT = 30


class Failed(Exception):
    """What went wrong, for a person."""


class Telemetry:
    """A client of DPDK's telemetry socket (version 2)."""

    def __init__(self, prefix: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(5)
        self.socket.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        self.room = json.loads(self.socket.recv(1024))["max_output_len"]

    def sent(self, port: int) -> int:
        self.socket.send(f"/ethdev/stats,{port}".encode())
        stats = json.loads(self.socket.recv(self.room))["/ethdev/stats"]
        return stats["opackets"] if stats else 0


class Program:
    """One of the programs, running or stopped."""

    def __init__(self, name: str, folder: str, port: int):
        self.name, self.port, self.log = name, port, f"{folder}/{name}.log"
        with open(f"{folder}/{name}.argv", encoding="utf-8") as file:
            command = file.read().splitlines()
        self.prefix = command[command.index("--file-prefix") + 1]
        with open(self.log, "wb") as output:
            # testpmd ends at the end of its input, so it gets a pipe that stays open.
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT)
        self.telemetry = None

    def check(self) -> None:
        if self.process.poll() is not None:
            raise Failed(f"it ended with status {self.process.returncode}")

    def wait_for_packets(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline:
            self.check()
            try:
                self.telemetry = self.telemetry or Telemetry(self.prefix)
                if self.telemetry.sent(self.port) > 0:
                    return
            except OSError:
                self.telemetry = None  # not there yet
            time.sleep(0.02)
        raise Failed(f"no packet left port {self.port} within {START_LIMIT} s")

    def cpu(self) -> float:
        """CPU time so far, in seconds, up to now: the process's clock (see clock_getcpuclockid)."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def measure(self, seconds: float) -> dict:
        self.check()
        self.process.send_signal(signal.SIGCONT)
        time.sleep(SETTLE)
        packets, start, cpu = self.telemetry.sent(self.port), time.monotonic(), self.cpu()
        time.sleep(seconds)
        packets, wall, cpu = self.telemetry.sent(self.port) - packets, time.monotonic() - start, self.cpu() - cpu
        self.pause()
        if packets == 0 and cpu > seconds / 10:
            raise Failed("it stopped sending")
        return {"packets": packets, "wall": wall, "cpu": cpu}

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def end(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGINT)
        self.process.stdin.close()
        try:
            status = self.process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed("SIGINT did not stop it") from None
        if status not in (0, -signal.SIGINT):
            raise Failed(f"it ended with status {status}")

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def complain(self, error: Failed) -> None:
        with open(self.log, encoding="utf-8", errors="replace") as file:
            tail = "".join(file.readlines()[-8:])
        print(f"bench: {self.name}: {error}; the end of {self.log}:\n{tail}", file=sys.stderr)


class Race:
    """The programs that still take part."""

    def __init__(self):
        self.programs, self.failed = [], False

    def each(self, programs: list, do) -> None:
        """Calls do with each program; those for which it fails drop out."""
        for program in programs:
            try:
                do(program)
            except (Failed, OSError) as error:
                program.complain(error)
                program.kill()
                self.programs = [other for other in self.programs if other is not program]
                self.failed = True

    def start(self, names: list, folder: str, port: int) -> None:
        def begin(program: Program) -> None:
            self.programs.append(program)
            program.wait_for_packets()
            program.pause()

        self.each((Program(name, folder, port) for name in names), begin)

    def run(self, rounds: int, seconds: float) -> None:
        for round_ in range(rounds):

            def measure(program: Program, round_: int = round_) -> None:
                measured = program.measure(seconds)
                if measured["packets"]:  # else the kernel gave it no time
                    print(json.dumps({"name": program.name, "round": round_, **measured}), flush=True)

            self.each(self.programs[:: -1 if round_ % 2 else 1], measure)

    def finish(self) -> None:
        self.each(list(self.programs), Program.end)


def main() -> int:
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    port, rounds, seconds, folder = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    race = Race()
    try:
        race.start(sys.argv[5:], folder, port)
        race.run(rounds, seconds)
        race.finish()
    finally:
        for program in race.programs:
            program.kill()
    return 1 if race.failed else 0


if __name__ == "__main__":
    sys.exit(main())
