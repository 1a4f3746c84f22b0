"""Every command of deploy/compose, with its own settings, as plain processes: they make one system that does a job.

What a container gives is replaced, and nothing else: names of services by loopback addresses, paths, and the images'
databases by those that tests have. Chromium's sandbox wants a user who is not root.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import yaml

from shoal.agent.support.json_value import Json
from shoal.services.cluster.run_dir import RunDir
from tests.embedded import ROOT, wait_until
from tests.postgres import running

pytestmark = pytest.mark.timeout(600)  # Ray has to start, with all its parts

COMPOSE = ROOT / "deploy" / "compose"
_SECRET = "0123456789abcdef" * 4
_PORTS = {"object-store": 8333, "gateway": 8700, "ray": 10001, "metrics": 8080, "health": 8701, "own": 8702}
"""Ports that the file names."""


@dataclass
class Composed:
    """The compose file's services as processes of this machine."""

    folder: Path
    ports: dict[str, int]
    postgres: str
    services: Json = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def here(self, text: str) -> str:
        """A value or argument with this machine's places in it."""
        for service in ("object-store", "gateway", "ray"):
            text = re.sub(rf"\b{service}:(?=\d)", "127.0.0.1:", text)
        for name, port in _PORTS.items():
            text = re.sub(rf"\b{port}\b", str(self.ports[name]), text)
        text = text.replace("/var/lib/shoal", str(self.folder / "data"))
        return text.replace("/etc/shoal/secrets", str(COMPOSE / "secrets"))

    def environment(self, name: str) -> dict[str, str]:
        """Return what the file sets for a service, here."""
        own = {k: v for k, v in os.environ.items() if not k.startswith(("SHOAL_", "RAY_", "AWS_"))}
        # What is left empty is an empty text: Compose fills variables in after it has read the YAML.
        told = {key: self.here(str(value or "")) for key, value in self.services[name]["environment"].items()}
        return {
            **own,
            **told,
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "SHOAL_STORE_URL": self.postgres,
            "SHOAL_HOST": "127.0.0.1",
            "SHOAL_PORT": str(self.ports["gateway"]),
            "SHOAL_SANDBOX": "auto",
            "SHOAL_AUTH": "on",  # as on an address that others reach
            "SHOAL_ALLOW_PRIVATE": "true",  # the shop is on this machine
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Ray listens on loopback only
        }

    def command(self, name: str) -> list[str]:
        """Return what the service's container would run, out of our own environment."""
        service = self.services[name]
        whole = [*service.get("entrypoint", ["/usr/bin/tini", "--", "shoal"]), *service["command"]]
        program, *arguments = whole[2:] if whole[0] == "/usr/bin/tini" else whole
        return [str(Path(sys.executable).with_name(program)), *(self.here(str(one)) for one in arguments)]

    def run(self, name: str) -> None:
        """Runs a service that ends by itself."""
        ended = subprocess.run(
            self.command(name), env=self.environment(name), capture_output=True, text=True, timeout=60, check=False
        )
        assert ended.returncode == 0, f"{name}: {ended.stderr}"

    def start(self, name: str, *more: str) -> None:
        """Starts one that goes on."""
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [*self.command(name), *more], env=self.environment(name), stdout=log, stderr=log
            )

    def goes(self, name: str) -> bool:
        """True while it runs; its log is the reason when it does not."""
        assert self.processes[name].poll() is None, (self.folder / f"{name}.log").read_text()[-3000:]
        return True

    def listens(self, name: str) -> bool:
        """Return whether anybody answers at the service's port."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.ports[name])) == 0

    def key(self) -> str:
        """A key, made by the command that the file's head names."""
        (told,) = re.findall(r"compose exec gateway shoal (.*)$", (COMPOSE / "compose.yaml").read_text(), re.M)
        command = [str(Path(sys.executable).with_name("shoal")), *told.split()]
        ended = subprocess.run(
            command, env=self.environment("gateway"), capture_output=True, text=True, timeout=60, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.split()[-1]

    def end(self) -> None:
        """Ends what was started, the last first."""
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait()

    def healthy(self, name: str, **more: str) -> bool:
        """Return what the service's own health check says."""
        kind, program, *arguments = self.services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        command = [str(Path(sys.executable).with_name(program)), *(self.here(one) for one in arguments)]
        environment = self.environment(name) | more
        ended = subprocess.run(command, env=environment, capture_output=True, timeout=30, check=False)
        return self.goes(name) and ended.returncode == 0


def _services() -> Json:
    """The file's services, with its example's variables; those that it asks for are secrets."""
    example = dict(re.findall(r"^([A-Z_0-9]+)=(.*)$", (COMPOSE / "example.env").read_text(), re.M))

    def value(match: re.Match[str]) -> str:
        name, wanted, default = match.groups()
        return _SECRET if wanted == "?" else example[name] or default or ""

    text = re.sub(r"\$\{([A-Z_0-9]+)(?::([-?])([^}]*))?\}", value, (COMPOSE / "compose.yaml").read_text())
    return yaml.safe_load(text)["services"]


@contextmanager
def _s3() -> Iterator[int]:
    """A real S3 protocol server; gives its port."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            found = next(filter(None, (re.search(r"127\.0\.0\.1:(\d+)", line) for line in server.stderr)))
            yield int(found[1])
        finally:
            server.terminate()


def _free_ports(n: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextmanager
def _composed() -> Iterator[Composed]:
    with ExitStack() as stack:
        run_dir = RunDir.make()
        stack.callback(run_dir.remove)  # ends what still runs out of it
        (run_dir.path / "data").mkdir()
        ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
        ports["object-store"] = stack.enter_context(_s3())
        made = Composed(run_dir.path, ports, stack.enter_context(running()), _services())
        stack.callback(made.end)
        yield made


@contextmanager
def _prometheus(composed: Composed) -> Iterator[str]:
    """The file's Prometheus with its own configuration; gives its address."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("Prometheus is not there: scripts/setup-deploy installs Debian's package")
    token = composed.folder / "token"
    token.write_text(composed.environment("ray")["RAY_AUTH_TOKEN"])
    config = composed.here((COMPOSE / "prometheus.yaml").read_text())
    config = config.replace("/run/secrets/ray-token", str(token)).replace(" 15s", " 1s")
    config = config.replace("/etc/prometheus/rules", str(ROOT / "deploy" / "prometheus" / "rules"))
    (composed.folder / "prometheus.yaml").write_text(config)
    address = f"127.0.0.1:{_free_ports(1)[0]}"
    places = [f"--config.file={composed.folder}/prometheus.yaml", f"--storage.tsdb.path={composed.folder}/metrics"]
    command = [program, *places, f"--web.listen-address={address}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            yield f"http://{address}"
        finally:
            server.terminate()


def _pods(prometheus: str) -> set[str]:
    """Pods whose workers' memory it knows."""
    try:
        query = {"query": "sum by (pod) (ray_shoal_worker_memory_bytes) > 0"}
        answer = httpx.get(f"{prometheus}/api/v1/query", params=query, timeout=5)
    except httpx.TransportError:
        return set()
    if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:  # it listens, and still reads its own files
        return set()
    return {one["metric"]["pod"] for one in answer.json()["data"]["result"]}


def test_the_commands_of_the_compose_file_make_one_system(shop: str) -> None:
    with _composed() as composed:
        gcs, dashboard = _free_ports(2)
        composed.start("ray", f"--port={gcs}", f"--dashboard-port={dashboard}", f"--temp-dir={composed.folder}/ray")
        composed.run("bucket")
        composed.run("bucket")  # as after a restart
        composed.run("migrate")
        composed.start("gateway")
        wait_until(lambda: composed.healthy("gateway"), 60, "the gateway is healthy")
        wait_until(lambda: composed.goes("ray") and composed.listens("ray"), 90, "Ray listens")
        assert composed.healthy("ray", RAY_ADDRESS=f"127.0.0.1:{gcs}")
        composed.start("supervisor")
        with httpx.Client(base_url=f"http://127.0.0.1:{composed.ports['gateway']}", timeout=20) as client:
            assert client.get("/v1/status").status_code == 401
            client.headers["Authorization"] = f"Bearer {composed.key()}"
            wait_until(lambda: _has_slots(composed, client), 90, "the dispatcher has its workers")
            schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            loop = {"values": [f"{shop}/", f"{shop}/not-there"], "is_link": True}
            answer = client.post("/v1/jobs", json={"url": shop, "loop": loop, "extract": {"schema": schema}})
            assert answer.status_code == 201, answer.text
            job = f"/v1/jobs/{answer.json()['id']}"
            wait_until(lambda: client.get(job).json()["finished_at"], 90, "the job is over")
            rows = [httpx.Response(200, text=line).json() for line in client.get(f"{job}/results").text.splitlines()]
            shots = [row["screenshot"] for row in rows if row["screenshot"]]
            assert len(rows) == 2 and shots
            place = client.get(f"/v1/artifacts/{shots[0]}", follow_redirects=False).headers["location"]
            assert place.startswith(f"http://localhost:{composed.ports['object-store']}/shoal/"), "as callers reach it"
            assert httpx.get(place.replace("localhost", "127.0.0.1")).content.startswith(b"\xff\xd8")
        with _prometheus(composed) as prometheus:
            wait_until(lambda: _pods(prometheus) == {"ray"}, 40, "the workers' memory is scraped from Ray")


def _has_slots(composed: Composed, client: httpx.Client) -> bool:
    capacity = client.get("/v1/status").json()["capacity"]
    return composed.goes("supervisor") and composed.goes("ray") and capacity["fresh"] and capacity["slots"] == 8
