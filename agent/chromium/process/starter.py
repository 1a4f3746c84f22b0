"""The program by which a browser is started, inside the fence (`fence.py`) or without one."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from shoal.agent.chromium.process import fence
from shoal.agent.chromium.process.sandbox import namespaces_work

_SHIPPED = Path(__file__).with_name("fenced.sh")


@dataclass(frozen=True, slots=True)
class Starter:
    """The program that is run in the browser's place, with the browser's arguments."""

    program: Path
    environment: dict[str, str]  # beside the browser's own; the fence takes it out before the browser begins

    def with_pipe(self, taker: Path) -> Starter:
        """The same, which hands the browser's pipe over to the socket `taker`."""
        return replace(self, environment={**self.environment, f"{fence.VARIABLES}_PIPE": str(taker)})


@dataclass(frozen=True, slots=True)
class NoFence:
    """A browser that starts without the fence."""

    why: str  # words that follow "missing: "


class NoStarter(OSError):
    """No program may be run here that would start a browser; the message says where that was tried."""


def starter(browser: Path, own: Path, *, sandbox: bool, shipped: Path = _SHIPPED) -> Starter | NoFence:
    """Return how `browser` is started inside the fence,
    with the folder `own` as its own.

    The starter lies beside this module. An installer that takes the right to run it away leaves the folder `own`, where
    a copy is written; a file system that is mounted without the right to run programs (`noexec`) refuses that one.

    Args:
        sandbox: whether Chromium's own sandbox is on. The fence ends with set-uid programs, so where the sandbox needs
            one, the sandbox is worth more.
    """
    if not fence.version():
        return NoFence("this kernel has no Landlock (Linux 5.13) or forbids it")
    if sandbox and not namespaces_work():
        return NoFence("Chromium's sandbox needs a set-uid program here, which the fence would end")
    try:
        return _started_by(browser, own, shipped, fenced=True)
    except NoStarter as error:
        return NoFence(str(error))


def plain_starter(browser: Path, own: Path, *, shipped: Path = _SHIPPED) -> Starter:
    """Return how `browser` is started without the fence.

    Raises:
        NoStarter: no program may be run here that does it.
    """
    return _started_by(browser, own, shipped, fenced=False)


def _started_by(browser: Path, own: Path, shipped: Path, *, fenced: bool) -> Starter:
    program = shipped if os.access(shipped, os.X_OK) else _copy(shipped, own)
    if not os.access(program, os.X_OK):
        tried = f"neither {shipped} nor a file in {own.parent} may be run as a program"
        raise NoStarter(f"{tried} (is it mounted noexec?)")
    folder = str(own) if fenced else ""
    parts = {"": fence.__file__, "_PYTHON": sys.executable, "_OWN": folder, "_PROGRAM": str(browser)}
    return Starter(program, {f"{fence.VARIABLES}{name}": value for name, value in parts.items()})


def _copy(shipped: Path, folder: Path) -> Path:
    program = folder / "chromium"
    program.write_bytes(shipped.read_bytes())
    program.chmod(0o700)
    return program
