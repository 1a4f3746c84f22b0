"""Installation of the packages that sites are made of, once, into a folder outside the repository.

Debian packages are unpacked and not installed, so no root is needed. Each application from PyPI has a virtual
environment of its own. A registry that cannot be reached is `Unreachable`, which names it and says why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

_INSTALL_S = 300


class Unreachable(Exception):
    """A package could not be had from its registry, so its site cannot be tried."""


def cache_folder() -> Path:
    """Return where packages are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "shoal-sites"


def debian(package: str) -> Path:
    """The files of a Debian package, under the folder that is returned.

    Raises:
        Unreachable: there is no apt here, or it has no such package.
    """

    def unpack(folder: Path) -> None:
        _run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package], cwd=folder)
        (archive,) = folder.glob("*.deb")
        _run(["dpkg", "-x", str(archive), str(folder)])
        archive.unlink()

    return made(f"debian-{package}", unpack)


def pypi(name: str, packages: Sequence[str]) -> Path:
    """The Python of a virtual environment with these packages.

    Raises:
        Unreachable: they cannot be installed.
    """

    def install(folder: Path) -> None:
        uv = str(Path(sys.executable).with_name("uv"))
        _run([uv, "venv", "-q", "--relocatable", "--python", sys.executable, str(folder / "venv")])
        _run([uv, "pip", "install", "-q", "--python", str(folder / "venv/bin/python"), *packages])

    return made(f"pypi-{name}-" + _version_key(packages), install) / "venv" / "bin" / "python"


def modules(name: str, packages: Sequence[str]) -> Path:
    """A folder with the modules of these packages, without what they depend on: for a Python that has that already.

    Raises:
        Unreachable: they cannot be installed.
    """

    def install(folder: Path) -> None:
        uv = str(Path(sys.executable).with_name("uv"))
        _run([uv, "pip", "install", "-q", "--no-deps", "--target", str(folder), *packages])

    return made(f"modules-{name}-" + _version_key(packages), install)


def npm(package: str) -> Path:
    """The files of an npm package, given with its version.

    Raises:
        Unreachable: there is no npm here, or it has no such package.
    """

    def unpack(folder: Path) -> None:
        _run(["npm", "pack", "--silent", package], cwd=folder)
        (archive,) = folder.glob("*.tgz")
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        archive.unlink()

    return made(f"npm-{package.replace('/', '-')}", unpack) / "package"


def node(name: str, packages: Sequence[str]) -> Path:
    """The folder of Node modules with these packages, given with their versions, and what they depend on.

    Raises:
        Unreachable: there is no npm here, or they cannot be installed.
    """

    def install(folder: Path) -> None:
        options = ["--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
        _run(["npm", "install", *options, *packages], cwd=folder)

    return made(f"node-{name}-" + _version_key(packages), install) / "node_modules"


def _version_key(packages: Sequence[str]) -> str:
    return "-".join("".join(c for c in package if c.isalnum() or c == ".") for package in packages)[:80]


def made(name: str, make: Callable[[Path], None]) -> Path:
    """The folder `name`, made once: a folder that is only half made is never seen under its name."""
    folder = cache_folder() / name
    if folder.is_dir():
        return folder
    making = folder.with_name(f"{name}.{os.getpid()}")
    making.mkdir(parents=True)
    try:
        make(making)
        making.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another test run has made it meanwhile
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder


def _run(command: Sequence[str], cwd: Path | None = None) -> None:
    try:
        ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=_INSTALL_S)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"{command[0]}: {error}") from error
    if ended.returncode:
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        raise Unreachable(f"{' '.join(command[:4])} ended with {ended.returncode}: {' '.join(lines[-2:])[:300]}")
