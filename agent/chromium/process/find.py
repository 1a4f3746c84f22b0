"""Which Chromium to start."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from shoal.agent.chromium.process.environment import browser_environment
from shoal.agent.errors import BrowserNotFound
from shoal.agent.support.busy import longer_s

# The headless shells come first: they start in half the time and need a third of the memory of the full browser.
# Debian's files under /usr/lib are the program itself; those in /usr/bin are shell scripts that stay behind as the
# parent when they are killed, so that Chromium would live on.
_PLACES = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_COMMANDS = (
    "google-chrome-stable",
    "google-chrome",
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "chrome",
)
_INSTALLED = (
    "chromium_headless_shell-*/chrome-*/*headless*shell*",
    "chromium-*/chrome-*/chrome",
    "chromium-*/chrome-*/*.app/Contents/MacOS/*",
)
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_VERSION_S = 30.0  # the first start after an installation reads a hundred MiB
_ADVICE = (
    "Install one with `playwright install chromium-headless-shell`, or from the system's packages "
    "(Debian: chromium-headless-shell or chromium), or name one with SHOAL_CHROMIUM."
)


def find_chromium(setting: str | None = None) -> Path:
    """The browser's program: the one that is named, else Playwright's own, else the system's.

    Raises:
        BrowserNotFound: none is there, or the one that is named cannot be run.
    """
    if setting:
        return _named(setting)
    for path in (*_installed_by_playwright(), *map(Path, _PLACES)):
        if _runs(path):
            return path
    for command in _COMMANDS:
        if command_path := shutil.which(command):
            return Path(command_path)
    raise BrowserNotFound(f"no Chromium was found on this machine. {_ADVICE}")


def read_version(executable: Path) -> str:
    """The line with which the browser says its version, which takes a tenth of a second; blocks for that long.

    Raises:
        BrowserNotFound: it does not: a library is missing, or it is no browser.
    """
    try:
        completed = subprocess.run(
            [str(executable), "--version"],
            capture_output=True,
            timeout=longer_s(_VERSION_S),
            text=True,
            errors="replace",
            env=browser_environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BrowserNotFound(f"{executable} does not start: {error}") from error
    if completed.returncode != 0 or not _VERSION.search(completed.stdout):
        why = completed.stderr.strip().splitlines()[-1:] or [
            f"asked for its version, it ended with {completed.returncode}"
        ]
        raise BrowserNotFound(f"{executable} does not start as a browser: {why[0]}. {_ADVICE}")
    return completed.stdout.strip()


def _named(setting: str) -> Path:
    path = Path(setting).expanduser()
    if _runs(path):
        return path
    if command_path := shutil.which(setting):
        return Path(command_path)
    raise BrowserNotFound(f"{setting!r}, which was named as the browser, is not a program that can be run. {_ADVICE}")


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _installed_by_playwright() -> list[Path]:
    """Return what `playwright install` has put where Playwright looks, the newest first."""
    home = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folders = [Path(home)] if home and home != "0" else []
    folders += [Path.home() / ".cache/ms-playwright", Path.home() / "Library/Caches/ms-playwright"]
    paths: list[Path] = []
    for pattern in _INSTALLED:
        for folder in folders:
            paths += sorted(folder.glob(pattern), reverse=True)
    return paths
