#!/usr/bin/env python3
"""Sends one command to espgw's control socket and prints the answer.

usage: lab-control.py SOCKET COMMAND     exit status 1 when the answer is an error
"""
import socket
import sys


def main():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(10)
        connection.connect(sys.argv[1])
        connection.sendall(sys.argv[2].encode() + b"\n")
        for line in connection.makefile():
            line = line.rstrip("\n")
            if line == "ok":
                return 0
            print(line)
            if line.startswith("error: "):
                return 1
    print("the gateway closed the connection without an answer")
    return 1


if __name__ == "__main__":
    sys.exit(main())
