"""Two Ray clusters on two nodes with addresses of their own, over one store. `test_network.py` runs this in namespaces.

The first node has a worker of the dispatcher `main`; the second one, apart, is a whole Ray cluster with the dispatcher
`second` and its worker, whom nothing but the network joins with the store. The sites' network is another one, which
stays whole: who is cut off goes on with its pages. All clocks but the database's are ten minutes wrong: those of `main`
and its worker are behind, those of `second` and its worker ahead.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import psutil
import pytest

from shoal.services.events import LogEvent
from tests.embedded import ROOT, wait_until

sys.path.insert(0, str(ROOT / "load-tests"))

from _chaos_cluster import APART, ChaosCluster
from _chaos_net import Network

from shoal.agent.support.json_value import Json

pytestmark = pytest.mark.timeout(600)

LEASE_S = 8
NAME = {"schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
QUOTE: dict[str, Json] = json.loads((ROOT / "load-tests" / "quote.json").read_text())
JOINED, ALONE = 0, 1
"""The nodes: of the dispatcher `main`, and apart."""
PATIENT = {
    "SHOAL_LEASE_S": str(LEASE_S),
    # Who waits for packets is not dead.
    "RAY_health_check_failure_threshold": "15",
}
WRONG_CLOCK = str(ROOT / "tests" / "chaos" / "wrong_clock")
BEHIND = {"PYTHONPATH": WRONG_CLOCK, "WRONG_CLOCK_AHEAD_S": "-600"}
AHEAD = {"PYTHONPATH": WRONG_CLOCK, "WRONG_CLOCK_AHEAD_S": "600"}


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    with Network(2) as one:
        yield one


@pytest.fixture(scope="module")
def cluster(network: Network) -> Iterator[ChaosCluster]:
    clocks = {"head": BEHIND, "node0": BEHIND, APART: AHEAD, "gateway": AHEAD}
    with ChaosCluster(nodes=2, network=network, apart=True, own=clocks, settings=PATIENT) as one:
        yield one
    assert one.left == [], "processes outlived the cluster"


@dataclass(frozen=True)
class Loop:
    """A job over product pages, and what the shop says of them."""

    id: str
    names: list[str]
    visit: str  # marks its visits in the shop's log

    def is_over(self, cluster: ChaosCluster) -> bool:
        return cluster.get(f"/v1/jobs/{self.id}")["finished_at"] is not None

    def visits(self, cluster: ChaosCluster, node: int) -> int:
        """Return how many of its pages a node has asked for, by the shop's log."""
        asked = cluster.site("/_log/requests?path=/p/*")
        theirs = (one for one in asked if one["client"].startswith(f"10.78.{node}.2 "))
        return sum(f"visit={self.visit}-" in one["query"] for one in theirs)


def loop_over(cluster: ChaosCluster, visit: str, n: int, *, slow: bool = False) -> Loop:
    """Begins a loop over `n` products, some of them again and again; slow ones take 1.5 s."""
    every = [p for p in cluster.site("/_truth/products.json") if not p["discontinued"] and p["slow"] is slow]
    wanted = [every[i % len(every)] for i in range(n)]
    spec = {
        "url": f"{cluster.shop}/",
        "loop": {
            "values": [f"{cluster.shop}{p['path']}?visit={visit}-{i}" for i, p in enumerate(wanted)],
            "is_link": True,
        },
        "extract": NAME,
        "artifacts": {"screenshots": "none"},
        "politeness": {"robots": False},
        "max_attempts": 5,
    }
    return Loop(cluster.submit(spec), [p["name"] for p in wanted], visit)


def send_forms(cluster: ChaosCluster, n: int) -> tuple[str, list[str]]:
    """Begins to send the quote form once for each of `n` e-mail addresses."""
    emails = [f"cut{i}@quimby.example" for i in range(n)]
    spec = {
        "url": f"{cluster.shop}/quote",
        "goal": "Send the request for a quote.",
        "data": QUOTE | {"delivery_date": time.strftime("%Y-%m-%d", time.localtime(time.time() + 30 * 86_400))},
        "repeatable": False,
        "complete_criterion": "your request was received",
        "loop": {"values": [json.dumps({"email": email}) for email in emails]},
        "politeness": {"robots": False},
        "artifacts": {"screenshots": "none"},
    }
    return cluster.submit(spec), emails


def whole(cluster: ChaosCluster, loop: Loop) -> list[Json]:
    """The results of a loop that is over, each item there once and true."""
    rows = cluster.results(loop.id)
    assert Counter(row["status"] for row in rows) == {"completed": len(loop.names)}
    assert [row["record"]["name"] for row in rows] == loop.names
    assert len({row["session"] for row in rows}) == len(rows)
    return rows


def workers(cluster: ChaosCluster) -> set[str]:
    """Those that the dispatchers last said they have."""
    told = cluster.get("/v1/status")["dispatchers"]
    return {worker["name"] for snapshot in told.values() for worker in snapshot["workers"]}


def logged(cluster: ChaosCluster, *names: LogEvent) -> list[Json]:
    """Return what dispatchers and workers have logged under these names."""
    found = []
    for path in cluster.folder.glob("*/session_2*/logs/worker-*.err"):
        for line in path.read_text(errors="replace").splitlines():
            if any(f'"event": "{name}"' in line for name in names):
                found.append(json.loads(line))
    return found


