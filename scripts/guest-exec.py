#!/usr/bin/env python3
"""Runs shell text in the guest that scripts/guest-init is PID 1 of.

usage: guest-exec.py PIPE SECONDS [TEXT]     without TEXT it is read from standard input

PIPE.in and PIPE.out are the named pipes of the guest's virtio serial port. Output, error output and exit status are those of the text;
143 when it ran longer than SECONDS. Status 125 when the guest does not answer. One at a time: callers wait for each other.
"""
import base64
import fcntl
import os
import select
import sys
import time

GRACE = 20  # seconds that a busy machine may take beyond those that were allowed


def answer(pipe, request, deadline):
    """The words of the line that answers the request; earlier answers, to callers that gave up, are passed over."""
    data = b""
    while True:
        line, found, rest = data.partition(b"\n")
        if found:
            words = line.decode(errors="replace").split()
            if len(words) == 4 and words[0] == request:
                return words[1:]
            data = rest
        elif select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0]:
            data += os.read(pipe, 65536)
        else:
            raise TimeoutError("it took too long")


def main():
    path, seconds = sys.argv[1], int(sys.argv[2])
    text = sys.argv[3] if len(sys.argv) == 4 else sys.stdin.read()
    request = f"{os.getpid()}.{time.monotonic_ns()}"
    line = f"{request} {seconds} {base64.b64encode(text.encode()).decode()}\n"
    with open(path + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # For reading and writing, so that neither opening blocks nor QEMU ever sees the end of a pipe.
        to_guest, from_guest = (os.open(f"{path}.{end}", os.O_RDWR) for end in ("in", "out"))
        try:
            os.write(to_guest, line.encode())
            status, out, err = answer(from_guest, request, time.monotonic() + seconds + GRACE)
        except OSError as error:
            print(f"guest-exec: no answer from the guest: {error}", file=sys.stderr)
            return 125
    sys.stdout.buffer.write(base64.b64decode(out[1:]))
    sys.stderr.buffer.write(base64.b64decode(err[1:]))
    return int(status)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main())
