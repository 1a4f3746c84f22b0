"""The doctor's findings on a machine that lacks something: the fault, and the remedy."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shoal.agent.chromium.process import starter as starting
from shoal.services import doctor
from shoal.services.doctor import Finding
from shoal.services.settings import Settings, load_settings
from shoal.services.store.store import open_store


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


def settings(data_dir: Path, **more: object) -> Settings:
    return load_settings(data_dir=data_dir, **more)


def is_ill(finding: Finding, words: str, remedy: str) -> None:
    """The finding says what is wrong and what helps."""
    assert not finding.ok, finding
    assert words in finding.detail
    assert remedy in finding.remedy


def is_well(finding: Finding, words: str = "") -> None:
    assert finding.ok and not finding.remedy, finding
    assert words in finding.detail


def test_this_python_and_its_packages_are_as_locked() -> None:
    is_well(doctor.python_version())
    is_well(doctor.packages(), "as locked")
    is_well(doctor.packages(Path("/no/lock")), "as declared")
    is_well(doctor.time_zones())


def test_packages_that_are_missing_or_other_are_named(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text(
        "# a comment\npydantic==0.1\n    # via shoal\nnobody-wrote-this==1.0\n"
        "colorama-for-others==1 ; sys_platform == 'win32'\n"
    )
    finding = doctor.packages(lock)
    is_ill(finding, "nobody-wrote-this is missing", "make setup")
    assert "pydantic is 2." in finding.detail and "not ==0.1" in finding.detail
    assert "colorama" not in finding.detail


async def test_a_named_chromium_that_is_none(data_dir: Path, tmp_path: Path) -> None:
    missing = tmp_path / "no-such-browser"
    is_ill(await doctor.chromium(settings(data_dir, chromium=missing)), "no-such-browser", "SHOAL_CHROMIUM")


def test_a_data_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    is_ill(doctor.data_folder(settings(tmp_path / "file" / "data")), "Not a directory", "SHOAL_DATA_DIR")


def test_a_data_folder_is_made(data_dir: Path) -> None:
    is_well(doctor.data_folder(settings(data_dir)), str(data_dir))
    assert list(data_dir.iterdir()) == []


async def test_a_store_that_is_not_there_yet_is_not_made_by_looking(data_dir: Path) -> None:
    is_well(await doctor.store(settings(data_dir)), "will be made")
    assert not data_dir.exists()


async def test_a_store_without_tables_must_be_migrated(data_dir: Path) -> None:
    data_dir.mkdir()
    sqlite3.connect(data_dir / "shoal.db").close()
    (data_dir / "shoal.db").touch()
    is_ill(await doctor.store(settings(data_dir)), "schema", "shoal migrate")
    await (await open_store(f"sqlite:///{data_dir}/shoal.db")).close()
    is_well(await doctor.store(settings(data_dir)), "SQLite")


async def test_a_database_server_that_does_not_answer(data_dir: Path) -> None:
    url = "postgresql://shoal:hunter2@127.0.0.1:1/shoal"
    finding = await doctor.store(settings(data_dir, store_url=url))
    is_ill(finding, "does not answer", "SHOAL_STORE_URL")
    assert "hunter2" not in finding.detail


async def test_artifacts_that_cannot_be_written(data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    is_well(await doctor.artifacts(settings(data_dir)), "can be written")
    broken = settings(data_dir, artifacts_url=str(tmp_path / "file" / "artifacts"))
    is_ill(await doctor.artifacts(broken), "Not a directory", "SHOAL_ARTIFACTS_URL")


def test_a_port_that_somebody_else_uses(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        is_ill(doctor.gateway_port(settings(data_dir, port=port)), "in use", "SHOAL_PORT")
    is_well(doctor.gateway_port(settings(data_dir, port=port)), "is free")


def test_too_little_shared_memory(data_dir: Path) -> None:
    is_well(doctor.shared_memory(settings(data_dir)))
    is_ill(doctor.shared_memory(settings(data_dir, ray_object_store_mib=10**9)), "are needed", "--shm-size")


@pytest.fixture
async def model_url() -> AsyncIterator[str]:
    """A server that lists one model to those who have the key."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        body = json.dumps({"data": [{"id": "small"}]}).encode()
        status = b"200 OK" if b"authorization: bearer sesame" in head else b"401 Unauthorized"
        writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def test_model_servers(data_dir: Path, model_url: str) -> None:
    is_well(await doctor.model(settings(data_dir)), "none is set")
    is_well(await doctor.model(settings(data_dir, model_url=model_url, model_api_key="sesame")), "small")
    other = settings(data_dir, model_url=model_url, model_api_key="sesame", model="large")
    is_ill(await doctor.model(other), "no model 'large'; it has small", "SHOAL_MODEL")
    is_ill(await doctor.model(settings(data_dir, model_url=model_url)), "401", "SHOAL_MODEL_API_KEY")
    both = settings(data_dir, model_url=f"{model_url},http://127.0.0.1:1/v1", model_api_key="sesame")
    is_ill(await doctor.model(both), "http://127.0.0.1:1/v1", "start the model server")


@pytest.mark.parametrize(("version", "told"), [(0, "missing: this kernel has no Landlock"), (3, "Landlock 3")])
def test_the_file_wall_is_told_of(version: int, told: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.fence, "version", lambda: version)
    found = doctor.file_wall(settings(data_dir, sandbox="off"))
    assert found.ok and found.detail.startswith(told)


def test_a_file_wall_that_the_sandbox_leaves_no_room_for_is_told(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "namespaces_work", lambda: False)
    found = doctor.file_wall(settings(data_dir, sandbox="on"))
    assert found.ok and "missing: Chromium's sandbox needs a set-uid program" in found.detail
