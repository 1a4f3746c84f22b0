"""The images and the compose file, as far as they can be judged without an engine that builds and runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from shoal.agent.support.json_value import Json
from shoal.services.settings import Settings
from tests.deploy.helm import ROOT

DOCKER = ROOT / "deploy" / "docker"
COMPOSE = ROOT / "deploy" / "compose"
FILES = sorted(DOCKER.glob("*.Dockerfile"))

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@each_file
def test_hadolint_finds_nothing(path: Path) -> None:
    program = ROOT / ".venv-deploy" / "bin" / "hadolint"
    if not program.exists():
        pytest.skip("hadolint is not there: scripts/setup-deploy installs it")
    ended = subprocess.run([program, path], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout


@each_file
def test_images_are_slim_and_run_as_nobody_in_particular(path: Path) -> None:
    stages = re.split(r"^FROM ", path.read_text(), flags=re.M)[1:]
    assert len(stages) == 2, "what builds must not be in the image"
    last = stages[-1]
    assert re.search(r"^USER 10001:10001$", last, re.M)
    assert 'ENTRYPOINT ["/usr/bin/tini", "--", "shoal"]' in last
    assert "--require-hashes" in stages[0]
    assert "pip install" not in last


@each_file
def test_images_have_the_system_s_roots(path: Path) -> None:
    last = re.split(r"^FROM ", path.read_text(), flags=re.M)[-1]
    (installed,) = re.findall(r"apt-get install --yes (?:.*\\\n)*.*", last)
    assert "ca-certificates" in installed.split()
    assert "\nENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt\n" in last


def test_the_browser_is_pinned_and_pages_have_their_fonts() -> None:
    text = (DOCKER / "worker.Dockerfile").read_text()
    assert re.search(r"ARG CHROMIUM_VERSION=\d+\.\d+\.\d+\.\d+-\d~deb12u\d", text)
    assert '"chromium-headless-shell=${CHROMIUM_VERSION}"' in text
    assert {"fonts-noto-cjk", "fonts-noto-color-emoji", "tini", "wget"} <= set(text.split())


_SOURCES = """\
Types: deb
# http://past.example/archive/debian/20250520T000000Z
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
# a remark

Types: deb
# http://past.example/archive/debian-security/20250520T000000Z
URIs: http://mirror.example/debian-security
Suites: bookworm-security
"""
"""Debian's sources as its images bring them."""


@each_file
def test_debian_s_packages_are_those_of_one_moment(path: Path, tmp_path: Path) -> None:
    """The Dockerfile's own commands, on such a file of sources."""
    last = re.split(r"^FROM ", path.read_text(), flags=re.M)[-1]
    (command,) = re.findall(r"^RUN (if (?:.*\\\n)*.*fi)$", last, re.M)
    sources = tmp_path / "debian.sources"
    command = command.replace("\\\n", "").replace("/etc/apt/sources.list.d/debian.sources", str(sources))
    (moment,) = re.findall(r"^ARG DEBIAN_SNAPSHOT=(20\d{6}T\d{6}Z)$", last, re.M)

    def run(text: str, chosen: str) -> int:
        sources.write_text(text)
        environment = {**os.environ, "DEBIAN_SNAPSHOT": chosen}
        return subprocess.run(["/bin/sh", "-c", command], env=environment, timeout=10, check=False).returncode

    assert run(_SOURCES, moment) == 0
    assert re.findall("^URIs: (.*)$", sources.read_text(), re.M) == [
        f"http://past.example/archive/{name}/{moment}" for name in ("debian", "debian-security")
    ]
    assert "mirror.example" not in sources.read_text() and "# a remark" in sources.read_text()
    assert run(_SOURCES, "") == 0
    assert sources.read_text() == _SOURCES, "with no moment they stay as they are"
    assert run(_SOURCES.replace("# http", "# see http"), moment) != 0, "of a base that names no past nothing is built"


def test_a_base_is_pinned_by_its_digest(tmp_path: Path) -> None:
    digest, other = f"sha256:{'ab' * 32}", f"sha256:{'cd' * 32}"
    for path in FILES:
        (tmp_path / path.name).write_text(path.read_text())

    def pin(*args: str) -> int:
        command = [sys.executable, DOCKER / "pin.py", *args, tmp_path]
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode

    for chosen, moment in ((digest, "20261201T000000Z"), (other, "20270101T120000Z")):
        assert pin(chosen, moment) == 0
        for path in FILES:
            bases = re.findall(r"^ARG PYTHON_IMAGE=(.*)$", (tmp_path / path.name).read_text(), re.M)
            assert bases == [f"python:3.12-slim-bookworm@{chosen}"]
            assert f"ARG DEBIAN_SNAPSHOT={moment}\n" in (tmp_path / path.name).read_text()
    assert pin("latest", "20261201T000000Z") != 0
    assert pin(digest, "yesterday") != 0


def test_both_images_hold_the_same_packages() -> None:
    """A Ray client must be of the cluster's Ray; a gateway of the workers' Shoal."""
    first, second = (re.split(r"^FROM ", path.read_text(), flags=re.M)[1] for path in FILES)
    assert first == second
    pins = [re.findall(r"^ARG (?:PYTHON_IMAGE|DEBIAN_SNAPSHOT)=.*$", path.read_text(), re.M) for path in FILES]
    assert pins[0] == pins[1] and len(pins[0]) == 2


