"""`shoal up` is asked to end, by each signal and at several moments: it ends in order, with 0, and nothing is left.

Each case starts a cluster. `make test` has a case for each signal and each moment, `make test-chaos` all of them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.embedded import Up, demo_shop, start_up, up, wait_until

pytestmark = pytest.mark.timeout(800)  # a cluster has to start

END_S = 90.0
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
_slow = pytest.mark.skipif(not os.environ.get("TEST_CHAOS"), reason="one more cluster: make test-chaos")


@pytest.fixture(autouse=True)
def _hang_up_is_heard() -> Iterator[None]:
    """Commands inherit what their parent ignores: under nohup that is SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def ended_in_order(one: Up) -> None:
    code = one.process.wait(END_S)
    said = one.log.read_text()
    assert code == 0, f"ended with {code}\n{said[-4000:]}"
    assert "Traceback" not in said and "received at time" not in said, said[-4000:]
    # At once: nobody cleans up after a command that ends in order.
    assert one.nothing_left(), f"left: {one.tree()} {list(one.temp.iterdir())}"


@pytest.mark.parametrize(
    ("stage", "number"),
    list(zip(("opening the store", "starting Ray", "starting the browser workers"), SIGNALS, strict=True)),
)
def test_a_cluster_that_is_starting_ends_in_order(stage: str, number: signal.Signals) -> None:
    with tempfile.TemporaryDirectory(prefix="su-", dir="/tmp") as folder:
        base = Path(folder)
        process = start_up(base)
        one = Up(process, base / "data", base / "t", "", log=base / "up.log")
        wait_until(lambda: stage in one.log.read_text(), 120, stage)
        process.send_signal(number)
        ended_in_order(one)


def test_a_cluster_that_a_script_started_in_the_background_ends_in_order() -> None:
    """There the shell has it ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with up() as one:
            one.process.send_signal(signal.SIGINT)
            ended_in_order(one)
    finally:
        signal.signal(signal.SIGINT, before)


def name_in_group(process: psutil.Process, group: int) -> str:
    """The name of a process of that group; "" for another one, or one that has just ended."""
    try:
        return process.name() if os.getpgid(process.pid) == group else ""
    except (psutil.NoSuchProcess, ProcessLookupError):
        return ""


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGHUP,
        pytest.param(signal.SIGINT, marks=_slow),
        pytest.param(signal.SIGTERM, marks=_slow),
    ],
    ids=lambda number: number.name,
)
def test_a_cluster_at_work_ends_in_order(number: signal.Signals) -> None:
    with demo_shop() as shop, up(slots_per_worker="2") as one:
        job = one.submit({"url": f"{shop}/", "loop": {"from": {"select": "a"}}, "politeness": {"robots": False}})
        one.until(job, lambda row: bool(row["counts"]["running"]))
        # A closed terminal, or a shell that ends, signals the whole group: Ray must be there while the cluster ends.
        ours = os.getpgid(one.process.pid)
        together = {name_in_group(process, ours) for process in one.tree()}
        assert not together & {"raylet", "gcs_server"}, together
        one.process.send_signal(number)
        ended_in_order(one)


def _twice(one: Up) -> None:
    one.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "stopping" in one.log.read_text(), 90, "it is stopping")
    one.process.send_signal(signal.SIGINT)


def _all_processes(one: Up) -> None:
    """As systemd does: each process of the service gets the signal, Ray's own included."""
    for process in [*one.tree(), one.process]:
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended with one before it
            process.send_signal(signal.SIGTERM)


def _at_once(one: Up) -> None:
    for number in SIGNALS:
        one.process.send_signal(number)


@pytest.mark.parametrize(
    "ask", [pytest.param(_twice, marks=_slow), _all_processes, pytest.param(_at_once, marks=_slow)]
)
def test_a_cluster_that_is_asked_in_other_ways_ends_in_order(ask: Callable[[Up], None]) -> None:
    with up() as one:
        ask(one)
        ended_in_order(one)
