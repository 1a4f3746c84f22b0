"""`shoal up`, the demo shop and its oracle as processes of their own, for tests that kill parts of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from shoal.agent.support.json_value import Json

ROOT = Path(__file__).resolve().parents[1]
START_S = 840.0  # the command itself ends where a part of it does not start in time
JOB_S = 300.0
LOOK_S = 0.2
"""Between two looks at what takes some milliseconds to tell: more of them would take the core from what is awaited."""


def wait_until(met: Callable[[], Any], seconds: float, what: str, every_s: float = 0.05) -> Any:
    """Return what `met` gives, as soon as it is true."""
    deadline = time.monotonic() + seconds
    while not (value := met()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(every_s)
    return value


@dataclass
class Up:
    """A running `shoal up`."""

    process: subprocess.Popen[bytes]
    data_dir: Path
    temp: Path  # where it puts its run folder
    url: str
    log: Path = Path()

    def tree(self) -> list[psutil.Process]:
        """Everything that runs out of its temporary folder, or below it."""
        found = []
        for process in psutil.process_iter():
            try:
                in_folder = process.environ().get("TMPDIR", "").startswith(str(self.temp))
                # Chromium hides that, and Ray's agents the next, too.
                named = any(f"{self.temp}/" in part for part in process.cmdline())
                if in_folder or named or any(f"{self.temp}/" in file.path for file in process.open_files()):
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
                continue
        return found

    def named(self, word: str) -> list[psutil.Process]:
        """Processes with `word` in their title or command line."""
        found = []
        for process in self.tree():
            try:
                if any(word in part for part in process.cmdline()):
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
        return found

    def ray_metrics(self) -> tuple[str, str]:
        """Return where its Ray tells metrics, as host:port, and the token of its cluster."""
        (port,) = self.temp.glob("shoal-*/ray/session_latest/metrics_export_port_*")
        (token,) = self.temp.glob("shoal-*/ray-token")
        assert port.read_text() != "-1", "Ray lacks the packages that `ray_tells_metrics` in scripts/lib.sh installs"
        return f"127.0.0.1:{port.read_text().strip()}", token.read_text()

    def submit(self, spec: Json) -> str:
        answer = httpx.post(f"{self.url}/v1/jobs", json=spec, timeout=60)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def job(self, job: str) -> Json:
        return httpx.get(f"{self.url}/v1/jobs/{job}", timeout=60).json()

    def until(self, job: str, met: Callable[[Json], bool], seconds: float = JOB_S) -> Json:
        """The job as soon as `met` holds for it."""
        rows: list[Json] = []

        def look() -> bool:
            rows.append(self.job(job))
            return met(rows[-1])

        try:
            wait_until(look, seconds, job, LOOK_S)
        except AssertionError as error:
            status = httpx.get(f"{self.url}/v1/status", timeout=60).json()
            raise AssertionError(f"{error}\n{rows[-1:]}\n{status}\n{self.log.read_text()[-6000:]}") from error
        return rows[-1]

    def final(self, job: str, seconds: float = JOB_S) -> Json:
        return self.until(job, lambda row: row["finished_at"] is not None, seconds)

    def results(self, job: str) -> list[Json]:
        text = httpx.get(f"{self.url}/v1/jobs/{job}/results", timeout=60).text
        return [json.loads(line) for line in text.splitlines()]

    def nothing_left(self) -> bool:
        """No process of it runs, and its temporary folder is empty."""
        return not self.tree() and not list(self.temp.glob("shoal-*"))


def start_up(base: Path, **settings: str) -> subprocess.Popen[bytes]:
    """Starts `shoal up`; `settings` are environment variables without their prefix."""
    (base / "t").mkdir(exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SHOAL_")}
    environment |= {"SHOAL_DATA_DIR": str(base / "data"), "SHOAL_PORT": "0", "TMPDIR": str(base / "t")}
    environment |= {"SHOAL_ALLOW_PRIVATE": "true", "SHOAL_LOG_FORMAT": "json"}
    environment |= {f"SHOAL_{name.upper()}": value for name, value in settings.items()}
    with (base / "up.log").open("wb") as log:
        return subprocess.Popen(
            [str(Path(sys.executable).with_name("shoal")), "up"], env=environment, cwd=ROOT, stdout=log, stderr=log
        )


@contextmanager
def up(**settings: str) -> Iterator[Up]:
    """`shoal up`, ready for jobs; ended with SIGINT, which must leave nothing."""
    with tempfile.TemporaryDirectory(prefix="su-", dir="/tmp") as folder:
        base = Path(folder)
        process = start_up(base, **settings)
        address = base / "data" / "cluster.json"

        def announced() -> bool:
            assert process.poll() is None, (base / "up.log").read_text()
            return address.exists() and address.read_text().endswith("}")

        try:
            try:
                wait_until(announced, START_S, "the cluster is ready")
            except AssertionError as error:
                raise AssertionError(f"{error}\n{(base / 'up.log').read_text()[-6000:]}") from error
            one = Up(process, base / "data", base / "t", json.loads(address.read_text())["url"], log=base / "up.log")
            yield one
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(120)
        wait_until(one.nothing_left, 60, f"nothing is left: {one.tree()} {list(one.temp.iterdir())}", LOOK_S)


def demo_shop(*options: str) -> AbstractContextManager[str]:
    """The demo shop; gives its address."""
    return _server("site", "--port", "0", *options)


def oracle(*options: str) -> AbstractContextManager[str]:
    """A model server that knows the truth of the demo shop's drift pages; gives its address."""
    return _server("oracle.py", *options)


@contextmanager
def _server(program: str, *options: str) -> Iterator[str]:
    """A program of `load-tests` that prints its address; gives that address."""
    command = [sys.executable, str(ROOT / "load-tests" / program), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
