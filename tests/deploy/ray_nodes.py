"""Three Ray nodes, each in a network namespace of its own, whose firewalls let through what a rendered chart allows.

Run as a program inside `unshare --net --mount`; standard input holds the case as JSON:

    params   rayStartParams of the chart
    allowed  [source, target, first port, last port] for each range that the NetworkPolicies let through

The program prints one line of JSON: what a driver on the control node got from the browser node.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

ADDRESSES = {"head": "10.79.0.1", "control": "10.79.0.2", "browser": "10.79.0.3"}
RESOURCES = {"head": "{}", "control": '{"control": 1}', "browser": '{"browser": 2}'}
RAY = Path(sys.executable).with_name("ray")

DRIVER = """
import json, sys, time
import ray

ray.init(address=sys.argv[1], _node_ip_address=sys.argv[2], log_to_driver=False)

@ray.remote(num_cpus=0, resources={"browser": 1})
class Worker:
    def opened(self, data):
        return len(data)

    def page(self, size):
        return b"x" * size

    def relay(self, other):
        return ray.get(other.page.remote(10), timeout=60)

first, second = Worker.options(name="first", lifetime="detached").remote(), Worker.remote()
told = {"sent": ray.get(first.opened.remote(b"y" * 3_000_000), timeout=120)}
told["received"] = len(ray.get(first.page.remote(3_000_000), timeout=60))
told["neighbour"] = len(ray.get(first.relay.remote(second), timeout=60))
told["nodes"] = sum(node["Alive"] for node in ray.nodes())
ray.kill(ray.get_actor("first"))
print(json.dumps(told), flush=True)
"""


def main() -> None:
    case = json.load(sys.stdin)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rn-", dir="/tmp")))
        _run("ip", "link", "set", "lo", "up")
        _run("ip", "link", "add", "name", "pods", "type", "bridge")
        _run("ip", "link", "set", "pods", "up")
        for part in ADDRESSES:
            _namespace(stack, part, case["allowed"])
        for part in ADDRESSES:
            _ray_node(stack, part, folder / part, case["params"])
        driver = subprocess.run(
            [*_inside("control"), sys.executable, "-c", DRIVER, f"{ADDRESSES['head']}:6379", ADDRESSES["control"]],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if driver.returncode:
            sys.exit(driver.stderr[-4000:])
        print(driver.stdout.strip().splitlines()[-1])


def _namespace(stack: ExitStack, part: str, allowed: Sequence[tuple[str, str, int, int]]) -> None:
    """A namespace on the bridge that drops what no policy lets in."""
    name = _name(part)
    _run("ip", "netns", "add", name)
    stack.callback(_run, "ip", "netns", "delete", name)
    _run("ip", "link", "add", "name", f"v-{part}", "type", "veth", "peer", "name", "eth0", "netns", name)
    _run("ip", "link", "set", f"v-{part}", "master", "pods", "up")
    _run("ip", "-n", name, "link", "set", "lo", "up")
    _run("ip", "-n", name, "address", "add", f"{ADDRESSES[part]}/24", "dev", "eth0")
    _run("ip", "-n", name, "link", "set", "eth0", "up")
    rules = [
        f"ip saddr {ADDRESSES[source]} tcp dport {first}-{last} accept"
        for source, target, first, last in allowed
        if target == part
    ]
    chain = ["type filter hook input priority 0; policy drop;", "iif lo accept", "ct state established,related accept"]
    text = "table inet pods {{\n chain input {{\n{}\n }}\n}}\n".format("\n".join([*chain, *rules]))
    subprocess.run([*_inside(part), "nft", "-f", "-"], input=text, text=True, check=True)


def _ray_node(stack: ExitStack, part: str, folder: Path, params: dict[str, str]) -> None:
    """A node of Ray, with the chart's parameters; only its store of objects is smaller, and it takes no more CPUs."""
    folder.mkdir()
    own = {
        **params,
        "object-store-memory": str(80 * 1024 * 1024),
        "num-cpus": "0",
        "node-ip-address": ADDRESSES[part],
        "resources": RESOURCES[part],
    }
    if part == "head":
        own |= {"head": "", "port": "6379", "temp-dir": str(folder), "include-dashboard": "false"}
    else:
        own |= {"address": f"{ADDRESSES['head']}:6379"}
    flags = [f"--{name}={value}" if value not in ("", "true") else f"--{name}" for name, value in own.items()]
    command = [*_inside(part), str(RAY), "start", "--block", *flags]
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        command, stdout=log, stderr=log, env={**os.environ, "RAY_raylet_start_wait_time_s": "60", "HOME": str(folder)}
    )
    stack.callback(_end, process)
    for _ in range(600):
        if b"Ray runtime started" in (folder / "log").read_bytes():
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"Ray did not start on the {part} node:\n" + (folder / "log").read_text()[-3000:])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a node; `ray start --block` ends what it started when it is asked to end."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _inside(part: str) -> list[str]:
    return ["ip", "netns", "exec", _name(part)]


def _name(part: str) -> str:
    return f"ray-{os.getpid()}-{part}"


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
