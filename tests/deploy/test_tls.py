"""Verified TLS with a private authority: what the chart gives to pods, used by the programs that run in them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from shoal.agent.support.json_value import Json
from tests.certificates import Authority, answering_over_tls, postgres_over_tls, private_authority
from tests.deploy import helm
from tests.deploy.cases import EXTERNAL
from tests.deploy.objects import Pods, pods
from tests.postgres import database, running

_MODEL = {"vllm": {"models": [{"name": "qwen", "model": "m"}]}}
_BUNDLE = {"tls": {"caBundle": {"configMap": "company-ca", "key": "root.pem"}}}
_VARIABLES = ("SSL_CERT_FILE", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PGSSLROOTCERT")
_SYSTEM = Path("/etc/ssl/certs/ca-certificates.crt")
_WITHOUT = ("Deployment/shoal-router", "DaemonSet/shoal-seccomp", "Job/shoal-uninstall")
"""Pods that call no server by TLS, or Kubernetes alone, whose authority each pod is given."""


@pytest.mark.parametrize("kind", ["configMap", "existingSecret"])
def test_every_pod_of_ours_knows_the_bundle(kind: str) -> None:
    values = EXTERNAL | _MODEL | {"tls": {"caBundle": {kind: "company-ca", "key": "root.pem"}}}
    for pod in pods(helm.render(values)):
        if pod.owner in _WITHOUT:
            continue
        (source,) = [volume for volume in pod.spec["volumes"] if volume["name"] == "ca-bundle"]
        named = source["configMap"]["name"] if kind == "configMap" else source["secret"]["secretName"]
        (item,) = (source.get("configMap") or source["secret"])["items"]
        assert (named, item["key"]) == ("company-ca", "root.pem"), pod.owner
        first, *others = pod.containers
        assert first["name"] == "trust", f"{pod.owner}: the bundle is whole before anything else runs"
        for container in others:
            assert _trusted(container).keys() == set(_VARIABLES), f"{pod.owner}: {container['name']}"
            mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
            for path in _trusted(container).values():
                assert any(path.startswith(f"{mount}/") for mount in mounts), f"{pod.owner}: {path} is not mounted"


def test_without_a_bundle_the_machine_s_own_roots_are_left_alone() -> None:
    for pod in pods(helm.render(EXTERNAL | _MODEL)):
        assert not any(_trusted(container) for container in pod.containers), pod.owner


def _trusted(container: Json) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container.get("env", ()) if entry["name"] in _VARIABLES}


# --- as the pods have it -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return private_authority(tmp_path_factory.mktemp("ca") / "own")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return private_authority(tmp_path_factory.mktemp("ca") / "other")


def _migration() -> Pods:
    (found,) = [pod for pod in pods(helm.render(EXTERNAL | _BUNDLE)) if "-migrate-" in pod.owner]
    return found


def _environment(pod: Pods, bundle: Path, root: Path) -> dict[str, str]:
    """The variables of a pod whose volumes lie below `root`, after its first container has run there."""
    if not _SYSTEM.exists():
        pytest.skip("this machine has no roots: Debian's ca-certificates brings them, as it does in the images")
    trust, *_, container = pod.containers
    for mount in (mount for each in pod.containers for mount in each["volumeMounts"]):
        (root / mount["mountPath"].lstrip("/")).mkdir(parents=True, exist_ok=True)
    (place,) = [mount["mountPath"] for mount in trust["volumeMounts"] if mount["name"] == "ca-bundle"]
    (item,) = next(volume for volume in pod.spec["volumes"] if volume["name"] == "ca-bundle")["configMap"]["items"]
    (root / place.lstrip("/") / item["path"]).write_bytes(bundle.read_bytes())
    command = [word.replace("/etc/shoal", f"{root}/etc/shoal") for word in [*trust["command"], *trust["args"]]]
    subprocess.run(command, check=True, timeout=20)
    return {name: f"{root}{path}" for name, path in _trusted(container).items()}


@pytest.fixture(scope="module")
def served(authority: Authority) -> Iterator[tuple[str, int]]:
    """A PostgreSQL, and the port where it shows the authority's certificate."""
    with running() as server, postgres_over_tls(server, authority) as port:
        yield server, port


def _migrate(served: tuple[str, int], environment: Mapping[str, str], query: str, host: str = "localhost") -> str:
    """Return what `shoal migrate` says; empty when it did its work."""
    server, port = served
    with database(server) as url:
        name = url.partition("?")[0].rpartition("/")[2]
        bare = {key: value for key, value in os.environ.items() if key not in _VARIABLES}
        address = {"SHOAL_STORE_URL": f"postgresql://postgres@{host}:{port}/{name}?{query}", "HOME": "/nonexistent"}
        command = [str(Path(sys.executable).with_name("shoal")), "migrate"]
        ended = subprocess.run(
            command, env=bare | address | dict(environment), capture_output=True, text=True, timeout=120, check=False
        )
        return "" if ended.returncode == 0 else f"{ended.returncode}: {ended.stderr}{ended.stdout}"


def test_the_database_s_certificate_is_verified(
    served: tuple[str, int], authority: Authority, other: Authority, tmp_path: Path
) -> None:
    environment = _environment(_migration(), authority.certificate, tmp_path / "own")
    assert _migrate(served, environment, "sslmode=verify-full") == ""
    assert _migrate(served, environment, "sslmode=verify-full&sslrootcert=system") == "", "as with a public authority"
    assert "does not match host name" in _migrate(served, environment, "sslmode=verify-full", host="127.0.0.1")
    wrong = _environment(_migration(), other.certificate, tmp_path / "other")
    assert "certificate verify failed" in _migrate(served, wrong, "sslmode=verify-full")
    assert "root certificate file" in _migrate(served, {}, "sslmode=verify-full"), "nothing says whom to trust"


_CALLS = """
import asyncio, sys
import boto3, requests
from botocore.config import Config
from shoal.services.answers import bounded_client

async def ask(url):
    async with bounded_client(1000) as client:
        return (await client.get(url)).status_code

url = sys.argv[1]
assert asyncio.run(ask(url)) == 200
assert requests.get(url).status_code == 200
s3 = boto3.client("s3", endpoint_url=url, region_name="x", aws_access_key_id="a", aws_secret_access_key="b",
                  config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}))
s3.head_bucket(Bucket="bucket")
"""


def test_models_collectors_and_object_stores_are_trusted_by_the_same_bundle(
    authority: Authority, other: Authority, tmp_path: Path
) -> None:
    environment = _environment(_migration(), authority.certificate, tmp_path / "own")
    wrong = _environment(_migration(), other.certificate, tmp_path / "other")
    with answering_over_tls(authority) as port:
        command = [sys.executable, "-c", _CALLS, f"https://localhost:{port}"]
        ended = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, timeout=60, check=False)
        assert ended.returncode == 0, ended.stderr.decode()
        ended = subprocess.run(command, env={**os.environ, **wrong}, capture_output=True, timeout=60, check=False)
        assert b"CERTIFICATE_VERIFY_FAILED" in ended.stderr


def test_the_machine_s_own_roots_stay_trusted(authority: Authority, tmp_path: Path) -> None:
    """A private authority of the database does not take the public ones away from the object store."""
    environment = _environment(_migration(), authority.certificate, tmp_path)
    whole = Path(environment["AWS_CA_BUNDLE"]).read_text()
    assert whole.count("BEGIN CERTIFICATE") == _SYSTEM.read_text().count("BEGIN CERTIFICATE") + 1
    assert Path(environment["PGSSLROOTCERT"]).read_text() == authority.certificate.read_text(), "the database's alone"