def test_the_clocks_are_wrong(cluster: ChaosCluster) -> None:
    """Else what follows would say nothing about clocks."""
    told = [datetime.fromisoformat(one["timestamp"]).timestamp() for one in logged(cluster, LogEvent.WORKER_OPENED)]
    ahead_s = sorted(at - time.time() for at in told)
    assert ahead_s[0] < -590 and 300 < ahead_s[-1] < 610


def test_with_wrong_clocks_and_slow_links_nobody_is_taken_for_dead(cluster: ChaosCluster, network: Network) -> None:
    """Each packet to or from a node takes a tenth of a second, and one in a hundred is lost."""
    known = workers(cluster)
    assert len(known) == 2
    for node in (JOINED, ALONE):
        network.set_lag(node, lags=True)
    try:
        loop = loop_over(cluster, "lags", 40, slow=True)
        wait_until(lambda: loop.is_over(cluster), 90, "the loop is over")
    finally:
        for node in (JOINED, ALONE):
            network.set_lag(node, lags=False)
    assert {row["attempts"] for row in whole(cluster, loop)} == {1}, "no lease was taken early"
    assert loop.visits(cluster, JOINED) and loop.visits(cluster, ALONE)
    assert loop.visits(cluster, JOINED) + loop.visits(cluster, ALONE) == 40
    assert workers(cluster) == known
    assert logged(cluster, LogEvent.WORKER_LOST, LogEvent.LEASE_REAPED, LogEvent.REPORT_LATE) == []


def test_with_wrong_clocks_a_retry_waits_as_long_as_it_was_told(cluster: ChaosCluster) -> None:
    """Its pause is stored by one machine and seen to be over by another."""
    page = f"{cluster.shop}/fault/429?n=1"  # asks once for a second of patience
    began = time.monotonic()
    job = cluster.submit({"url": page, "extract": NAME, "max_attempts": 3, "politeness": {"robots": False}})
    wait_until(lambda: len(cluster.site("/_log/requests?path=/fault/429")) >= 2, 40, "it was tried again")
    assert 1.0 <= time.monotonic() - began < 30, "not at once, and not ten minutes later"
    wait_until(lambda: cluster.get(f"/v1/jobs/{job}")["finished_at"], 40, "the job is over")


def test_a_node_that_is_cut_off_is_relieved_of_its_sessions_and_comes_too_late_with_them(
    cluster: ChaosCluster, network: Network
) -> None:
    """It is not killed: its dispatcher and worker go on with pages that still answer, and find the store moved on."""
    loop = loop_over(cluster, "cut", 40, slow=True)
    forms, emails = send_forms(cluster, 6)
    wait_until(lambda: loop.visits(cluster, ALONE) >= 2, 60, "both nodes work")
    before = len(logged(cluster, LogEvent.LEASE_REAPED))
    network.set_link(ALONE, up=False)
    try:
        wait_until(lambda: loop.is_over(cluster), 90, "the other node has taken its sessions over")
        wait_until(lambda: cluster.get(f"/v1/jobs/{forms}")["finished_at"], 60, "the forms are over")
        rows, filled = whole(cluster, loop), cluster.results(forms)
    finally:
        network.set_link(ALONE, up=True)
    again = [row for row in rows if row["attempts"] > 1]
    assert 1 <= len(again) <= 2 * cluster.slots + 2, "what it held, and nothing else"
    taken = {one["session"] for one in logged(cluster, LogEvent.LEASE_REAPED)[before:]}
    wait_until(lambda: logged(cluster, LogEvent.REPORT_LATE), 60, "what it did while it was cut off is refused")
    assert {one["session"] for one in logged(cluster, LogEvent.REPORT_LATE)} <= taken
    assert (cluster.results(loop.id), cluster.results(forms)) == (rows, filled), "late reports change nothing"
    sent = Counter(one["fields"]["email"] for one in cluster.site("/_log/forms?form=quote")["submissions"])
    for email, row in zip(emails, filled, strict=True):
        assert row["status"] in ("completed", "unsure"), row
        assert sent[email] == 1 if row["status"] == "completed" else sent[email] <= 1

    after = loop_over(cluster, "joined", 40)
    wait_until(lambda: after.is_over(cluster), 60, "the loop after that is over")
    whole(cluster, after)
    assert after.visits(cluster, ALONE), "it takes sessions again"
    assert cluster.store("select count(*) from session where owner is not null") == [(0,)]


def test_the_loss_of_a_node_with_its_dispatcher_leaves_the_rest_at_work(cluster: ChaosCluster) -> None:
    loop = loop_over(cluster, "lost", 40, slow=True)
    wait_until(lambda: loop.visits(cluster, ALONE) >= 2, 60, "both nodes work")
    for name in (APART, "second"):
        cluster.parts[name].not_before = float("inf")
        for process, _ in cluster.tree(name):
            with suppress(psutil.NoSuchProcess):
                process.kill()
    wait_until(lambda: loop.is_over(cluster), 90, "the loop is over")
    again = [row for row in whole(cluster, loop) if row["attempts"] > 1]
    assert 1 <= len(again) <= 2 * cluster.slots + 2
    assert cluster.tree(APART) == []
