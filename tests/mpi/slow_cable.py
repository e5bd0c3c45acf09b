#!/usr/bin/env python3
"""An Ethernet cable that takes its time: for kernels without netem.

    slow_cable.py NEAR FAR MILLISECONDS

makes two network devices of these names, and what goes into one comes out of the other so much
later, in its order, for as long as it runs. It says "ready" when they are there. A part of
tests/mpi/run.sh, which puts one of them into another namespace.
"""
import collections
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FRAME_MAX = 1 << 16


def plug(name):
    """A device, and the end of it that frames are read from and written to. Without offloads: the
    kernel cuts and sums what it sends."""
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return end


def take(end, due, under_way):
    while True:
        try:
            under_way.append((due, os.read(end, FRAME_MAX)))
        except BlockingIOError:
            return


def give(end, now, under_way):
    while under_way and under_way[0][0] <= now:
        try:
            os.write(end, under_way.popleft()[1])
        except OSError:
            pass  # the device is down, or full: frames are lost on cables too


def main():
    ends = [plug(sys.argv[1]), plug(sys.argv[2])]
    delay = float(sys.argv[3]) / 1000
    towards = {ends[0]: collections.deque(), ends[1]: collections.deque()}
    print("ready", flush=True)
    while True:
        dues = [queue[0][0] for queue in towards.values() if queue]
        wait = max(0, min(dues) - time.monotonic()) if dues else None
        readable = select.select(ends, [], [], wait)[0]
        now = time.monotonic()
        for end in readable:
            take(end, now + delay, towards[ends[1 - ends.index(end)]])
        for end, queue in towards.items():
            give(end, now, queue)


main()
