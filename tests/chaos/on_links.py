"""The links of `load-tests/_chaos_net.py`, without a cluster. `test_network.py` runs this in namespaces."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from tests.embedded import ROOT

sys.path.insert(0, str(ROOT / "load-tests"))

from _chaos_net import CLUSTER, LAG_S, Network

CALLER = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.settimeout(20)
print("up", flush=True)
for _ in sys.stdin:
    began = time.monotonic()
    connection.sendall(b"x")
    assert connection.recv(1) == b"x"
    print(time.monotonic() - began, flush=True)
"""
COUNTER = """
import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, 33, 10_000_000)  # SO_RCVBUFFORCE
server.bind((sys.argv[1], 9))
server.settimeout(2)
print("up", flush=True)
n = 0
try:
    while server.recv(1):
        n += 1
except TimeoutError:
    print(n)
"""


class Caller:
    """A process on a node that has one connection to the cluster."""

    def __init__(self, network: Network, node: int, port: int) -> None:
        command = [*network.command(node), sys.executable, "-c", CALLER, CLUSTER, str(port)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin is not None and self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout
        assert self._out.readline() == "up\n"

    def ask(self) -> None:
        self._in.write("\n")
        self._in.flush()

    def took_s(self) -> float:
        return float(self._out.readline())

    def round_trip_s(self) -> float:
        self.ask()
        return self.took_s()

    def answers_within(self, seconds: float) -> bool:
        return bool(select.select([self._out], [], [], seconds)[0])

    def end(self) -> None:
        self.process.communicate()


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    with Network(2) as one:
        yield one


@pytest.fixture(scope="module")
def echo() -> Iterator[int]:
    """The port of a server on the cluster's address that gives back what it gets."""

    def serve(connection: socket.socket) -> None:
        with connection:
            while piece := connection.recv(65_536):
                connection.sendall(piece)

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:  # it was closed
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server((CLUSTER, 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def callers(network: Network, echo: int) -> Iterator[list[Caller]]:
    made = [Caller(network, node, echo) for node in range(2)]
    yield made
    for one in made:
        one.end()


def test_packets_are_late_on_one_link_and_its_connections_live_on(network: Network, callers: list[Caller]) -> None:
    here, other = callers
    assert here.round_trip_s() < LAG_S
    for _ in range(2):
        network.set_lag(0, lags=True)
        assert min(here.round_trip_s() for _ in range(3)) >= 2 * LAG_S
        assert min(other.round_trip_s() for _ in range(3)) < LAG_S
        network.set_lag(0, lags=False)
        assert min(here.round_trip_s() for _ in range(3)) < LAG_S


def test_some_packets_are_lost(network: Network) -> None:
    """By datagrams, which nobody sends again: of 2,000 one in a hundred, give or take."""
    network.set_lag(0, lags=True)
    try:
        command = [*network.command(0), sys.executable, "-c", COUNTER, network.address(0)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline() == "up\n"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(2000):
                sender.sendto(b"x", (network.address(0), 9))
        arrived = int(process.communicate()[0])
    finally:
        network.set_lag(0, lags=False)
    assert 1940 <= arrived <= 1997


def test_a_cut_holds_everything_back_until_it_is_over(network: Network, callers: list[Caller]) -> None:
    here, other = callers
    network.set_link(0, up=False)
    began = time.monotonic()
    here.ask()
    assert other.round_trip_s() < LAG_S
    assert not here.answers_within(1.0)
    network.set_link(0, up=True)
    assert here.took_s() >= 1
    assert time.monotonic() - began < 15
