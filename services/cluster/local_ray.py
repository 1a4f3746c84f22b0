"""Ray on this machine, for one embedded cluster: loopback only, nothing outside the run folder, no reporting home."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import ray
from ray._private import ray_constants, services
from ray._private import utils as ray_utils
from ray._private.node import Node
from ray._raylet import AuthenticationTokenLoader  # type: ignore[attr-defined]  # its stub lacks this

from shoal.services.cluster.run_dir import RunDir
from shoal.services.errors import ClusterFailed

_NOT_NEEDED = ("start_api_server", "start_monitor", "start_log_monitor")
"""Ray's dashboard (its API server runs though none is asked for), autoscaler and log forwarder: three processes that
take 350 MiB and half of the start, and nothing uses them on one machine. Ray has no option for this."""


@contextmanager
def local_ray(run_dir: RunDir, *, browsers: int, object_store_bytes: int, namespace: str) -> Iterator[None]:
    """Starts Ray, and ends it with all its actors.

    Must be entered on the main thread: the kernel ends Ray's processes with the *thread* that started them.

    Raises:
        ClusterFailed: Ray did not start; its logs' last words are in the message.
    """
    variables = {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_TOKEN_PATH": str(run_dir.token()),
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "TMPDIR": str(run_dir.tmp),
    }
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    AuthenticationTokenLoader.instance().reset_cache()  # it holds the token of this process's last cluster
    try:
        _start(run_dir, browsers, object_store_bytes, namespace)
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


def _start(run_dir: RunDir, browsers: int, object_store_bytes: int, namespace: str) -> None:
    # Its notices (how to turn token authentication off, say) are for people who started Ray by hand.
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        with vital_parts_only(), on_loopback(), signals_left_to_us():
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
                _temp_dir=str(run_dir.path / "ray"),
            )
    except Exception as error:
        ray.shutdown()
        raise ClusterFailed(f"Ray did not start: {type(error).__name__}: {error}") from error


@contextmanager
def on_loopback() -> Iterator[None]:
    """Ray starts as where it makes no clusters, on Windows and macOS: all its parts use, and listen on, the loopback
    address only. Elsewhere it listens on every address of the machine. An environment variable says so to its
    processes; in this one Ray read it when it was imported. An address that is given, Ray replaces by the machine's.
    """
    name = ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR
    kept, told = ray_constants.ENABLE_RAY_CLUSTER, os.environ.get(name)
    ray_constants.ENABLE_RAY_CLUSTER = False
    os.environ[name] = "0"
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = kept
        _put_back(name, told)


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
