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


def test_one_process_starts_one_cluster_after_another() -> None:
    ran = subprocess.run([sys.executable, "-c", TWO], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-2:] == ["1.0", "2.0"]
