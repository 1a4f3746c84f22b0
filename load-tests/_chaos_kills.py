"""What can be killed in a chaos cluster, how, and how often beside the others."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import psutil
from _chaos_cluster import ChaosCluster, Hindrance

AWAY_S = (1.0, 4.0)
"""For how long PostgreSQL and the S3 server are away."""

CUT_S = (3.0, 25.0)
"""For how long a node is cut off: a time in which Ray gives it up, or does not yet."""

SLOW_S = (10.0, 30.0)
"""For how long a node's link is slow."""

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
    "head": 1,
}
"""Of one round, in which each kind has its turns, in an order by chance."""

NEEDS_LINKS = frozenset({"network", "slow link"})
"""Only with namespaces."""


def order(dice: random.Random, kinds: Sequence[str]) -> Iterator[str]:
    """Kinds without end: each once, then round by round."""
    yield from dice.sample(list(kinds), len(kinds))
    while True:
        some = [kind for kind in kinds for _ in range(WEIGHTS[kind])]
        dice.shuffle(some)
        yield from some


def hurt(cluster: ChaosCluster, kind: str, dice: random.Random) -> bool:
    """Kills or stops one of this kind; False when there was none just now."""
    return _HOW[kind](cluster, dice)


def _titled(word: str) -> Callable[[ChaosCluster, random.Random], bool]:
    def kill(cluster: ChaosCluster, dice: random.Random) -> bool:
        found = [process for process, line in cluster.tree() if word in line and "--type=" not in line]
        return _kill(found, dice)

    return kill


def _raylet(cluster: ChaosCluster, dice: random.Random) -> bool:
    """Of a node with browsers; the head is a kind of its own, for it takes the whole Ray cluster with it."""
    found = [one for n in range(cluster.nodes) for one in cluster.parts[f"node{n}"].below("raylet")]
    return _kill(found, dice)


def _kill(found: Sequence[psutil.Process], dice: random.Random) -> bool:
    if not found:
        return False
    try:
        dice.choice(sorted(found, key=lambda one: one.pid)).kill()
    except psutil.NoSuchProcess:
        return False
    return True


def _postgres(cluster: ChaosCluster, dice: random.Random) -> bool:
    if cluster.postgres_back_at:
        return False
    cluster.postgres.stop()
    cluster.postgres_back_at = time.monotonic() + dice.uniform(*AWAY_S)
    return True


def _hinder(how: Hindrance, seconds: tuple[float, float]) -> Callable[[ChaosCluster, random.Random], bool]:
    def hinder(cluster: ChaosCluster, dice: random.Random) -> bool:
        free = [node for node in range(cluster.nodes) if (how, node) not in cluster.hindered_until]
        if not free:
            return False
        cluster.hinder(how, dice.choice(free), dice.uniform(*seconds))
        return True

    return hinder


_HOW: Mapping[str, Callable[[ChaosCluster, random.Random], bool]] = {
    "chromium": _titled("--user-data-dir="),
    "worker": _titled("ray::BrowserWorkerActor"),
    "raylet": _raylet,
    "dispatcher": _titled("ray::DispatcherActor"),
    "gateway": lambda cluster, _: cluster.parts["gateway"].kill(),
    "supervisor": lambda cluster, _: cluster.parts["supervisor"].kill(),
    "postgres": _postgres,
    "network": _hinder("cut", CUT_S),
    "slow link": _hinder("slow", SLOW_S),
    "head": lambda cluster, _: cluster.parts["head"].kill(),
    "s3": lambda cluster, dice: cluster.parts["s3"].kill(dice.uniform(*AWAY_S)),
}
