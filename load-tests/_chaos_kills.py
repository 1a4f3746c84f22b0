"""Parts of a chaos cluster that can be killed or broken, the means, and their weights beside each other."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import psutil
from _chaos_cluster import WIRES, ChaosCluster, Hindrance
from _chaos_doubts import Kill
from _chaos_faults import cut_connections, fail_over, fill_disk, for_a_while, freeze, freeze_postgres, lock_tables

AWAY_S = (1.0, 4.0)
"""For how long PostgreSQL and the S3 server are away."""

CUT_S = (3.0, 25.0)
"""For how long a node is cut off: a time in which Ray gives it up, or does not yet."""

SLOW_S = (10.0, 30.0)
"""For how long a node's link is slow, or each packet on it late and some lost."""

FREEZE_S = (5.0, 25.0)
"""For how long a process stands still: shorter and longer than the leases of 15 s, and than a worker is waited for."""

LOCK_S = (5.0, 25.0)
"""For how long the database hangs, is locked, only reads or has no disk: shorter and longer than leases."""

WEIGHTS: Mapping[str, int] = {
    "chromium": 3,
    "worker": 3,
    "raylet": 2,
    "dispatcher": 2,
    "gateway": 2,
    "supervisor": 1,
    "postgres": 1,
    "s3": 1,
    "network": 2,
    "slow link": 2,
    "late packets": 2,
    "frozen worker": 1,
    "frozen chromium": 1,
    "frozen raylet": 1,
    "frozen head": 1,
    "frozen dispatcher": 1,
    "frozen gateway": 1,
    "frozen postgres": 1,
    "write lock": 1,
    "cut connections": 1,
    "failover": 1,
    "full disk": 1,
    "head": 1,
    **dict.fromkeys(WIRES, 1),
}
"""Of one round, in which each kind has its turns, in an order by chance."""

NEEDS_LINKS = frozenset({"network", "slow link", "late packets"})
"""Only with namespaces."""

NEEDS_DISK = frozenset({"full disk"})
"""Only where a disk can be mounted."""


def order(dice: random.Random, kinds: Sequence[str]) -> Iterator[str]:
    """Kinds without end: each once, then round by round."""
    yield from dice.sample(list(kinds), len(kinds))
    while True:
        some = [kind for kind in kinds for _ in range(WEIGHTS[kind])]
        dice.shuffle(some)
        yield from some


def hurt(cluster: ChaosCluster, kind: str, dice: random.Random) -> Kill | None:
    """Kills or stops one of this kind; None when there was none just now."""
    at = time.time()
    hit = _HOW[kind](cluster, dice)
    return None if hit is None else Kill(kind, at, hit.lasts_s, hit.workers)


@dataclass(frozen=True)
class _Hit:
    lasts_s: float = 0.0
    workers: frozenset[int] | None = frozenset()


_How = Callable[[ChaosCluster, random.Random], _Hit | None]
_WORKER = "ray::BrowserWorkerActor"


