"""Nodes with addresses of their own: a network namespace each, and two links to the rest, of which one can be cut.

Over the first link a node speaks with the cluster, over the second with the sites. A node that is cut off from the
cluster alone is the hardest case: its sessions run on, on pages that still answer, while others take them over.
Needs root (or the rights of it in a user namespace) and `ip`; nothing outside the namespaces can reach what is inside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

CLUSTER = "10.77.255.1"
"""Of everything but the nodes and the sites."""
SITES = "10.78.255.1"
_INSIDE = "CHAOS_INSIDE"
LAG_S = 0.1
"""Seconds that a packet takes each way over a link that lags: 200 ms there and back."""
LOST = 0.01
"""Share of its packets that never arrive, each way."""
_LAG = Path(__file__).with_name("_chaos_lag.py")
_SLOW = ("tbf", "rate", "2mbit", "burst", "16kb", "latency", "400ms")
"""A token bucket, which kernels have that lack `netem`: what does not fit waits for up to 0.4 s, then is lost."""


def possible() -> bool:
    """Return whether this machine lets us make network namespaces."""
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return False
    steps = ["ip link set lo up", "ip link add name a type veth peer name b", "ip tuntap add mode tun"]
    asked = ["unshare", "--net", "--mount", "sh", "-c", " && ".join(steps)]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def go_inside() -> None:
    """Starts this very program anew in a network namespace of its own; returns once it runs there."""
    if os.environ.get(_INSIDE) != "1":
        os.environ[_INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])


@dataclass
class Network:
    """The namespaces of some nodes, for as long as the context lasts. Enter it inside."""

    nodes: int
    cut: set[int] = field(default_factory=set)  # nodes that are off the cluster's link now
    lagging: dict[int, subprocess.Popen[str]] = field(default_factory=dict)  # by node: what holds its packets up

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            _ip("link", "set", "lo", "up")
            _ip("address", "add", f"{CLUSTER}/32", "dev", "lo")
            _ip("address", "add", f"{SITES}/32", "dev", "lo")
            for node in range(self.nodes):
                _ip("netns", "add", self._name(node))
                stack.callback(_ip, "netns", "delete", self._name(node))
                self._inside(node, "link", "set", "lo", "up")
                self._link(node, "c", "10.77", CLUSTER)
                self._link(node, "s", "10.78", SITES)
                stack.callback(self.set_lag, node, lags=False)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def address(self, node: int) -> str:
        """Of a node, as the cluster knows it."""
        return f"10.77.{node}.2"

    def command(self, node: int) -> list[str]:
        """Return what a command that is to run on a node begins with."""
        return ["ip", "netns", "exec", self._name(node)]

    def set_link(self, node: int, *, up: bool) -> None:
        """Cuts a node off the cluster, or lets it back."""
        _ip("link", "set", f"c{node}", "up" if up else "down")
        (self.cut.discard if up else self.cut.add)(node)

    def set_speed(self, node: int, *, slow: bool) -> None:
        """Makes a node's link to the cluster slow in both directions, or as fast as it was."""
        what = ("replace", *_SLOW) if slow else ("delete",)
        for inside, device in (((), f"c{node}"), (self.command(node), "c")):
            dev = ("tc", "qdisc", what[0], "dev", device, "root", *what[1:])
            subprocess.run([*inside, *dev], check=True)

    def set_lag(self, node: int, *, lags: bool) -> None:
        """Makes each packet between a node and the cluster take `LAG_S`, and `LOST` of them get lost, or ends that.

        Connections live on: the addresses stay, only the way between them changes.
        """
        inside, (here, there) = self._name(node), (f"lag{node}", "lag")
        if lags:
            names = ("--here", here, "--there", there, "--namespace", inside)
            command = [sys.executable, str(_LAG), *names, "--delay-s", str(LAG_S), "--loss", str(LOST)]
            process = self.lagging[node] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n", "the link that lags did not start"
            _ip("route", "replace", f"{self.address(node)}/32", "dev", here, "src", CLUSTER)
            self._inside(node, "route", "replace", f"{CLUSTER}/32", "dev", there, "src", self.address(node))
        elif (old := self.lagging.pop(node, None)) is not None:
            self._inside(node, "route", "replace", f"{CLUSTER}/32", "via", f"10.77.{node}.1")
            _ip("route", "delete", f"{self.address(node)}/32", "dev", here)
            old.terminate()
            old.communicate()

    def _link(self, node: int, kind: str, net: str, other_end: str) -> None:
        here, there, name = f"{net}.{node}.1", f"{net}.{node}.2", f"{kind}{node}"
        _ip("link", "add", "name", name, "type", "veth", "peer", "name", kind, "netns", self._name(node))
        _ip("address", "add", f"{here}/30", "dev", name)
        _ip("link", "set", name, "up")
        self._inside(node, "address", "add", f"{there}/30", "dev", kind)
        self._inside(node, "link", "set", kind, "up")
        self._inside(node, "route", "add", f"{other_end}/32", "via", here)

    def _inside(self, node: int, *words: str) -> None:
        _ip("-n", self._name(node), *words)

    def _name(self, node: int) -> str:
        return f"chaos-{os.getpid()}-{node}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
