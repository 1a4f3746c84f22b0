"""Faults of a chaos cluster that are no deaths: parts that stand still, and a database or a disk that cannot be used.

Each passes by itself: what ends it is left with the cluster (`ChaosCluster.later`).
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from contextlib import suppress

import psutil
import psycopg
from _chaos_cluster import ChaosCluster

_OURS = "application_name in ('shoal', 'shoal-listen')"
_WRITABLE = "-c default_transaction_read_only=off"


def freeze(cluster: ChaosCluster, found: Sequence[psutil.Process], for_s: float) -> bool:
    """Stops processes where they are; False when none of them was there any more."""
    frozen = []
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
            frozen.append(process)

    if frozen:
        cluster.later(for_s, lambda: _thaw(frozen))
    return bool(frozen)


def _thaw(frozen: Sequence[psutil.Process]) -> None:
    """Lets processes go on; another fault may have ended some of them meanwhile."""
    for process in frozen:
        with suppress(psutil.NoSuchProcess):
            process.resume()


def freeze_postgres(cluster: ChaosCluster, for_s: float) -> None:
    """Connections stay open, and nothing is answered."""
    frozen = cluster.postgres.freeze()
    cluster.later(for_s, lambda: _thaw(frozen))


def lock_tables(cluster: ChaosCluster, for_s: float) -> None:
    """Another program holds a lock, as a migration or a hasty operator does: all is read, and nothing written."""
    other = psycopg.connect(cluster.postgres.url)
    try:
        other.execute("set lock_timeout = '2s'")
        other.execute("lock table session in exclusive mode")
    except psycopg.Error:
        other.close()
        raise
    cluster.later(for_s, other.close)


def cut_connections(cluster: ChaosCluster) -> None:
    """Every connection to the database breaks, in the midst of whatever it does."""
    with psycopg.connect(cluster.postgres.url, autocommit=True) as one:
        one.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where {_OURS}".encode())


def fail_over(cluster: ChaosCluster, for_s: float) -> None:
    """Connections break, and the server that answers only reads, as a standby does until it is made the primary."""
    _set_read_only(cluster, "set default_transaction_read_only = on")
    cut_connections(cluster)

    def promote() -> None:
        _set_read_only(cluster, "reset default_transaction_read_only")

    cluster.later(for_s, promote)


def _set_read_only(cluster: ChaosCluster, how: str) -> None:
    with psycopg.connect(cluster.postgres.url, autocommit=True, options=_WRITABLE) as one:
        one.execute(f"alter database postgres {how}".encode())


def fill_disk(cluster: ChaosCluster, for_s: float) -> None:
    """The S3 server is away, and the disk where uploads would wait for it is full."""
    filler = cluster.spill / "filler"
    with filler.open("ab") as file, suppress(OSError):  # until there is no space left
        while True:
            os.write(file.fileno(), bytes(65_536))
    cluster.parts["s3"].kill(for_s)
    cluster.later(for_s, lambda: filler.unlink(missing_ok=True))


def for_a_while(
    begin: Callable[[ChaosCluster, float], None], seconds: tuple[float, float]
) -> Callable[[ChaosCluster, random.Random], float | None]:
    """Begins one of the faults above for a time by chance, and gives that; None while the database is away already."""

    def hurt(cluster: ChaosCluster, dice: random.Random) -> float | None:
        for_s = dice.uniform(*seconds)
        if cluster.postgres_back_at or cluster.mends:  # one after the other: each has to be able to begin
            return None
        try:
            begin(cluster, for_s)
        except psycopg.OperationalError:
            return None
        return for_s

    return hurt
