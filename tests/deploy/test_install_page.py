"""docs/operations/install.md to the letter: its commands make whatever the production profile's pods ask for."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml

from scripts import kuberay
from shoal.agent.support.json_value import Json
from tests.deploy import helm
from tests.deploy.objects import keys_of, of_kind, pods, references
from tests.postgres import own_server

_PAGE = helm.ROOT / "docs" / "operations" / "install.md"
_KUSTOMIZE = helm.ROOT / "deploy" / "kuberay" / "kustomization.yaml"


def _made_by_commands(text: str) -> set[tuple[str, str]]:
    """Secrets and their keys that the text's commands make."""
    found = set()
    for command in re.findall(r"kubectl -n shoal create secret ((?:.*\\\n)*.*)", text):
        kind, name, *options = shlex.split(re.sub(r"\$\([^)]*\)", "x", command.replace("\\\n", " ")))
        keys = {"tls.crt", "tls.key"} if kind == "tls" else {_key(option) for option in options if _key(option)}
        found |= {(name, key) for key in keys}
    return found


def _key(option: str) -> str:
    literal = re.match(r"--from-literal=([^=]+)=", option)
    return literal[1] if literal else ""


def _outside_references(objects: list[Json]) -> Iterator[tuple[str, str | None]]:
    """Secrets and keys that pods, Ray and the Ingress take, and that are not among the objects; key None: all of it."""
    made = {(obj["metadata"]["name"], key) for obj in of_kind(objects, "Secret") for key in keys_of(obj)}
    asked = {(name, key) for pod in pods(objects) for kind, name, key in references(pod) if kind == "Secret"}
    (cluster,) = of_kind(objects, "RayCluster")
    if (options := cluster["spec"].get("gcsFaultToleranceOptions")) is not None:
        reference = options["redisPassword"]["valueFrom"]["secretKeyRef"]
        asked.add((reference["name"], reference["key"]))
    for ingress in of_kind(objects, "Ingress"):
        asked |= {(entry["secretName"], key) for entry in ingress["spec"]["tls"] for key in ("tls.crt", "tls.key")}
    by_kuberay = cluster["metadata"]["name"], "auth_token"
    return (one for one in asked if one not in made and one != by_kuberay)


def test_the_page_makes_every_secret_of_the_production_profile() -> None:
    made = _made_by_commands(_PAGE.read_text())
    assert set(_outside_references(helm.render({}, "production"))) == made


def test_the_comments_of_the_manifests_make_every_secret_of_theirs() -> None:
    text = re.sub(r"^# {0,3}", "", _KUSTOMIZE.read_text(), flags=re.M)
    made = _made_by_commands(text)
    assert set(_outside_references(kuberay.manifests())) <= made | {(name, None) for name, _ in made}


def test_the_page_s_roles_are_enough_for_the_programs() -> None:
    sql = re.findall(r"^   ```sql\n(.*?)^   ```", _PAGE.read_text(), re.M | re.S)[0]
    before, after = re.sub("^   ", "", sql, flags=re.M).split("\\connect shoal\n")
    profile = yaml.safe_load((helm.CHART / "values-production.yaml").read_text())
    users = re.findall(r"create secret generic (\S+) --from-literal=url='postgresql://(\w+):", _PAGE.read_text())
    role = dict(users)
    with own_server() as server:
        for text, database in ((before, "postgres"), (after, "shoal")):
            with psycopg.connect(server.url.replace("/postgres?", f"/{database}?"), autocommit=True) as connection:
                for statement in filter(str.strip, text.split(";")):
                    connection.execute(statement.encode())
        url = server.url.replace("/postgres?", "/shoal?")
        owner = url.replace("postgres:@", f"{role[profile['migration']['existingSecret']]}@")
        user = url.replace("postgres:@", f"{role[profile['database']['existingSecret']]}@")
        assert owner != user != url
        with pytest.raises(subprocess.CalledProcessError):
            _shoal(user, "migrate")
        _shoal(owner, "migrate")
        _shoal(user, "keys", "create", "admin", "--scope", "admin")
        assert "admin" in _shoal(user, "keys", "list")


def _shoal(url: str, *words: str) -> str:
    program = Path(sys.executable).with_name("shoal")
    ended = subprocess.run(
        [program, *words], env={"SHOAL_STORE_URL": url}, capture_output=True, text=True, timeout=120, check=True
    )
    return ended.stdout
