"""Nothing of a cluster stays behind, whichever process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from shoal.services.cluster.run_dir import RunDir, remove_leftovers, users_of

SLEEPER = "import sys, time; print('up', flush=True); time.sleep(600)"
RETITLED = f"import ray, ray._raylet; ray._raylet.setproctitle('ray::Agent'); {SLEEPER}"
OWNER = f"""
import os, subprocess, sys, time
from shoal.services.cluster.run_dir import RunDir
from shoal.services.cluster.watchdog import Watchdog
run_dir = RunDir.make()
if sys.argv[1] == "watched":
    Watchdog(run_dir.path)
child = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}], env=os.environ | {{"TMPDIR": str(run_dir.tmp)}},
                         stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
print(run_dir.path, child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def own_base(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = Path("/tmp") / f"t{os.getpid()}-{time.monotonic_ns() % 10**9}"
    base.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(base))
    monkeypatch.setenv("TMPDIR", str(base))
    return base


def start_owner(how: str) -> tuple[subprocess.Popen[str], Path, int]:
    process = subprocess.Popen([sys.executable, "-c", OWNER, how], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    path, pid = process.stdout.readline().split()
    return process, Path(path), int(pid)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def gone(path: Path, pid: int) -> bool:
    return not path.exists() and not psutil.pid_exists(pid)


def until_gone(path: Path, pid: int) -> None:
    deadline = time.monotonic() + 60
    while not gone(path, pid):
        assert time.monotonic() < deadline, (path.exists(), psutil.pid_exists(pid))
        time.sleep(0.05)


def test_removing_the_folder_ends_what_runs_out_of_it(own_base: Path) -> None:
    run_dir = RunDir.make()
    child = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], env=os.environ | {"TMPDIR": str(run_dir.tmp)}, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    assert [p.pid for p in users_of(run_dir.path, spare=0)] == [child.pid]

    run_dir.remove()
    child.wait(60)
    child.stdout.close()
    assert not psutil.pid_exists(child.pid)
    assert list(own_base.iterdir()) == []
    run_dir.remove()


def test_a_process_that_wrote_its_title_over_its_environment_is_ended_too() -> None:
    """As Ray's agents do, which live on for a minute or two when their raylet and the head are killed together."""
    run_dir = RunDir.make()
    with (run_dir.path / "agent.log").open("wb") as log:
        environment = os.environ | {"TMPDIR": str(run_dir.tmp)}
        child = subprocess.Popen([sys.executable, "-c", RETITLED], env=environment, stdout=subprocess.PIPE, stderr=log)
    assert child.stdout is not None
    child.stdout.readline()
    assert psutil.Process(child.pid).environ() == {}
    assert [p.pid for p in users_of(run_dir.path, spare=0)] == [child.pid]

    run_dir.remove()
    child.wait(60)
    child.stdout.close()
    assert not psutil.pid_exists(child.pid)


def test_the_watchdog_cleans_up_after_an_owner_that_was_killed() -> None:
    process, path, pid = start_owner("watched")
    assert path.exists()
    kill(process)
    until_gone(path, pid)


def test_the_next_cluster_cleans_up_when_even_the_watchdog_was_killed(own_base: Path) -> None:
    process, path, pid = start_owner("alone")
    kill(process)
    assert not gone(path, pid)

    remove_leftovers(own_base)
    until_gone(path, pid)


def test_a_living_owner_is_left_alone(own_base: Path) -> None:
    process, path, pid = start_owner("alone")
    remove_leftovers(own_base)
    assert path.exists()
    assert psutil.pid_exists(pid)
    kill(process)
    remove_leftovers(own_base)
    until_gone(path, pid)
