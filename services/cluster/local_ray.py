"""Ray on this machine, for one embedded cluster: loopback only, nothing outside the run folder, no reporting home."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import ray
from ray._private import ray_constants, services
from ray._private import utils as ray_utils
from ray._private.node import Node
from ray._raylet import (  # type: ignore[attr-defined]  # its stub lacks these
    AuthenticationTokenLoader,
    GcsClient,
    NodeID,
    persist_port,
)

from shoal.agent.support.busy import longer_s
from shoal.services.cluster.forking.server import client_command
from shoal.services.cluster.run_dir import RunDir, clear
from shoal.services.errors import ClusterFailed
from shoal.services.interpreter import without_arrow

_NOT_NEEDED = ("start_api_server", "start_monitor", "start_log_monitor")
"""Ray's dashboard (its API server runs though none is asked for), autoscaler and log forwarder: three processes that
take 350 MiB and half of the start, and nothing uses them on one machine. Ray has no option for this."""

_AGENTS = ("--dashboard_agent_command=", "--runtime_env_agent_command=")
"""Arguments that tell the raylet which agents to start beside it. One agent serves the dashboard and metrics, the other
makes runtime environments: 3.4 s of processor time and 130 MiB for what nothing here asks for.
"""
_IDLE = "tail -f /dev/null"
"""In an agent's place: the raylet does not start where a command is missing, and ends when one of the two does."""

_WORKERS = "--python_worker_command="
_RAYS_SCRIPT = f"{services.RAY_PATH}/_private/workers/setup_worker.py"
"""Ray's script that makes a worker's environment, of which there is none here, and starts the worker."""

_PATIENCE_S = {
    "RAY_gcs_server_port_wait_time_s": 120.0,
    "RAY_worker_register_timeout_seconds": 180.0,
}
"""Ray's own limits of a start, for a machine on which a start of Python takes a minute, and longer on a busy one: until
the GCS has its port (30 s), and until a worker process has registered (60 s).
"""
_FIRST_CALL = {"__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR": "shoal.services.interpreter.begin_worker"}
"""The function that each worker process calls first. Ray sets this variable by its agent for runtime environments,
which does not run here."""
_NICENESS = {"RAY_worker_niceness": "0"}
"""Ray gives its workers a niceness of 15: beside programs that compute, a thirtieth of what each of these gets."""

_RAYLET_S = 120.0
"""Seconds that the raylet may take to register. Ray itself gives up after 30 s."""
_LOOK_S = 0.1
_ANSWER_S = 5
_AGENT_PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port")
"""The ports of the agent for dashboard and metrics. An agent without one says -1."""
_PORTS = range(10_000, 32_768)
"""Below those that Linux gives to outgoing connections, so that none takes a chosen port before its agent does."""
_LAST_WORDS = re.compile(r"Check failed: .*|Fatal .*|Aborted.*")
_WORDS_CHARS = 300


@contextmanager
def local_ray(
    run_dir: RunDir, *, browsers: int, object_store_bytes: int, namespace: str, forks: Path | None = None
) -> Iterator[None]:
    """Starts Ray, and ends it with all its actors.

    Must be entered on the main thread: the kernel ends Ray's processes with the *thread* that started them.

    Args:
        forks: where the fork server is that becomes its workers; None: each is started by itself.

    Raises:
        ClusterFailed: with what its raylet said last. Nothing of that start is left.
    """
    variables = {name: f"{longer_s(limit_s):.0f}" for name, limit_s in _PATIENCE_S.items()}
    variables |= (
        _NICENESS
        | _FIRST_CALL
        | {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_TOKEN_PATH": str(run_dir.token()),
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            "TMPDIR": str(run_dir.tmp),
        }
    )
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    AuthenticationTokenLoader.instance().reset_cache()  # it holds the token of this process's last cluster
    try:
        with without_arrow():
            _start(run_dir, browsers, object_store_bytes, namespace, forks)
            try:
                yield
            finally:
                ray.shutdown()
    finally:
        for name, value in before.items():
            _put_back(name, value)


