"""A link on which every packet takes its time, and some never arrive: two TUN devices with this program between them.

What `tc … netem delay 200ms loss 1%` does, for kernels without `netem`. One end stays in this network namespace, the
other one is moved into a node's. Runs until SIGTERM; needs root and /dev/net/tun.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field

_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x0001 | 0x1000
_PACKET_BYTES = 65_536
_HELD = 10_000
"""Packets under way in one direction; what comes then is lost, as in a router's full queue."""


@dataclass
class _Way:
    """One direction, from a device to the other one."""

    source: int
    target: int
    held: deque[tuple[float, bytes]] = field(default_factory=deque)  # by the moment that they are due

    def take(self, delay_s: float, loss: float) -> None:
        packet = os.read(self.source, _PACKET_BYTES)
        if len(self.held) < _HELD and random.random() >= loss:
            self.held.append((time.monotonic() + delay_s, packet))

    def give(self) -> None:
        while self.held and self.held[0][0] <= time.monotonic():
            os.write(self.target, self.held.popleft()[1])


def main() -> None:
    """Says `up` once packets pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", required=True, help="name of the device on this side")
    parser.add_argument("--there", required=True, help="name of the device that is moved away")
    parser.add_argument("--namespace", required=True, help="where that one is moved")
    parser.add_argument("--delay-s", type=float, default=0.1, help="each way")
    parser.add_argument("--loss", type=float, default=0.01, help="share of packets that never arrive")
    options = parser.parse_args()
    here, there = _device(options.here), _device(options.there)
    _ip("link", "set", "dev", options.there, "netns", options.namespace)
    for where, name in (((), options.here), (("-n", options.namespace), options.there)):
        _ip(*where, "link", "set", "dev", name, "txqueuelen", str(_HELD), "up")
    print("up", flush=True)
    ways = {here: _Way(here, there), there: _Way(there, here)}
    while True:
        due = min((way.held[0][0] for way in ways.values() if way.held), default=None)
        patience = None if due is None else max(0.0, due - time.monotonic())
        for ready in select.select(list(ways), [], [], patience)[0]:
            ways[ready].take(options.delay_s, options.loss)
        for way in ways.values():
            way.give()


def _device(name: str) -> int:
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, _TUNSETIFF, struct.pack("16sH", name.encode(), _TUN_WITHOUT_HEADER))
    return tun


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


if __name__ == "__main__":
    sys.exit(main())
