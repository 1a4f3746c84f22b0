"""The cost of event streams to the gateway: 200 are open while jobs go on, beside the same without streams.

The gateway is a process of its own. The jobs' sessions are ended by this process, in the same store, as a dispatcher
does it: each turn ends one session of each job. Streams are read here, so that they take part in the load, not in the
gateway's figure. Every stream has to have been told every event of its job when the jobs are over.

    python load-tests/bench/streams.py [--streams 200] [--jobs 200] [--turns-per-s 1] [--seconds 20] [--store sqlite]
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import psutil
from _empty import databases, root_of, store_at, unfold_all
from _processes import cpu_s
from _report import Report, Target, arguments
from submit import ROOT, SHOAL, started

from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, FanOut, LoopItem, Outcome
from shoal.agent.worker_messages import Work
from shoal.services.store import ids
from shoal.services.store.records import ClaimRequest, Finish
from shoal.services.store.store import Store

DONE = Outcome(Status.COMPLETED, seconds=1.0)
LEASE_S = 3_600.0
JOBS_OF_A_COMMIT = 10
"""A dispatcher writes what ended within 10 ms together."""
SHARE = "{}: share of one core for {} streams"


async def begun(store: Store, jobs: int, items: int) -> dict[int, list[Work]]:
    """Jobs that have become loops, with the leased sessions of their items."""
    sessions: dict[int, list[Work]] = {}
    for number in range(jobs):
        job, root = await root_of(store, f"t{number % 10}")
        links = tuple(LoopItem(i, f"https://h{number}.example/{i}", is_link=True) for i in range(items))
        await store.finish(
            [Finish(root.session, root.fence, Outcome(Status.WAITING, fan_out=FanOut(links, Checkpoint())))]
        )
        sessions[job] = []
    await unfold_all(store)
    for partition in await store.partitions():
        takes = [ClaimRequest(partition.job, partition.domain, 0, items)]
        claims = await store.claim("bench", takes, lease_s=LEASE_S)
        sessions[partition.job] += [claimed.work for claimed in claims.sessions]
    return sessions


async def turns(store: Store, sessions: dict[int, list[Work]], *, per_s: float, seconds: float) -> int:
    """Ends one session of each job each turn, in commits of a few jobs over the whole turn; gives the turns."""
    began, n, several = time.monotonic(), 0, list(sessions.values())
    commits = range(0, len(several), JOBS_OF_A_COMMIT)
    while time.monotonic() - began < seconds:
        for number, first in enumerate(commits, 1):
            group = several[first : first + JOBS_OF_A_COMMIT]
            await store.finish([Finish(works[n].session, works[n].fence, DONE) for works in group])
            await asyncio.sleep(max(0.0, began + (n + number / len(commits)) / per_s - time.monotonic()))
        n += 1
    return n


class Reader:
    """One stream that is read."""

    def __init__(self, url: str, job: int) -> None:
        self.address = f"{url}/v1/jobs/{ids.job_id(job)}/events"
        self.job = job
        self.seen: list[int] = []

    async def read(self, client: httpx.AsyncClient) -> None:
        """Reads until it is canceled."""
        async with client.stream("GET", self.address, timeout=None) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if line.startswith("id:"):
                    self.seen.append(int(line[3:]))


async def until_all_are_told(store: Store, readers: Sequence[Reader]) -> None:
    """Returns once every stream was told what there is; raises where one was told something else."""
    jobs = {reader.job for reader in readers}
    known = {job: [event.seq for event in await store.events(job=job, limit=10_000)] for job in jobs}
    async with asyncio.timeout(30):
        while any(reader.seen != known[reader.job] for reader in readers):  # noqa: ASYNC110  they come from elsewhere
            await asyncio.sleep(0.1)


def migrate(database: str, environment: dict[str, str]) -> None:
    """Makes the tables, where the gateway does not."""
    if database == "PostgreSQL":
        command = [sys.executable, "-c", SHOAL, "migrate"]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **environment})


async def round_of(report: Report, database: str, url: str, streams: int, options: Options) -> None:
    """One round: a gateway, jobs, and so many streams on them."""
    with tempfile.TemporaryDirectory() as name:
        environment = {"SHOAL_STORE_URL": url, "SHOAL_REQUESTS_PER_S": "0", "SHOAL_LOG_LEVEL": "warning"}
        migrate(database, {**environment, "SHOAL_DATA_DIR": name})
        gateway = [sys.executable, "-c", SHOAL, "gateway", "--port", "0", "--json"]
        with started(gateway, Path(name), **environment) as (address, process):
            async with store_at(url) as store:
                items = int(options.seconds * options.turns_per_s) + 2
                sessions = await begun(store, options.jobs, items)
                jobs = list(sessions)
                readers = [Reader(address, jobs[n % len(jobs)]) for n in range(streams)]
                limits = httpx.Limits(max_connections=streams + 10, max_keepalive_connections=0)
                async with httpx.AsyncClient(limits=limits) as client:
                    tasks = [asyncio.create_task(reader.read(client)) for reader in readers]
                    await until_all_are_told(store, readers)
                    share = await measured(store, sessions, process, options)
                    await until_all_are_told(store, readers)
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
    report.add(SHARE.format(database, streams), share)
    if streams:
        report.add(f"{database}: events told a second", sum(len(reader.seen) for reader in readers) / options.seconds)


async def measured(store: Store, sessions: dict[int, list[Work]], process: psutil.Process, options: Options) -> float:
    """The gateway's share of one core while the jobs go on."""
    before, began = cpu_s([process]), time.monotonic()
    await turns(store, sessions, per_s=options.turns_per_s, seconds=options.seconds)
    return (cpu_s([process]) - before) / (time.monotonic() - began)


class Options:
    """Options of the command line."""

    streams: int
    jobs: int
    turns_per_s: float
    seconds: float
    store: str
    rounds: int
    quick: bool
    json: bool


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--turns-per-s", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", choices=("sqlite", "postgresql", "both"), default="both")
    options = parser.parse_args(namespace=Options())
    report = Report("streams")
    report.notes.append(
        f"{options.streams} streams over {options.jobs} jobs, each of which has an event {options.turns_per_s:g} times "
        "a second. Streams and the ending of sessions are in one other process on the same CPUs."
    )
    for kind, database in (("sqlite", "SQLite"), ("postgresql", "PostgreSQL")):
        if options.store not in (kind, "both"):
            continue
        report.targets[SHARE.format(database, options.streams)] = Target(0.2, at_least=False)
        with databases(kind) as make:
            for _ in range(1 if options.quick else options.rounds):
                for streams in (0, options.streams):
                    asyncio.run(round_of(report, database, make(), streams, options))
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
