"""A production-like cluster on one machine: each part a process of its own, started again when it is gone.

PostgreSQL, an S3 server, the demo shop, a Ray head, nodes with browsers, `shoal supervise`, `shoal gateway`. All of
it listens on loopback and carries one folder as its mark, by which a watchdog ends it when this process is killed.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import httpx
import psutil
import psycopg
from _chaos_net import CLUSTER, SITES, Network
from _chaos_ports import free_ports

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shoal.agent.support.json_value import Json
from shoal.services.cluster.run_dir import RunDir, users_of
from shoal.services.cluster.watchdog import Watchdog
from shoal.services.events import LogEvent
from shoal.services.store.database.states import FINAL_STATES
from tests.postgres import Server

LOOPBACK = "127.0.0.1"
BUCKET = "shoal"
WIRES = ("gateway-database", "dispatcher-database", "gateway-s3", "workers-s3", "supervisor-ray")
"""Pairs of parts, of which the first reaches the second by a relay of its own (`_chaos_door.py`)."""
APART = "apart"
"""The part that is a whole Ray cluster on one node."""
BROWSERS_PER_NODE = 2
"""Room for the other node's worker while that node is away."""

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients on loopback. Else each look at the cluster would read the machine's certificates: 50 ms of CPU."""
_HTTP_S = 20.0
_END_S = 8.0
"""Seconds that a part gets to end in order."""
_GONE_S = 90.0
"""Seconds that processes get to end by themselves once the part that they belong to has gone. A Ray worker that is just
starting tries 20 times to find its head before it looks for its raylet: 26 s on a quiet machine.
"""
_ON_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Variables that make Ray use, and listen on, the loopback address only."""
_HEALTH_CHECKS = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "4",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",
}
"""A node that died is given up after some 4 s, one that is cut off after 10 s; by default after 15 s and a minute. A
node itself gives up a head that it does not find for 10 s; by default for a minute."""
_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent
Hindrance = Literal["cut", "slow", "lag"]
"""Of a node's link to the cluster."""
SPILL_MIB = 8
"""MiB for uploads that wait while the S3 server is away, where they have a disk of their own."""
_MARKS = (_HERE / "_chaos_marks.sql").read_text()
_WORKER_LOGS = "*/session_2*/logs/worker-*.err"
_CLIENT_LOGS = "*/session_2*/logs/ray_client_server*.err"
_PYTHON = sys.executable
_SHOAL = str(Path(sys.executable).with_name("shoal"))


