"""A probe for Chromium's sandbox on this system."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

# Asks the kernel for a new user namespace, as Chromium's sandbox will; in a child, which ends at once.
_PROBE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x10000000) != 0)"


@functools.cache
def sandbox_works(executable: Path) -> bool:
    """True when Chromium can be started with its sandbox by this user on this machine.

    Chromium refuses to start as root with its sandbox on, and needs either user namespaces or its set-uid helper.
    """
    if not sys.platform.startswith("linux"):
        return True
    if os.geteuid() == 0:
        return False
    helper = executable.parent / "chrome-sandbox"
    if helper.is_file() and helper.stat().st_uid == 0 and helper.stat().st_mode & 0o4000:
        return True
    return namespaces_work()


@functools.cache
def namespaces_work() -> bool:
    """True when this user may make namespaces on this machine: then the sandbox needs no set-uid helper."""
    try:
        return subprocess.run([sys.executable, "-c", _PROBE], timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
