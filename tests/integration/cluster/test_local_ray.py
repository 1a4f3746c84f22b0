"""Ray on this machine: one cluster after another, each with its own token, where no other machine reaches it."""

from __future__ import annotations

import subprocess
import sys

TWO = """
import psutil
import ray
from shoal.services.cluster.local_ray import local_ray
from shoal.services.cluster.run_dir import RunDir

for browsers in (1, 2):
    run_dir = RunDir.make()
    try:
        with local_ray(run_dir, browsers=browsers, object_store_bytes=80 * 1024 * 1024, namespace="two"):
            me = psutil.Process()
            started = [" ".join(process.cmdline()) for process in me.children()]
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

HELD_AGENTS = """
import os, signal, threading, time
import psutil
import ray
from shoal.services.cluster.local_ray import local_ray
from shoal.services.cluster.run_dir import RunDir

held, over = [], threading.Event()

def hold():
    while not over.wait(0.01):
        for process in psutil.Process().children(recursive=True):
            try:
                said = " ".join(process.cmdline()[:4])
            except psutil.Error:
                continue
            if process not in held and ("dashboard/agent.py" in said or "runtime_env/agent" in said):
                process.suspend()
                held.append(process)

holder = threading.Thread(target=hold)
holder.start()
run_dir = RunDir.make()
try:
    with local_ray(run_dir, browsers=1, object_store_bytes=80 * 1024 * 1024, namespace="held"):
        over.set()
        holder.join()
        print(ray.get(ray.remote(lambda: "a task ran").remote()), [process.status() for process in held])
        for process in held:
            process.resume()
finally:
    over.set()
    run_dir.remove()
"""

LOST_RAYLET = """
import asyncio, contextlib, threading, time
import psutil
import ray
from shoal.services.cluster.embedded import _start_ray
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
            asyncio.run(_start_ray(stack, run_dir, load_settings(), told.append))
            print("started", told, sorted(path.name for path in run_dir.path.glob("ray/session_2*"))[1:])
    except Exception as error:
        print(type(error).__name__, error, told)
    finally:
        ender.join()
        run_dir.remove()
"""


def test_one_process_starts_one_cluster_after_another() -> None:
    ran = subprocess.run([sys.executable, "-c", TWO], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-2:] == ["1.0", "2.0"]


def test_ray_starts_before_its_agents_are_up() -> None:
    """On a busy machine they come later than Ray's raylet waits for them."""
    ran = subprocess.run([sys.executable, "-c", HELD_AGENTS], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "a task ran ['stopped', 'stopped']"


def test_a_raylet_that_ends_while_it_starts_is_seen_at_once_and_started_again() -> None:
    ran = subprocess.run([sys.executable, "-c", LOST_RAYLET], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    started, failed = [line for line in ran.stdout.splitlines() if line.startswith(("started", "ClusterFailed"))]
    assert started == "started ['Ray did not start; trying again (2 of 3)'] []"  # nothing of the first one is left
    assert failed.startswith("ClusterFailed Ray did not start in 3 tries: RuntimeError: Ray's raylet ended while"), (
        failed
    )
    assert failed.endswith("['Ray did not start; trying again (2 of 3)', 'Ray did not start; trying again (3 of 3)']")
