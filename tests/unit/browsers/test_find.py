"""Which Chromium is taken, and whether it is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.agent.chromium.process import find
from shoal.agent.chromium.process.find import read_version
from shoal.agent.errors import BrowserNotFound
from shoal.agent.support import busy


def program(folder: Path, lines: str) -> Path:
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return path


def test_a_browser_that_says_its_version_starts(tmp_path: Path) -> None:
    said = "Chromium 156.0.8078.79 built on Debian"
    assert read_version(program(tmp_path, f'echo "{said} "')) == said


def test_it_may_take_longer_on_a_busy_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = program(tmp_path, "sleep 1; echo Chromium 156.0.8078.79")
    monkeypatch.setattr(find, "_VERSION_S", 0.5)
    monkeypatch.setattr(busy, "load_and_cores", lambda: (0.0, 2))
    with pytest.raises(BrowserNotFound, match=r"timed out after 0\.5 seconds"):
        read_version(slow)
    monkeypatch.setattr(busy, "load_and_cores", lambda: (400.0, 2))
    assert read_version(slow) == "Chromium 156.0.8078.79"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("echo 'libnss3.so: cannot open shared object file' >&2; exit 127", "libnss3.so: cannot open shared object"),
        ("exit 1", "asked for its version, it ended with 1"),
        ("echo hello", "asked for its version, it ended with 0"),
    ],
)
def test_one_that_does_not_start_is_told_with_its_reason(tmp_path: Path, lines: str, told: str) -> None:
    """`shoal up` said that it was up, and each job failed."""
    with pytest.raises(BrowserNotFound, match=told):
        read_version(program(tmp_path, lines))


def test_a_file_that_is_no_program_is_none(tmp_path: Path) -> None:
    path = tmp_path / "browser"
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    with pytest.raises(BrowserNotFound, match="does not start"):
        read_version(path)