def _put_back(name: str, value: str | None) -> None:
    """Gives an environment variable the value that it had."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _start(run_dir: RunDir, browsers: int, object_store_bytes: int, namespace: str, forks: Path | None) -> None:
    # Its notices (how to turn token authentication off, say) are for people who started Ray by hand.
    logging.getLogger("ray").setLevel(logging.ERROR)
    folder = run_dir.path / "ray"
    started: list[Node] = []
    try:
        with vital_parts_only(), raylet_watched(started, forks), on_loopback(), signals_left_to_us():
            ray.init(
                address="local",
                num_cpus=2,  # actors ask for none; Ray starts that many idle workers ahead
                resources={"browser": browsers, "control": 1},
                include_dashboard=False,
                object_store_memory=object_store_bytes,
                namespace=namespace,
                log_to_driver=False,
                configure_logging=False,
                logging_level=logging.ERROR,
                _temp_dir=str(folder),
            )
    except Exception as error:
        words = last_words(folder)
        _clear_away(started, folder)
        raise ClusterFailed(f"{type(error).__name__}: {error}" + (f" ({words})" if words else "")) from error


def _clear_away(started: list[Node], folder: Path) -> None:
    """Ends what a start that failed has left, so that another one can follow."""
    ray.shutdown()
    for node in started:  # one that `ray.init` never came to own
        node.kill_all_processes(check_alive=False, allow_graceful=False)
    clear(folder, spare=os.getpid())


def last_words(folder: Path) -> str:
    """The line by which the raylet of this folder says why it ended; "" without one."""
    for log in sorted(folder.glob("session_2*/logs/raylet.out")):
        with contextlib.suppress(OSError):
            words = _LAST_WORDS.findall(log.read_text(errors="replace"))
            if words:
                return str(words[-1])[:_WORDS_CHARS]
    return ""


@contextmanager
def raylet_watched(started: list[Node], forks: Path | None) -> Iterator[None]:
    """Ray starts without its agents, and a raylet that ends is noticed at once. `started` gets the node.

    The raylet waits 15 s for the files in which its agents tell their ports. Here these are written before. Ray then
    waits half a minute for a raylet that may have ended long before.
    """
    start, popen = Node.start_raylet, services.ConsolePopen

    def watched(node: Node, *given: Any, **named: Any) -> None:
        started.append(node)
        _choose_ports(node)
        start(node, *given, **named)
        _await_raylet(node)

    setattr(Node, "start_raylet", watched)  # noqa: B010  as types see it, it cannot be replaced
    setattr(services, "ConsolePopen", partial(_begun_with_forks, popen, forks))  # noqa: B010
    try:
        yield
    finally:
        setattr(services, "ConsolePopen", popen)  # noqa: B010
        setattr(Node, "start_raylet", start)  # noqa: B010


def _choose_ports(node: Any) -> None:
    """Tells the ports of the agents, which do not run: none but that which the raylet has to be given."""
    for name in (*_AGENT_PORTS, "runtime_env_agent_port"):
        port = -1 if name in _AGENT_PORTS else _free_port()
        if port > 0:
            setattr(node._ray_params, name, port)
        persist_port(node._session_dir, node._node_id, name, port)


def _free_port() -> int:
    while True:
        port = random.choice(_PORTS)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def _await_raylet(node: Any) -> None:
    """Returns when the raylet has registered.

    Raises:
        RuntimeError: it has ended, or has not registered in time.
    """
    client = GcsClient(address=node.gcs_address)
    limit_s = longer_s(_RAYLET_S)
    until_s = time.monotonic() + limit_s
    while not _registered(client, node):
        ended = [name for name, _ in node.dead_processes()]
        if ended:
            raise RuntimeError(f"Ray's {' and '.join(ended)} ended while it was starting")
        if time.monotonic() >= until_s:
            raise RuntimeError(f"Ray's raylet has not registered within {limit_s:.0f} s")
        time.sleep(_LOOK_S)


def _registered(client: Any, node: Any) -> bool:
    try:
        return NodeID.from_hex(node._node_id) in client.get_all_node_info(timeout=_ANSWER_S)
    except ray.exceptions.RpcError:  # the GCS is slow, or gone: then it has ended
        return False


@contextmanager
def on_loopback() -> Iterator[None]:
    """Ray starts as where it makes no clusters, on Windows and macOS: all its parts use, and listen on, the loopback
    address only. Elsewhere it listens on every address of the machine. An environment variable says so to its
    processes; in this one Ray read it when it was imported. An address that is given, Ray replaces by the machine's.
    """
    name = ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR
    kept, environment_value = ray_constants.ENABLE_RAY_CLUSTER, os.environ.get(name)
    ray_constants.ENABLE_RAY_CLUSTER = False
    os.environ[name] = "0"
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = kept
        _put_back(name, environment_value)


@contextmanager
def vital_parts_only() -> Iterator[None]:
    """Ray starts without `_NOT_NEEDED`; a later Ray that calls these otherwise starts them as it always did."""
    kept = {name: getattr(Node, name) for name in _NOT_NEEDED if hasattr(Node, name)}
    for name in kept:
        setattr(Node, name, _start_nothing)
    try:
        yield
    finally:
        for name, method in kept.items():
            setattr(Node, name, method)


def _begun_with_forks(popen: Any, forks: Path | None, command: list[str], **named: Any) -> Any:
    command = without_agents(command)
    return popen(with_forks(command, forks) if forks else command, **named)


def without_agents(command: list[str]) -> list[str]:
    """A command of Ray's, with an idle process in the place of each agent that it would start."""
    return [next((f"{name}{_IDLE}" for name in _AGENTS if part.startswith(name)), part) for part in command]


def with_forks(command: list[str], forks: Path) -> list[str]:
    """A command of Ray's, with the fork server at `forks` for what it would start as Python workers."""
    starts = f"{_WORKERS}{subprocess.list2cmdline([sys.executable, _RAYS_SCRIPT])} "
    ours = f"{_WORKERS}{subprocess.list2cmdline(client_command(forks))} "
    return [ours + part.removeprefix(starts) if part.startswith(starts) else part for part in command]


@contextmanager
def signals_left_to_us() -> Iterator[None]:
    """Ray starts without its handlers of SIGTERM. In Python one ends this process in the midst of whatever it does; in
    C++ one prints its stack, and aborts when another signal comes meanwhile.

    Its processes get process groups of their own: what is sent to ours (by a terminal, a shell or `kill -- -PGID`)
    reaches this process alone, which needs them to end in order. They still end with the thread that started them.
    """
    handler, popen = ray_utils.set_sigterm_handler, services.ConsolePopen
    setattr(ray_utils, "set_sigterm_handler", _set_nothing)  # noqa: B010  as types see it, neither can be replaced
    setattr(services, "ConsolePopen", partial(popen, process_group=0))  # noqa: B010
    try:
        yield
    finally:
        setattr(ray_utils, "set_sigterm_handler", handler)  # noqa: B010
        setattr(services, "ConsolePopen", popen)  # noqa: B010
        ours = signal.getsignal(signal.SIGTERM)
        if ours is not None:  # set anew, since the C++ part has put its own before it
            signal.signal(signal.SIGTERM, ours)
            signal.siginterrupt(signal.SIGTERM, False)  # as asyncio has it


def _set_nothing(handler: object) -> None:
    """Takes the place of a function that sets a handler of signals."""


def _start_nothing(node: Node, **_: object) -> None:
    """Takes the place of a method that starts a process."""