def _titled(word: str) -> _How:
    def kill(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
        found = [process for process, line in cluster.tree() if word in line and "--type=" not in line]
        return _kill(found, dice, _worker_of)

    return kill


def _raylet(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
    """Of a node with browsers; the head is a kind of its own, for it takes the whole Ray cluster with it."""
    nodes = {one: f"node{n}" for n in range(cluster.nodes) for one in cluster.parts[f"node{n}"].below("raylet")}
    return _kill(list(nodes), dice, lambda raylet: _workers_on(cluster, nodes[raylet]))


def _workers_on(cluster: ChaosCluster, node: str) -> frozenset[int]:
    return frozenset(process.pid for process, line in cluster.tree(node) if line.startswith(_WORKER))


def _worker_of(process: psutil.Process) -> frozenset[int]:
    """The worker that a process is, or belongs to."""
    line = [process, *process.parents()]
    return frozenset(one.pid for one in line if one.name().startswith("ray::") and _WORKER in " ".join(one.cmdline()))


def _kill(
    found: Sequence[psutil.Process], dice: random.Random, workers: Callable[[psutil.Process], frozenset[int]]
) -> _Hit | None:
    """`workers`: those that the death of a process breaks off; asked for before it dies."""
    if not found:
        return None
    try:
        chosen = dice.choice(sorted(found, key=lambda one: one.pid))
        hit = _Hit(workers=workers(chosen))
        chosen.kill()
    except psutil.NoSuchProcess:
        return None
    return hit


def _part(name: str, away_s: tuple[float, float] | None = None, hit: _Hit = _Hit()) -> _How:
    def kill(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
        return hit if cluster.parts[name].kill(dice.uniform(*away_s) if away_s else 0.0) else None

    return kill


def _postgres(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
    if cluster.postgres_back_at:
        return None
    cluster.postgres.stop()
    cluster.postgres_back_at = time.monotonic() + dice.uniform(*AWAY_S)
    return _Hit()


def _hinder(how: Hindrance, seconds: tuple[float, float]) -> _How:
    def hinder(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
        hindered = {node for _, node in cluster.hindered_until}  # late packets would take another way than the cut one
        free = [node for node in range(cluster.nodes) if node not in hindered]
        if not free:
            return None
        node, for_s = dice.choice(free), dice.uniform(*seconds)
        hit = _Hit(for_s, _workers_on(cluster, f"node{node}"))
        cluster.hinder(how, node, for_s)
        return hit

    return hinder


def _frozen(word: str) -> _How:
    def stop(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
        found = [process for process, line in cluster.tree() if word in line and "--type=" not in line]
        return _freeze_one(cluster, found, dice)

    return stop


def _freeze_one(cluster: ChaosCluster, found: Sequence[psutil.Process], dice: random.Random) -> _Hit | None:
    if not found:
        return None
    chosen, for_s = dice.choice(sorted(found, key=lambda one: one.pid)), dice.uniform(*FREEZE_S)
    try:
        workers = _worker_of(chosen)
    except psutil.NoSuchProcess:
        return None
    return _Hit(for_s, workers) if freeze(cluster, [chosen], for_s) else None


def _frozen_raylet(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
    nodes = {one: f"node{n}" for n in range(cluster.nodes) for one in cluster.parts[f"node{n}"].below("raylet")}
    hit = _freeze_one(cluster, list(nodes), dice)
    return hit and _Hit(hit.lasts_s, None)  # its workers end with it when it is given up, or live on


def _frozen_head(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
    hit = _freeze_one(cluster, cluster.parts["head"].below("gcs_server"), dice)
    return hit and _Hit(hit.lasts_s, None)  # nodes give it up, and end what runs on them


def _cut_off(wire: str) -> _How:
    """One part gets nothing from another, which the rest reaches as before."""

    def cut(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
        relay = cluster.parts[wire].process
        if relay is None or relay.poll() is not None:
            return None
        for_s = dice.uniform(*LOCK_S)
        return _Hit(for_s) if freeze(cluster, [psutil.Process(relay.pid)], for_s) else None

    return cut


def _frozen_gateway(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
    process = cluster.parts["gateway"].process
    return _freeze_one(cluster, [psutil.Process(process.pid)], dice) if process and process.poll() is None else None


def _stores(begin: Callable[[ChaosCluster, float], None], workers: frozenset[int] | None = frozenset()) -> _How:
    hurt_store = for_a_while(begin, LOCK_S)

    def hurt_it(cluster: ChaosCluster, dice: random.Random) -> _Hit | None:
        for_s = hurt_store(cluster, dice)
        return None if for_s is None else _Hit(for_s, workers)

    return hurt_it


_HOW: Mapping[str, _How] = {
    "chromium": _titled("--user-data-dir="),
    "worker": _titled(_WORKER),
    "raylet": _raylet,
    "dispatcher": _titled("ray::DispatcherActor"),
    "gateway": _part("gateway"),
    "supervisor": _part("supervisor"),
    "postgres": _postgres,
    "network": _hinder("cut", CUT_S),
    "slow link": _hinder("slow", SLOW_S),
    "late packets": _hinder("lag", SLOW_S),
    "head": _part("head", hit=_Hit(workers=None)),  # Ray ends every worker of a cluster without a head
    "s3": _part("s3", AWAY_S),
    "frozen worker": _frozen(_WORKER),
    "frozen chromium": _frozen("--user-data-dir="),
    "frozen raylet": _frozen_raylet,
    "frozen head": _frozen_head,
    "frozen dispatcher": _frozen("ray::DispatcherActor"),
    "frozen gateway": _frozen_gateway,
    "frozen postgres": _stores(freeze_postgres),
    "write lock": _stores(lock_tables),
    "cut connections": _stores(lambda cluster, _: cut_connections(cluster)),
    "failover": _stores(fail_over),
    "full disk": _stores(fill_disk, workers=None),
    **{wire: _cut_off(wire) for wire in WIRES},
}
