"""Folders and applications, served on the loopback address."""

from __future__ import annotations

import contextlib
import functools
import http.client
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

from tests import loopback
from tests.sites.registry import cache

START_S = 300  # a database of a site is made meanwhile, on a machine where other tests run


class _Quiet(SimpleHTTPRequestHandler):
    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # a browser hangs up when it leaves a page
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def folder(path: Path) -> Iterator[str]:
    """The address under which the files below `path` can be had."""
    with loopback.served(functools.partial(_Quiet, directory=str(path))) as url:
        yield url


@contextmanager
def npm_folder(packages: Mapping[str, str]) -> Iterator[Path]:
    """A folder to serve, with packages from npm below its `lib`, each under its name in `packages`.

    Raises:
        Unreachable: a package cannot be had.
    """
    folders = {name: cache.npm(package) for name, package in packages.items()}
    with tempfile.TemporaryDirectory(prefix="shoal-npm-") as temp:
        root = Path(temp)
        (root / "lib").mkdir()
        for name, installed in folders.items():
            (root / "lib" / name).symlink_to(installed)
        yield root


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(*command: str | Path, cwd: Path | None = None, limit_s: float = START_S) -> None:
    """Runs a command of a site's own, such as one that fills its database.

    Raises:
        RuntimeError: it failed; the message holds what it said last.
    """
    ended = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=limit_s)
    if ended.returncode:
        raise RuntimeError(f"{command} ended with {ended.returncode}: {(ended.stderr or ended.stdout)[-2000:]}")


@contextmanager
def program(
    command: Sequence[str], port: int, *, cwd: Path, env: Mapping[str, str] | None = None, path: str = "/"
) -> Iterator[str]:
    """A server of its own process, once it answers on `port`; gives its address."""
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=cwd, env={**os.environ, **(env or {})}, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _until_it_answers(url + path, process, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _until_it_answers(url: str, process: subprocess.Popen[bytes], log: object) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except (OSError, http.client.HTTPException):  # one that only says that it begins need not speak HTTP well
            time.sleep(0.1)
    log.seek(0)  # type: ignore[attr-defined]
    said = log.read()[-2000:].decode(errors="replace")  # type: ignore[attr-defined]
    raise RuntimeError(f"{url} does not answer: {said}")