def test_the_images_lock_has_the_versions_that_were_tested() -> None:
    tested = dict(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s;]+)", _lock(ROOT), re.M))
    shipped = dict(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s;]+)", _lock(DOCKER), re.M))
    assert {"ray", "fastapi", "playwright", "opencensus", "opentelemetry-sdk"} <= shipped.keys()
    different = {name for name in shipped.keys() & tested.keys() if shipped[name] != tested[name]}
    assert not different, "run scripts/lock"


def test_shoal_is_built_by_the_same_version_everywhere() -> None:
    (wanted,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert re.fullmatch(r"setuptools==[0-9.]+", wanted)
    assert all(f'"{wanted}"' in path.read_text() for path in FILES)


def _lock(folder: Path) -> str:
    return (folder / "requirements.lock").read_text()


# --- compose -------------------------------------------------------------------------------------------


def _compose() -> Json:
    """The compose file with example values for what `.env` brings."""
    known = {name: "x" for name in re.findall(r"^([A-Z_0-9]+)=", (COMPOSE / "example.env").read_text(), re.M)}

    def value(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        assert name in known, f"example.env does not have {name}"
        return default[2:] if (default or "").startswith(":-") else known[name]

    return yaml.safe_load(re.sub(r"\$\{([A-Z_0-9]+)(:[-?][^}]*)?\}", value, (COMPOSE / "compose.yaml").read_text()))


def test_the_compose_file_is_one() -> None:
    folder = ROOT / ".venv-deploy" / "compose_spec"
    if not folder.is_dir():
        pytest.skip("compose-spec is not there: scripts/setup-deploy installs it")
    sys.path.append(str(folder.parent))
    try:
        from compose_spec import PyCompose
    finally:
        sys.path.remove(str(folder.parent))
    read = PyCompose.from_json(json.dumps(_compose()))
    read.validate()
    assert set(read.service_names()) == set(_compose()["services"])


def test_compose_services_know_their_settings_and_each_other() -> None:
    compose = _compose()
    known = {f"SHOAL_{name.upper()}" for name in Settings.model_fields}
    for name, service in compose["services"].items():
        environment = service.get("environment", {})
        assert {key for key in environment if key.startswith("SHOAL_")} <= known, name
        assert set(service.get("depends_on", ())) <= set(compose["services"]), name
        assert set(service.get("networks", ())) <= set(compose["networks"]), name
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in compose["volumes"] or (COMPOSE / source).exists(), f"{name} mounts {source}"
        assert ":" in service["image"].rpartition("/")[2] and not service["image"].endswith(":latest"), name
        assert "depends_on" in service or "healthcheck" in service or name in ("prometheus",), name
    settings = compose["services"]["gateway"]["environment"]
    Settings(
        **{
            key.removeprefix("SHOAL_").lower(): value
            for key, value in settings.items()
            if key.startswith("SHOAL_") and value and key != "SHOAL_COOKIE_SECRET"
        }
    )


def test_what_compose_publishes_can_be_reached() -> None:
    """Of a container that is only on internal networks, Docker publishes no port and says nothing."""
    compose = _compose()
    internal = {name for name, network in compose["networks"].items() if (network or {}).get("internal")}
    shut = [
        name
        for name, service in compose["services"].items()
        if service.get("ports") and set(service["networks"]) <= internal
    ]
    assert shut == []


def test_compose_writes_into_no_root_file_system_that_is_read_only() -> None:
    """Compose copies what is no file on the host into the container as it is made; it refuses read-only ones."""
    compose = _compose()
    copied = {
        (kind, name)
        for kind in ("secrets", "configs")
        for name, source in compose.get(kind, {}).items()
        if "file" not in source
    }
    assert copied
    for name, service in compose["services"].items():
        for kind in ("secrets", "configs"):
            used = {(kind, one if isinstance(one, str) else one["source"]) for one in service.get(kind, ())}
            assert not (used & copied and service.get("read_only")), name


def test_what_a_browser_runs_beside_is_locked_down() -> None:
    services = _compose()["services"]
    for name in ("gateway", "ray", "supervisor", "migrate"):
        service = services[name]
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
    profile = next(one for one in services["ray"]["security_opt"] if one.startswith("seccomp="))
    assert json.loads((COMPOSE / profile.removeprefix("seccomp=")).read_text())["defaultAction"] == "SCMP_ACT_ERRNO"
    published = [port for service in services.values() for port in service.get("ports", ())]
    assert all(port.startswith(("127.0.0.1:", "127.0.0.1")) for port in published), published


def test_prometheus_scrapes_what_there_is() -> None:
    scraped = yaml.safe_load((COMPOSE / "prometheus.yaml").read_text())["scrape_configs"]
    targets = [target for one in scraped for static in one["static_configs"] for target in static["targets"]]
    names = {target.partition(":")[0] for target in targets}
    assert names <= set(_compose()["services"])


# --- Chromium's seccomp profile ------------------------------------------------------------------------


def test_the_seccomp_profile_allows_a_sandbox_and_no_more_doors() -> None:
    profile = json.loads((ROOT / "charts" / "shoal" / "files" / "chromium-seccomp.json").read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
    assert {"clone", "unshare", "chroot", "seccomp", "prctl"} <= allowed
    forbidden = "mount umount2 pivot_root bpf perf_event_open keyctl add_key init_module kexec_load reboot swapon"
    assert not allowed & {*forbidden.split(), "io_uring_setup", "userfaultfd", "open_by_handle_at", "ptrace_attach"}
    assert [rule["errnoRet"] for rule in profile["syscalls"] if rule["names"] == ["clone3"]] == [38], "glibc falls back"
