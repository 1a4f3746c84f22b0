"""Jobs per second that callers can hand in, by locust, beside a bare FastAPI route that does one INSERT.

Both servers are one process each, started as uvicorn starts them here, on the same kind of database; rounds take turns.
Batches are measured by one request of many lines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
from _empty import databases
from _report import Report, Target, arguments

from shoal.agent.support.json_value import Json

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
USERS = 32
ROUND_S, QUICK_S = 10, 4
BATCH, QUICK_BATCH = 20_000, 5_000
SHOAL = "from shoal.services.cli import main; main()"
FLOOR = """
import socket, sys, uvicorn
sys.path.insert(0, {here!r})
import _insert_route
server = uvicorn.Server(uvicorn.Config(_insert_route.app, log_level="error"))
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as ours: answers leave at once
listener.bind(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
server.run([listener])
"""


@contextmanager
def started(command: list[str], folder: Path, **environment: str) -> Iterator[tuple[str, psutil.Process]]:
    """A server that prints its port, or its address as JSON; gives its address and its process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**kept, "SHOAL_DATA_DIR": str(folder), **environment}
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        url = json.loads(line)["url"] if line.startswith("{") else f"http://127.0.0.1:{int(line)}"
        for _ in range(200):
            try:
                httpx.get(f"{url}/openapi.json")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield url, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=20)


def locust(url: str, path: str, seconds: int) -> Json:
    """One round: what locust says about the answers."""
    command = [sys.executable, "-m", "locust", "-f", str(HERE / "_locust_submit.py"), "--headless", "--json"]
    command += ["--users", str(USERS), "--spawn-rate", str(USERS), "--run-time", f"{seconds}s", "--host", url]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "SUBMIT_PATH": path})
    if done.returncode:
        raise RuntimeError(f"locust: {done.stderr[-2000:]}")
    (stats,) = json.loads(done.stdout)
    return stats


def quantile(stats: Json, share: float) -> float:
    """A response time in milliseconds, from locust's histogram."""
    times = sorted((float(ms), n) for ms, n in stats["response_times"].items())
    left = share * sum(n for _, n in times)
    for ms, n in times:
        left -= n
        if left <= 0:
            return ms
    return times[-1][0]


def measure(report: Report, name: str, server: tuple[str, psutil.Process], path: str, seconds: int) -> float:
    """One round against one server; gives its jobs per second."""
    url, process = server
    before = sum(process.cpu_times()[:2])
    stats = locust(url, path, seconds)
    spent_s = sum(process.cpu_times()[:2]) - before
    taken_s = stats["last_request_timestamp"] - stats["start_time"]
    if stats["num_failures"]:
        raise RuntimeError(f"{name}: {stats['num_failures']} of {stats['num_requests']} requests failed")
    rate = stats["num_requests"] / taken_s
    report.add(f"{name}: jobs per second", rate)
    for share in (0.5, 0.95, 0.99):
        report.add(f"{name}: p{share * 100:g} ms", quantile(stats, share))
    report.add(f"{name}: CPU ms per job", 1000 * spent_s / stats["num_requests"])
    return rate


def batch(url: str, lines: int) -> float:
    """Jobs per second of one batch."""
    body = b"".join(
        json.dumps({"url": f"https://93.184.216.{n % 50}/p/{n}", "goal": "find the price"}).encode() + b"\n"
        for n in range(lines)
    )
    began = time.perf_counter()
    answer = httpx.post(
        f"{url}/v1/jobs:batch", content=body, headers={"Content-Type": "application/x-ndjson"}, timeout=120
    )
    taken_s = time.perf_counter() - began
    if answer.status_code != 200 or answer.headers["Shoal-Accepted"] != str(lines):
        raise RuntimeError(f"the batch was not taken whole: {answer.status_code} {answer.text[:300]}")
    return lines / taken_s


def run(report: Report, database: str, url: str, floor_url: str, *, rounds: int, quick: bool) -> None:
    """All rounds on one database."""
    seconds = QUICK_S if quick else ROUND_S
    gateway = [sys.executable, "-c", SHOAL, "gateway", "--port", "0", "--json"]
    floor = [sys.executable, "-c", FLOOR.format(here=str(HERE))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = {"SHOAL_STORE_URL": url, "SHOAL_REQUESTS_PER_S": "0", "SHOAL_LOG_LEVEL": "warning"}
        if database == "PostgreSQL":
            migrate = [sys.executable, "-c", SHOAL, "migrate"]
            subprocess.run(migrate, check=True, cwd=ROOT, env={**os.environ, **options, "SHOAL_DATA_DIR": name})
        with (
            started(gateway, folder, **options) as ours,
            started(floor, folder, SUBMIT_STORE=floor_url) as bare,
        ):
            for _ in range(rounds):
                least = measure(report, f"{database}, one INSERT", bare, "/job", seconds)
                mine = measure(report, f"{database}, Shoal", ours, "/v1/jobs", seconds)
                report.add(f"{database}: share of the floor", mine / least)
                report.add(f"{database}: batch, jobs per second", batch(ours[0], QUICK_BATCH if quick else BATCH))


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", choices=("sqlite", "postgresql", "both"), default="both")
    options = parser.parse_args()
    report = Report("submit")
    report.notes.append(
        f"{USERS} users of locust in one process beside one server process, on the same CPUs. Where locust is what "
        "limits, the share of the floor says too much; CPU per job does not."
    )
    for kind, database in (("sqlite", "SQLite"), ("postgresql", "PostgreSQL")):
        if options.store not in (kind, "both"):
            continue
        report.targets[f"{database}: share of the floor"] = Target(0.7)
        report.targets[f"{database}: batch, jobs per second"] = Target(5_000)
        with databases(kind) as make:
            run(report, database, make(), make(), rounds=1 if options.quick else options.rounds, quick=options.quick)
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