def until(met: Callable[[], Any], seconds: float, what: str, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Returns once `met` is true.

    Raises:
        TimeoutError: not within so many seconds.
    """
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}")
        meanwhile()
        time.sleep(0.1)


@dataclass
class Part:
    """One process that an orchestrator would keep running."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    not_before: float = 0.0  # of the monotonic clock: an outage lasts until then

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def ensure(self) -> None:
        """Starts it where it does not run and its outage is over; what is left of it is ended before."""
        if self.runs or time.monotonic() < self.not_before:
            return
        self.end_group()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=dict(self.environment), cwd=_ROOT, stdout=log, stderr=log, start_new_session=True
            )

    def has_logged(self, line: str) -> bool:
        """Return whether this line is in its log."""
        return self.log.exists() and line in self.log.read_text(errors="replace").splitlines()

    def kill(self, away_s: float = 0.0) -> bool:
        """Ends it at once, for so long at least; its children are on their own. False when it did not run."""
        if not self.runs or self.process is None:
            return False
        self.not_before = time.monotonic() + away_s
        self.process.kill()
        self.process.wait()
        return True

    def ask_to_end(self) -> None:
        """Sends SIGTERM, as an orchestrator does."""
        if self.runs and self.process is not None:
            self.process.terminate()

    def end_group(self) -> None:
        """Ends what is left of its process group, as the end of a container does."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def below(self, name: str) -> list[psutil.Process]:
        """Its child processes of this name."""
        if self.process is None:
            return []
        with suppress(psutil.NoSuchProcess):
            return [one for one in psutil.Process(self.process.pid).children() if one.name() == name]
        return []


@dataclass
class ChaosCluster:
    """The parts, and what they can be asked. Enter it: it is up when the first worker can take sessions."""

    nodes: int = 2
    slots: int = 2
    logs: Path | None = None  # a folder that gets the logs at the end
    network: Network | None = None  # where nodes have addresses of their own; else all is on loopback
    apart: bool = False  # with a network: the last node is a Ray cluster of its own, with a dispatcher of its own
    settings: Mapping[str, str] = field(default_factory=dict)  # further environment of all parts
    own: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # and of single ones, by their names
    parts: dict[str, Part] = field(default_factory=dict)
    url: str = ""  # of the gateway
    shop: str = ""
    left: list[str] = field(default_factory=list)  # after the end: command lines of processes that outlived it
    postgres_back_at: float = 0.0  # of the monotonic clock: its outage lasts until then
    full_disks: bool = False  # uploads that wait for S3 have a small disk of their own, which can be filled
    mends: list[tuple[float, Callable[[], object]]] = field(default_factory=list)  # what ends a fault, and when
    hindered_until: dict[tuple[Hindrance, int], float] = field(default_factory=dict)  # by node; of the monotonic clock

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._start(stack)
            try:
                until(self.ready, 180, "the cluster is ready", self.keep_running)
            except TimeoutError as late:
                raise TimeoutError(f"{late}\n{self.last_log_lines()}") from late
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # --- starting -------------------------------------------------------------------------------------

    def _start(self, stack: ExitStack) -> None:
        run_dir = RunDir.make()
        stack.callback(run_dir.remove)
        stack.callback(Watchdog(run_dir.path).dismiss)
        self.folder, self.temp = run_dir.path, run_dir.tmp
        self.spill = self.folder / "data" / "waiting-uploads"
        if self.full_disks:
            stack.enter_context(self._spill_disk())
        gateway, s3, shop, gcs, client, door, *wires = free_ports(LOOPBACK, 6 + len(WIRES))
        host, sites = (CLUSTER, SITES) if self.network else (LOOPBACK, LOOPBACK)
        self.url, self.shop = f"http://{LOOPBACK}:{gateway}", f"http://{sites}:{shop}"
        self._s3 = f"http://{host}:{s3}"
        environment = self._environment(gateway, f"ray://{host}:{client}")
        (self.folder / "pg").mkdir()
        self.postgres = Server(self.folder / "pg")
        stack.callback(self._end_postgres)
        environment["SHOAL_STORE_URL"] = self.postgres.url
        (database,) = (self.folder / "pg").glob(".s.PGSQL.*[0-9]")
        ends = dict(zip(WIRES, (database, database, f"{host}:{s3}", f"{host}:{s3}", f"{host}:{client}"), strict=True))
        at = dict(zip(WIRES, wires, strict=True))
        stack.callback(self._end_parts)
        self._add("site", [_PYTHON, str(_HERE / "site"), "--host", sites, "--port", str(shop), "--warm"], environment)
        self._add("s3", [_PYTHON, str(_HERE / "_chaos_s3.py"), host, str(s3), BUCKET], environment)
        self._add("head", self._head(host, gcs, client), environment)
        self.keep_running()
        subprocess.run([_SHOAL, "migrate"], env=environment, cwd=_ROOT, check=True, stdout=subprocess.DEVNULL)
        with psycopg.connect(self.postgres.url) as connection:
            connection.execute(_MARKS.encode())
        joined = range(self.nodes - self.apart)
        for number in joined:
            self._add(f"node{number}", self._node(number, f"{host}:{gcs}"), environment)
        until(lambda: _listens(host, gcs) and _listens(host, client), 90, "Ray's head listens")
        self.keep_running()
        nodes = [self.parts[f"node{number}"] for number in joined]
        # Before the rest: Ray gives up on a node that takes more than 30 s.
        until(lambda: all(node.has_logged("up") for node in nodes), 240, "the nodes are up", self.keep_running)
        until(lambda: all(map(self._answers, (self._s3, self.shop))), 60, "shop and S3 answer", self.keep_running)
        self._add_behind_wires(environment, host, ends, at)
        if self.apart:
            self._add_apart(environment, door)

    def _add_behind_wires(
        self, environment: Mapping[str, str], host: str, ends: Mapping[str, object], at: Mapping[str, int]
    ) -> None:
        """The supervisor and the gateway, with the relays by which they and the workers reach the rest.

        `ends`: what each relay leads to; `at`: its port.
        """
        for wire, end in ends.items():
            self._add(wire, [_PYTHON, str(_HERE / "_chaos_door.py"), host, str(at[wire]), str(end)], environment)
        self.keep_running()
        until(lambda: all(_listens(host, port) for port in at.values()), 30, "the relays listen")
        by = {wire: f"{host}:{port}" for wire, port in at.items()}
        supervisor = {
            "SHOAL_STORE_URL": f"postgresql://postgres:@{by['dispatcher-database']}/postgres",
            "SHOAL_S3_ENDPOINT_URL": f"http://{by['workers-s3']}",
            "SHOAL_RAY_ADDRESS": f"ray://{by['supervisor-ray']}",
        }
        self._add("supervisor", [_SHOAL, "supervise"], environment | supervisor)
        gateway_own = {
            "SHOAL_STORE_URL": f"postgresql://postgres:@{by['gateway-database']}/postgres",
            "SHOAL_S3_ENDPOINT_URL": f"http://{by['gateway-s3']}",
        }
        self._add("gateway", [_SHOAL, "gateway"], environment | gateway_own)

    def _environment(self, gateway: int, ray: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SHOAL_", "RAY_", "AWS_"))}
        return kept | {
            "TMPDIR": str(self.temp),
            "AWS_ACCESS_KEY_ID": "chaos",
            "AWS_SECRET_ACCESS_KEY": "chaos",
            "AWS_EC2_METADATA_DISABLED": "true",
            "SHOAL_DATA_DIR": str(self.folder / "data"),
            "SHOAL_ARTIFACTS_URL": f"s3://{BUCKET}/artifacts",
            "SHOAL_S3_ENDPOINT_URL": self._s3,
            "SHOAL_PORT": str(gateway),
            "SHOAL_AUTH": "off",
            "SHOAL_REQUESTS_PER_S": "0",
            "SHOAL_ALLOW_PRIVATE": "true",
            "SHOAL_LOG_FORMAT": "json",
            "SHOAL_RAY_ADDRESS": ray,
            "SHOAL_WORKERS": str(self.nodes - self.apart),
            "SHOAL_SLOTS_PER_WORKER": str(self.slots),
            "SHOAL_LEASE_S": "15",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
            # Else the client server's child may die between fork and exec (ray-project/ray#63202).
            "GRPC_ENABLE_FORK_SUPPORT": "0",
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            **_HEALTH_CHECKS,
            **({} if self.network else _ON_LOOPBACK),
            **self.settings,
        }

    def _add_apart(self, environment: Mapping[str, str], door: int) -> None:
        """The last node as a Ray head with browsers and the dispatcher `second`: all that it shares is the store."""
        assert self.network is not None, "nodes on loopback cannot be cut off"
        number = self.nodes - 1
        inside, address = self.network.command(number), self.network.address(number)
        (socket,) = (self.folder / "pg").glob(".s.PGSQL.*[0-9]")
        self._add("door", [_PYTHON, str(_HERE / "_chaos_door.py"), CLUSTER, str(door), str(socket)], environment)
        ray = [
            *(_PYTHON, str(_HERE / "_chaos_ray.py"), "--head", "6379", "10001", f"--address={address}"),
            *(f'--resources={{"control": 1, "browser": {BROWSERS_PER_NODE}}}', f"--folder={self.folder / APART}"),
        ]
        self._add(APART, [*inside, *ray], environment)
        second = {
            **environment,
            "SHOAL_STORE_URL": f"postgresql://postgres:@{CLUSTER}:{door}/postgres",
            "SHOAL_RAY_ADDRESS": f"ray://{address}:10001",
            "SHOAL_DISPATCHER": "second",
            "SHOAL_WORKERS": "1",
        }
        self._add("second", [*inside, _SHOAL, "supervise"], second)

    def _head(self, host: str, gcs: int, client: int) -> list[str]:
        return [
            *(_PYTHON, str(_HERE / "_chaos_ray.py"), "--head", str(gcs), str(client), f"--address={host}"),
            *('--resources={"control": 1}', f"--folder={self.folder / 'ray'}"),
        ]

    def _node(self, number: int, gcs: str) -> list[str]:
        address = self.network.address(number) if self.network else LOOPBACK
        return [
            *(self.network.command(number) if self.network else ()),
            *(_PYTHON, str(_HERE / "_chaos_ray.py"), f"--gcs={gcs}", f"--address={address}"),
            f'--resources={{"browser": {BROWSERS_PER_NODE}}}',
        ]

    def _add(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        own = self.temp / name  # tells a node's processes from another's
        own.mkdir()
        environment = {**environment, **self.own.get(name, {}), "TMPDIR": str(own)}
        self.parts[name] = Part(name, command, environment, self.folder / f"{name}.log")

    def later(self, seconds: float, mend: Callable[[], object]) -> None:
        """Ends a fault after so long."""
        self.mends.append((time.monotonic() + seconds, mend))

    def mend(self, *, all_of_it: bool = False) -> None:
        """Ends the faults whose time is over, or all of them."""
        for at, mend in list(self.mends):
            if all_of_it or time.monotonic() >= at:
                try:
                    mend()
                except psycopg.OperationalError:  # the database is away just now
                    if not all_of_it:
                        continue
                self.mends.remove((at, mend))

    @contextmanager
    def _spill_disk(self) -> Iterator[None]:
        """The folder of waiting uploads as a small disk of its own."""
        self.spill.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SPILL_MIB}m", "tmpfs", str(self.spill)], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", str(self.spill)], check=True)

    def keep_running(self) -> None:
        """Does what an orchestrator does: starts what is gone, ends the outage of what was stopped."""
        self.mend()
        if self.postgres_back_at and time.monotonic() >= self.postgres_back_at:
            self.postgres.start()
            self.postgres_back_at = 0.0
        for how, node in [one for one, until_then in self.hindered_until.items() if time.monotonic() >= until_then]:
            self.hinder(how, node, 0)
        for part in self.parts.values():
            part.ensure()

    def hinder(self, how: Hindrance, node: int, for_s: float) -> None:
        """Cuts a node off from all but the sites, or makes that link slow or its packets late; 0 mends it."""
        assert self.network is not None, "nodes on loopback have no link of their own"
        if how == "cut":
            self.network.set_link(node, up=not for_s)
        elif how == "slow":
            self.network.set_speed(node, slow=bool(for_s))
        else:
            self.network.set_lag(node, lags=bool(for_s))
        self.hindered_until.pop((how, node), None)
        if for_s:
            self.hindered_until[how, node] = time.monotonic() + for_s

    def ready(self) -> bool:
        """Return whether the gateway answers, and a dispatcher has a worker for each node."""
        try:
            capacity = self.get("/v1/status")["capacity"]
        except httpx.HTTPError:
            return False
        return bool(capacity["fresh"] and capacity["workers"] >= self.nodes)

    # --- asking ---------------------------------------------------------------------------------------

    def submit(self, spec: Json) -> str:
        """Hands a job in; its id."""
        answer = httpx.post(f"{self.url}/v1/jobs", json=spec, timeout=_HTTP_S, verify=_NO_TLS)
        if answer.status_code != 201:
            raise ValueError(f"the job was refused: {answer.text}")
        return str(answer.json()["id"])

    def get(self, path: str) -> Json:
        """Return what the gateway answers.

        Raises:
            httpx.HTTPError: it does not, or not well.
        """
        answer = httpx.get(f"{self.url}{path}", timeout=_HTTP_S, verify=_NO_TLS)
        answer.raise_for_status()
        return answer.json()

    def site(self, path: str) -> Json:
        """Return what the shop's own log or list says."""
        return httpx.get(f"{self.shop}{path}", timeout=_HTTP_S, verify=_NO_TLS).json()

    def results(self, job: str) -> list[Json]:
        """Every result of a job, from the gateway."""
        answer = httpx.get(f"{self.url}/v1/jobs/{job}/results", timeout=120, verify=_NO_TLS)
        answer.raise_for_status()
        return [httpx.Response(200, content=line).json() for line in answer.text.splitlines()]

    def store(self, query: str) -> list[tuple[Any, ...]]:
        """Return what the database says.

        Raises:
            psycopg.OperationalError: it is away.
        """
        patience = "-c statement_timeout=5s"  # a lock must not hold up who is to end it
        with psycopg.connect(self.postgres.url, connect_timeout=2, options=patience) as connection:
            return connection.execute(query).fetchall()

    def marks(self, session: int) -> list[tuple[float, str | None, str]]:
        """When which worker of a session began or ended which action (`""`: ended) that must not be repeated."""
        return self.store(f"select at, worker, action from chaos_mark where session = {session} order by at")

    def workers(self) -> dict[str, int]:
        """The process of each worker that has ever been opened, by name."""
        found = {}
        for path in self.folder.glob(_WORKER_LOGS):
            for line in path.read_text(errors="replace").splitlines():
                if f'"{LogEvent.WORKER_OPENED}"' in line:
                    told = json.loads(line)
                    found[told["worker"]] = told["pid"]
        return found

    def done(self) -> int | None:
        """Items that are final, of all jobs; None while the database is away."""
        states = ", ".join(str(int(state)) for state in FINAL_STATES)
        try:
            rows = self.store(f"select count(*) from session where parent is not null and state in ({states})")
        except psycopg.OperationalError:
            return None
        return int(rows[0][0])

    def running(self) -> bool:
        """Return whether any job is not over, as far as the database can be asked."""
        try:
            return bool(self.store("select 1 from job where finished_at is null limit 1"))
        except psycopg.OperationalError:
            return True

    @staticmethod
    def _answers(url: str) -> bool:
        try:
            return httpx.get(url, timeout=2, verify=_NO_TLS).status_code < 500
        except httpx.HTTPError:
            return False

    # --- processes ------------------------------------------------------------------------------------

    def tree(self, part: str = "") -> list[tuple[psutil.Process, str]]:
        """Processes of the cluster or of one of its parts, with their command lines."""
        found = []
        for process in users_of(self.temp / part, spare=os.getpid()):
            with suppress(psutil.NoSuchProcess):
                found.append((process, " ".join(process.cmdline())))
        return found

    def last_log_lines(self) -> str:
        """The last words of each part."""
        told = []
        for part in self.parts.values():
            lines = part.log.read_text(errors="replace").splitlines() if part.log.exists() else []
            told += [f"--- {part.name}", *(line[:300] for line in lines[-20:])]
        return "\n".join(told)

    # --- the end --------------------------------------------------------------------------------------

    def _end_parts(self) -> None:
        """Asks everything to end, and what does not obey is ended."""
        self.mend(all_of_it=True)
        nodes = (f"node{n}" for n in range(self.nodes))
        order = ("gateway", "supervisor", "second", *nodes, APART, "head", "s3", "door", *WIRES, "site")
        parts = [self.parts[name] for name in order if name in self.parts]
        for part in parts:
            part.ask_to_end()
        with suppress(TimeoutError):
            until(lambda: not any(part.runs for part in parts), _END_S, "all parts have ended")
        for part in parts:
            part.end_group()
        with suppress(TimeoutError):
            until(lambda: not self.tree(), _GONE_S, "nothing is left")
        self.left = [f"{_age(process)} {line[:200]}" for process, line in self.tree()]
        if self.logs is not None:
            self._keep_logs(self.logs)

    def _keep_logs(self, folder: Path) -> None:
        """Copies what parts and Ray's workers have logged."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob("*.log"):
            shutil.copy(path, folder)
        for path in [*self.folder.glob(_WORKER_LOGS), *self.folder.glob(_CLIENT_LOGS)]:
            shutil.copy(path, folder / f"{path.parents[2].name}-{path.name}")

    def _end_postgres(self) -> None:
        self.mend(all_of_it=True)
        if self.postgres_back_at:
            self.postgres.start()
        self.postgres.stop()


def _age(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return f"pid {process.pid}, {time.time() - process.create_time():.0f} s old:"
    return f"pid {process.pid}, gone meanwhile:"


def _listens(host: str, port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex((host, port)) == 0
