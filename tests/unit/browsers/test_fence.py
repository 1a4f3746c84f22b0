"""The source of a browser's fence, and the reason that is told where there is none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from shoal.agent.chromium.process import fence
from shoal.agent.chromium.process import starter as starting
from shoal.agent.chromium.process.starter import NoFence, Starter, starter
from tests.full_disk import small_disk

BROWSER = Path("/bin/cat")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def unusable(tmp_path: Path) -> Path:
    """The starter as an installer leaves it that does not keep the right to run a file."""
    path = tmp_path / "fenced.sh"
    path.write_bytes(starting._SHIPPED.read_bytes())
    path.chmod(0o644)
    return path


def read_by(found: Starter | NoFence, path: Path) -> tuple[int, str]:
    assert isinstance(found, Starter), found
    environment = {"PATH": os.environ["PATH"], **found.environment}
    done = subprocess.run([found.program, str(path)], env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.skipif(not fence.version(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("copied", [False, True])
def test_what_is_started_reads_its_own_files_and_no_others(
    copied: bool, own: Path, unusable: Path, tmp_path: Path
) -> None:
    (own / "mine").write_text("mine")
    (tmp_path / "other").write_text("other")
    found = starter(BROWSER, own, sandbox=False, shipped=unusable if copied else starting._SHIPPED)
    assert read_by(found, own / "mine") == (0, "mine")
    assert read_by(found, tmp_path / "other") == (1, "")


@pytest.mark.skipif(not fence.version(), reason="this kernel has no Landlock")
def test_what_is_started_hears_nothing_of_its_starter(own: Path) -> None:
    found = starter(Path("/usr/bin/env"), own, sandbox=False)
    assert isinstance(found, Starter)
    said = subprocess.run(
        [found.program], env={"PATH": os.environ["PATH"], **found.environment}, capture_output=True, check=True
    )
    assert b"SHOAL" not in said.stdout and f"TMPDIR={own}".encode() in said.stdout


def test_where_no_file_may_be_run_the_reason_is_given(
    tmp_path: Path, unusable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fence, "version", lambda: 3)
    with small_disk(tmp_path / "disk", 1, programs=False) as disk:
        (disk.path / "own").mkdir()
        found = starter(BROWSER, disk.path / "own", sandbox=False, shipped=unusable)
    assert isinstance(found, NoFence) and str(disk.path) in found.why and "noexec" in found.why


def test_a_sandbox_that_needs_a_set_uid_program_is_worth_more(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence, "version", lambda: 3)
    monkeypatch.setattr(starting, "namespaces_work", lambda: False)
    assert isinstance(starter(BROWSER, own, sandbox=True), NoFence)
    assert isinstance(starter(BROWSER, own, sandbox=False), Starter)
