"""The temporary folder of one embedded cluster, and how nothing of it stays behind.

Everything that the cluster starts has this folder as its TMPDIR: Ray's session, browser profiles, downloads. The
process that removes the folder first ends what still runs out of it. Three do so: the cluster itself when it stops,
its watchdog when the cluster was killed, and the next cluster on this machine when even the watchdog was.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
import tempfile
from pathlib import Path

import psutil

from shoal.services.events import LogEvent

log = logging.getLogger(__name__)  # not structlog, whose import is half of the watchdog's start

_PREFIX = "shoal-"
_LOCK = "owner.lock"

_LONGEST_BASE = 40
"""Ray puts Unix sockets below the folder, whose paths may have 107 bytes; theirs take about 65."""

_TERM_S = 3.0


class RunDir:
    """A private folder with a lock that lives exactly as long as its owner's process."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def make(cls) -> RunDir:
        """A fresh folder, after removing those whose owners are gone."""
        base = Path(tempfile.gettempdir())
        if len(str(base)) > _LONGEST_BASE:
            base = Path("/tmp")
        remove_leftovers(base)
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (path / "tmp").mkdir()
        return cls(path, lock)

    @property
    def tmp(self) -> Path:
        """TMPDIR of everything that the cluster starts."""
        return self.path / "tmp"

    def token(self) -> Path:
        """A file with a fresh secret for Ray's token authentication."""
        path = self.path / "ray-token"
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32))
        return path

    def remove(self) -> None:
        """Ends what still runs out of the folder, and removes it; may be called twice."""
        clear(self.path, spare=os.getpid())
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def remove_leftovers(base: Path) -> None:
    """Clears the folders below `base` whose owners died without doing so."""
    for path in base.glob(_PREFIX + "*"):
        try:
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # not one of ours, somebody else's, or gone meanwhile
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # its owner lives
        else:
            clear(path, spare=os.getpid())
            log.info(LogEvent.LEFTOVERS_REMOVED.value, extra={"folder": str(path)})
        finally:
            os.close(lock)


def clear(path: Path, *, spare: int) -> None:
    """Ends every process that works out of `path`, save `spare`, then removes the folder."""
    processes = users_of(path, spare=spare)
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    _, left = psutil.wait_procs(processes, timeout=_TERM_S)
    for process in [*left, *users_of(path, spare=spare)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=_TERM_S)
    shutil.rmtree(path, ignore_errors=True)


def users_of(path: Path, *, spare: int) -> list[psutil.Process]:
    """Processes of this user that were started with `path` in their command line or as their TMPDIR, or use it."""
    text = str(path)
    users: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.pid in (spare, os.getpid()) or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if _works_in(text, process):
                users.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue  # ended meanwhile, or another user's
    return users


def _works_in(folder: str, process: psutil.Process) -> bool:
    environment = process.environ()
    if environment.get("TMPDIR", "").startswith(folder) or any(folder in part for part in process.cmdline()):
        return True
    # Ray's processes write their titles over both. What is left of it is known by its logs.
    return not environment and any(file.path.startswith(folder) for file in process.open_files())
