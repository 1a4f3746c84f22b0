"""Ray on this machine: one cluster after another, each with its own token, where no other machine reaches it."""

from __future__ import annotations

import subprocess
import sys

TWO = """
import os
import psutil
import ray
from shoal.services.cluster.forking.server import fork_server
from shoal.services.cluster.local_ray import local_ray
from shoal.services.cluster.run_dir import RunDir

for browsers in (1, 2):
    run_dir = RunDir.make()
    try:
        with fork_server(run_dir.path) as forks, local_ray(
            run_dir, browsers=browsers, object_store_bytes=80 * 1024 * 1024, namespace="two", forks=forks
        ):
            me = psutil.Process()
            started = [" ".join(process.cmdline()) for process in me.children()]
            (server,) = [process.pid for process in me.children() if "forking.server" in " ".join(process.cmdline())]
            assert ray.get(ray.remote(lambda: os.getppid()).remote()) == server, "its workers are forks"
            easily_ended = lambda: open("/proc/self/oom_score_adj").read()
            assert ray.get(ray.remote(easily_ended).remote()) == "1000\\n", "as Ray has it for its workers"
            assert any("raylet" in command for command in started), started
            assert not [command for command in started if "dashboard.py" in command or "monitor.py" in command], started
            ray.get(ray.remote(lambda: None).remote())  # now there are workers, too
            for process in (me, *me.children(recursive=True)):
                listeners = [one.laddr.ip for one in process.net_connections("inet") if one.status == "LISTEN"]
                outside = [ip for ip in listeners if not ip.removeprefix("::ffff:").startswith("127.")]
                assert not outside, (outside, process.cmdline())
            print(ray.cluster_resources()["browser"])
    finally:
        run_dir.remove()
"""

NO_AGENTS = """
import time
import psutil
import ray
from shoal.services.cluster.local_ray import local_ray, _PATIENCE_S
from shoal.services.cluster.run_dir import RunDir

_PATIENCE_S["RAY_agent_register_timeout_ms"] = 1000
run_dir = RunDir.make()
try:
    with local_ray(run_dir, browsers=1, object_store_bytes=80 * 1024 * 1024, namespace="alone"):
        began = time.monotonic()
        while time.monotonic() - began < 5:  # no agent registers in that time
            ray.get(ray.remote(lambda: time.sleep(0.2)).remote())
        here = psutil.Process().children(recursive=True)
        ray_s = [p for p in here if "ray" in " ".join(p.cmdline()) and p.name() not in ("raylet", "gcs_server")]
        own = psutil.Process().nice()
        nicer = sum(p.nice() - own for p in ray_s)
        print(sorted({p.name()[:9] for p in ray_s}), sum(p.name() == "tail" for p in here), nicer)
    alive = psutil.wait_procs(here, timeout=30)[1]  # on a busy machine the last of them takes its time
    print(len([p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]), "left")
finally:
    run_dir.remove()
"""

NO_ARROW = """
import sys
import ray
from ray._private import arrow_serialization
from shoal.services.cluster.local_ray import local_ray
from shoal.services.cluster.run_dir import RunDir

ours = arrow_serialization._register_custom_datasets_serializers
run_dir = RunDir.make()
try:
    with local_ray(run_dir, browsers=1, object_store_bytes=80 * 1024 * 1024, namespace="lean"):
        loaded = lambda: [name for name in ("numpy", "pyarrow") if name in __import__("sys").modules]
        print(ray.get(ray.remote(loaded).remote()), loaded())
    print(arrow_serialization._register_custom_datasets_serializers is ours)
finally:
    run_dir.remove()
"""

LOST_RAYLET = """
import asyncio, contextlib, threading, time
import psutil
import ray
from shoal.services.cluster.embedded_parts import start_ray
from shoal.services.cluster.run_dir import RunDir
from shoal.services.settings import load_settings

def end(n):
    ended = set()
    while len(ended) < n:
        for process in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if process.name() == "raylet" and process.pid not in ended:
                    process.kill()
                    ended.add(process.pid)
        time.sleep(0.001)

for n in (1, 3):
    run_dir, told, began = RunDir.make(), [], time.monotonic()
    ender = threading.Thread(target=end, args=(n,))
    ender.start()
    try:
        with contextlib.ExitStack() as stack:
            asyncio.run(start_ray(stack, run_dir, load_settings(), told.append))
            print("started", told, sorted(path.name for path in run_dir.path.glob("ray/session_2*"))[1:])
    except Exception as error:
        print(type(error).__name__, error, told)
    finally:
        ender.join()
        run_dir.remove()
"""


def test_one_process_starts_one_cluster_after_another() -> None:
    ran = subprocess.run([sys.executable, "-c", TWO], capture_output=True, text=True, timeout=800, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-2:] == ["1.0", "2.0"]


def test_ray_works_without_its_agents_and_leaves_nothing_in_their_place() -> None:
    ran = subprocess.run([sys.executable, "-c", NO_AGENTS], capture_output=True, text=True, timeout=800, check=False)
    assert ran.returncode == 0, ran.stderr
    running, left = ran.stdout.splitlines()[-2:]
    assert running == "['ray::IDLE'] 2 0", "Ray's own default is nicer: nothing is left for workers on a busy machine"
    assert left == "0 left"


def test_no_process_of_ray_imports_arrow_or_numpy() -> None:
    """They take 0.2 to 0.4 s of CPU and 30 MiB in each, for tables that nothing sends."""
    ran = subprocess.run([sys.executable, "-c", NO_ARROW], capture_output=True, text=True, timeout=800, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-2:] == ["[] []", "True"]


def test_a_raylet_that_ends_while_it_starts_is_seen_at_once_and_started_again() -> None:
    ran = subprocess.run([sys.executable, "-c", LOST_RAYLET], capture_output=True, text=True, timeout=800, check=False)
    assert ran.returncode == 0, ran.stderr
    started, failed = [line for line in ran.stdout.splitlines() if line.startswith(("started", "ClusterFailed"))]
    assert started == "started ['Ray did not start; trying again (2 of 3)'] []"  # nothing of the first one is left
    assert failed.startswith("ClusterFailed Ray did not start in 3 tries: RuntimeError: Ray's raylet ended while"), (
        failed
    )
    assert "The machine is busy" in failed or "`shoal doctor` says" in failed, "what to do"
    assert failed.endswith("['Ray did not start; trying again (2 of 3)', 'Ray did not start; trying again (3 of 3)']")
