"""The fork server: what it becomes is the process that its client would be, and without it the client is that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from shoal.services.cluster.forking.server import client_command, fork_server

pytestmark = pytest.mark.timeout(300)

WORKER = """
import json, os, random, sys, uuid
import psutil
from ray._raylet import WorkerID

told = {
    "arguments": sys.argv[1:], "name": __name__, "parent": os.getppid(), "group": os.getpgid(0), "pid": os.getpid(),
    "variables": dict(os.environ), "threads": psutil.Process().num_threads(),
    "oom": int(open("/proc/self/oom_score_adj").read()),
    "files": sorted(int(name) for name in os.listdir("/proc/self/fd")),
    "drawn": [random.random(), uuid.uuid4().hex, WorkerID.from_random().hex()],
}
print(json.dumps(told), flush=True)
sys.exit(7)
"""


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("forks")
    (folder / "tmp").mkdir()
    with fork_server(folder) as place:
        assert place is not None
        yield place


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    return script


@dataclass(frozen=True)
class Ran:
    told: dict[str, Any]  # by the worker
    pid: int  # of what Ray would start
    code: int  # its exit code


def ran(place: Path, script: Path, start: str = 'exec "$@"', **variables: str) -> Ran:
    """A worker as Ray would start it, once it has ended."""
    command = ["sh", "-c", f"echo 300 > /proc/self/oom_score_adj; {start}", "sh", *client_command(place), str(script)]
    command += ["--language=PYTHON", "--worker-id=1"]
    environment = {**os.environ, "RAY_RAYLET_PID": "1", **variables}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, process_group=0) as client:
        said, _ = client.communicate(timeout=120)
    return Ran(json.loads(said), client.pid, client.returncode)


def test_a_worker_is_a_fork_in_the_group_that_ray_has_made_for_it(forks: Path, worker: Path) -> None:
    one = ran(forks, worker, SHOAL_MARK="here")
    assert one.told["parent"] == server_at(forks).pid and one.told["pid"] != one.pid
    assert one.told["group"] == one.pid, "Ray ends a worker with what it has started by this group"
    assert (one.told["name"], one.told["arguments"]) == ("__main__", ["--worker-id=1"])
    assert one.told["variables"]["SHOAL_MARK"] == "here" and one.told["variables"]["RAY_RAYLET_PID"] == "1"
    assert (one.told["threads"], one.told["oom"]) == (1, 300)
    assert len(one.told["files"]) == 4, "standard input, output and error, and the folder that it looks at"
    assert one.code == 0, "Ray has no use for its own process any more"
    until_s = time.monotonic() + 30
    while psutil.pid_exists(one.told["pid"]):  # Ray takes one that nobody has waited for as alive
        assert time.monotonic() < until_s
        time.sleep(0.01)


@pytest.mark.parametrize("start", ['"$@"; exit $?', '("$@" & wait $!); exit $?'])
def test_a_process_of_a_process_that_the_cluster_has_started_gets_no_fork(
    start: str, forks: Path, worker: Path
) -> None:
    """Such as one that a page has taken over: a fork may read what the browser may not."""
    one = ran(forks, worker, start)
    assert one.told["parent"] != server_at(forks).pid and one.code == 7


def test_two_forks_draw_other_numbers(forks: Path, worker: Path) -> None:
    first, second = (ran(forks, worker).told["drawn"] for _ in range(2))
    assert not set(first) & set(second)


def test_variables_that_ray_has_read_already_make_a_worker_of_its_own(forks: Path, worker: Path) -> None:
    """Such as the raylet with which it ends."""
    ran(forks, worker)
    other = ran(forks, worker, RAY_RAYLET_PID="2")
    assert (other.told["pid"], other.code, other.told["arguments"]) == (other.pid, 7, ["--worker-id=1"])


def test_without_a_server_that_answers_a_worker_starts_by_itself(tmp_path: Path, worker: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with fork_server(tmp_path) as place:
        assert place is not None
        server_at(place).kill()
        killed = ran(place, worker)
    ended = ran(place, worker)
    assert [(one.told["pid"], one.code) for one in (killed, ended)] == [(killed.pid, 7), (ended.pid, 7)]


def server_at(place: Path) -> psutil.Process:
    servers = [one for one in psutil.Process().children() if "forking.server" in " ".join(one.cmdline())]
    return next(one for one in servers if one.environ()["TMPDIR"] == str(place.parent / "tmp"))


def test_the_server_ends_with_its_owner(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    owner = (
        "import sys, time; from pathlib import Path; from shoal.services.cluster.forking.server import fork_server\n"
        "with fork_server(Path(sys.argv[1])): print('there', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", owner, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "there\n"
        (server,) = psutil.Process(process.pid).children()
        process.kill()
    assert psutil.wait_procs([server], timeout=60)[1] == []
