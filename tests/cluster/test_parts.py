"""The parts of these tests themselves, as far as they can be tried without Kubernetes."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import httpx
import pytest
import yaml

from tests.cluster import control_plane as plane
from tests.cluster.kube import connected, replicas, scale
from tests.cluster.rights import by_roles, questions
from tests.deploy import helm
from tests.deploy.cases import CASES, EXTERNAL, Case
from tests.deploy.cluster import AUTOSCALER, Cluster, played_at


def test_without_kubernetes_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(plane.NotThere, match=r"name a folder with kube-apiserver, .* in KUBEBUILDER_ASSETS"):
        plane.find_programs(None)
    (tmp_path / "kube-apiserver").touch(mode=0o755)
    with pytest.raises(plane.NotThere, match="has no kube-controller-manager, kube-scheduler"):
        plane.find_programs(str(tmp_path))


def test_etcd_keeps_what_it_is_given(tmp_path: Path) -> None:
    try:
        program = plane.etcd_program(None)
    except plane.NotThere as missing:
        pytest.skip(str(missing))
    client, peer = plane.free_port(), plane.free_port()
    address = f"http://{plane.HOST}:{client}"
    command = plane.etcd_command(program, tmp_path / "data", client, peer)
    with plane.running(command, tmp_path / "log", lambda: plane.answers(f"{address}/health")) as process:
        for path, body in (("put", {"key": "YQ==", "value": "Yg=="}), ("range", {"key": "YQ=="})):
            request = urllib.request.Request(f"{address}/v3/kv/{path}", data=json.dumps(body).encode())
            with urllib.request.urlopen(request, timeout=5) as reply:
                found = json.load(reply)
        assert found["kvs"][0]["value"] == "Yg=="
    assert process.poll() is not None
    assert not plane.answers(f"{address}/health")


def test_a_server_that_ends_is_told_with_its_log(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "echo no such flag; exit 3"]
    with (
        pytest.raises(RuntimeError, match=r"sh is not ready \(exit code 3\):\nno such flag"),
        plane.running(command, tmp_path / "log", lambda: False),
    ):
        pass


def test_every_server_listens_on_loopback_and_asks_who_calls(tmp_path: Path) -> None:
    program = Path("/assets/x")
    commands = [
        plane.etcd_command(program, tmp_path, 1, 2),
        plane.api_server_command(program, tmp_path, 1, 3),
        plane.controller_manager_command(program, tmp_path, 4),
        plane.scheduler_command(program, tmp_path, 5),
    ]
    for command in commands:
        options = dict(word.removeprefix("--").partition("=")[::2] for word in command[1:])
        assert len(options) == len(command) - 1, "an option stands there twice"
        listens = [value for name, value in options.items() if name == "bind-address" or name.startswith("listen-")]
        assert listens and all("127.0.0.1" in value for value in listens), command
        assert "0.0.0.0" not in " ".join(command)
    api = commands[1]
    assert "--anonymous-auth=false" in api and "--authorization-mode=Node,RBAC" in api
    assert "--etcd-servers=http://127.0.0.1:1" in api and "--secure-port=3" in api


def test_the_servers_find_the_files_that_their_commands_name(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    plane.write_files(folder, "https://127.0.0.1:3")
    words = [
        *plane.api_server_command(Path("/x"), folder, 1, 3),
        *plane.controller_manager_command(Path("/x"), folder, 4),
        *plane.scheduler_command(Path("/x"), folder, 5),
    ]
    named = {Path(value) for word in words for value in [word.partition("=")[2]] if value.startswith(str(folder))}
    made_by_the_server = {folder / "apiserver.crt"}
    assert all(path.exists() for path in named - made_by_the_server), named
    assert folder.stat().st_mode & 0o077 == 0
    for part in ("controller-manager", "scheduler"):
        told = yaml.safe_load((folder / f"{part}.yaml").read_text())
        assert told["users"][0]["user"]["token"] in plane.TOKENS
        assert told["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:3"
    rows = (folder / "tokens.csv").read_text().splitlines()
    assert 'admin,admin,admin,"system:masters"' in rows and len(rows) == len(plane.TOKENS)


def test_the_played_autoscaler_owns_what_it_patched() -> None:
    cluster = Cluster()
    with played_at(cluster) as (address, releases), connected(address) as kube:
        releases.install(EXTERNAL)
        scale(kube, helm.NAMESPACE, "browsers", 7)
        assert replicas(kube, helm.NAMESPACE, "browsers") == 7
        with pytest.raises(helm.Refused, match=f'conflict with "{AUTOSCALER}"'):
            releases.upgrade(EXTERNAL)
        releases.upgrade(EXTERNAL, force_conflicts=True)
        assert replicas(kube, helm.NAMESPACE, "browsers") == 7


def test_a_program_that_is_refused_is_told_so() -> None:
    with played_at(Cluster()) as (address, _), connected(address) as kube:
        assert isinstance(kube.http, httpx.Client)
        with pytest.raises(Exception, match="not found"):
            kube.get("/api/v1/namespaces/shoal/pods/none")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_roles_answer_the_questions_as_they_should(case: Case) -> None:
    objects = case.objects()
    asked = questions(objects, helm.NAMESPACE)
    assert len(asked) > 50
    wrong = [question for question in asked if by_roles(objects, question) is not question.allowed]
    assert wrong == []
