"""The whole examination, with a browser that starts and Ray that loads."""

from __future__ import annotations

from pathlib import Path

from shoal.services.doctor import examine
from shoal.services.settings import load_settings


async def test_a_machine_that_was_set_up_is_well(tmp_path: Path) -> None:
    findings = await examine(load_settings(data_dir=tmp_path / "data", port=0))
    assert [finding for finding in findings if not finding.ok] == []
    assert [finding.name for finding in findings] == [
        "python",
        "packages",
        "time zones",
        "chromium",
        "sandbox",
        "file wall",
        "shared memory",
        "ray",
        "data folder",
        "secrets",
        "store",
        "artifacts",
        "model",
        "gateway port",
    ]


async def test_a_program_that_is_no_browser_is_told_apart(tmp_path: Path) -> None:
    script = tmp_path / "browser"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    findings = {f.name: f for f in await examine(load_settings(data_dir=tmp_path / "data", port=0, chromium=script))}
    assert not findings["chromium"].ok
    assert "SHOAL_CHROMIUM" in findings["chromium"].remedy
