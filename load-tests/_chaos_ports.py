"""Ports for those who must know them before they start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

_CHOICE = range(25_000, 32_768)
"""Below those that Linux gives to outgoing connections, one of which could take a port before its server does. Above
those that Ray's processes take."""


def free_ports(address: str, n: int) -> list[int]:
    """So many ports that are free.

    Raises:
        RuntimeError: there are not so many.
    """
    ports: list[int] = []
    with ExitStack() as stack:
        for port in random.sample(_CHOICE, len(_CHOICE)):
            if len(ports) == n:
                return ports
            taken = stack.enter_context(socket.socket())
            try:
                taken.bind((address, port))
            except OSError:
                continue
            ports.append(port)
    raise RuntimeError(f"{len(ports)} of {n} ports are free at {address}")
