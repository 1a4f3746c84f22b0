"""Chromium under the profile that the chart ships, by the kernel: its sandbox works with it and needs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.errors import BrowserNotFound
from shoal.agent.support.json_value import Json
from tests.deploy.helm import CHART, ROOT

PROFILE = CHART / "files" / "chromium-seccomp.json"
_NEW_NAMESPACES = 0x7E020000
"""Flags of `clone` that make namespaces; what a runtime's own profile refuses."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that the user `nobody` may write."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become somebody without any rights")
    for above in (tmp_path, *tmp_path.parents[:3]):
        above.chmod(above.stat().st_mode | 0o755)
    inner = tmp_path / "home"
    inner.mkdir(mode=0o777)
    inner.chmod(0o777)
    yield inner


def _dumped(profile: Json, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return what Chromium makes of a page, with its sandbox on, as the user `nobody`, under `profile`."""
    try:
        chromium = find_chromium(None)
    except BrowserNotFound as error:
        pytest.skip(str(error))
    path = folder / "profile.json"
    path.write_text(json.dumps(profile))
    command = [
        *(sys.executable, str(ROOT / "tests" / "deploy" / "under_seccomp.py"), str(path), str(chromium)),
        *("--headless", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}"),
        *("--disable-setuid-sandbox", "--dump-dom"),
        "data:text/html,<script>document.write('sum ' + (40 + 2))</script>",
    ]
    environment = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": os.environ["PATH"]}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_chromium_keeps_its_sandbox_under_the_shipped_profile(folder: Path) -> None:
    ended = _dumped(json.loads(PROFILE.read_text()), folder)
    assert "sum 42" in ended.stdout, ended.stderr[-2000:]


def test_without_user_namespaces_it_would_not_start(folder: Path) -> None:
    """So the test above sees the sandbox at work, and the profile is needed."""
    profile = json.loads(PROFILE.read_text())
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name not in ("clone", "unshare", "setns", "chroot")]
    plain = {"index": 0, "value": _NEW_NAMESPACES, "op": "SCMP_CMP_MASKED_EQ"}
    profile["syscalls"] = [rule for rule in profile["syscalls"] if rule["names"]]
    profile["syscalls"].append({"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [plain]})
    ended = _dumped(profile, folder)
    assert "sum 42" not in ended.stdout
    assert "sandbox" in ended.stderr.lower(), ended.stderr[-2000:]
