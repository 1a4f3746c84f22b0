"""Ports for those who must know them before they start."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_ports(address: str, n: int) -> list[int]:
    """So many ports that were free a moment ago."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind((address, 0))
        return [int(one.getsockname()[1]) for one in sockets]
