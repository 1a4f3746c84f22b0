"""Servers of S3 (moto) and of Azure Blob Storage (Azurite), processes of their own on ports that the system chooses."""

from __future__ import annotations

import base64
import hmac
import re
import subprocess
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import httpx
import pytest

from tests.s3_server import S3Server


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(scope="session")
def shared_s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = S3Server(tmp_path_factory.mktemp("s3") / "log")
    yield server
    server.kill()


@pytest.fixture
def own_s3(credentials: None, tmp_path: Path) -> Iterator[S3Server]:
    """A server that the test may kill."""
    server = S3Server(tmp_path / "s3.log")
    yield server
    server.kill()


_AZURITE = Path(__file__).resolve().parents[3] / ".venv-deploy" / "azurite" / "node_modules" / ".bin" / "azurite-blob"
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Azurite's own account and its key, which its documentation publishes."""


class AzureServer:
    """A running Azurite: Microsoft's emulator of Azure Blob Storage."""

    def __init__(self, log: Path) -> None:
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [_AZURITE, "--inMemoryPersistence", "--disableTelemetry", "--blobHost", "127.0.0.1", "--blobPort", "0"],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        limit = time.monotonic() + 60
        while not (found := re.search(r"successfully listens on (http://127\.0\.0\.1:\d+)", log.read_text())):
            assert self._process.poll() is None and time.monotonic() < limit, log.read_text()
            time.sleep(0.02)
        self.url = f"{found[1]}/{_ACCOUNT}"
        self.environment = {
            "AZURE_STORAGE_ACCOUNT_NAME": _ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": _KEY,
            "AZURE_STORAGE_ENDPOINT": self.url,
        }

    def container(self, name: str) -> None:
        """Makes a container by one signed request (Shared Key authorization)."""
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2023-11-03"}
        lines = [f"{header}:{value}" for header, value in headers.items()]
        signed = "\n".join(["PUT", *[""] * 11, *lines, f"/{_ACCOUNT}/{_ACCOUNT}/{name}", "restype:container"])
        mac = base64.b64encode(hmac.digest(base64.b64decode(_KEY), signed.encode(), "sha256")).decode()
        headers |= {"Authorization": f"SharedKey {_ACCOUNT}:{mac}"}
        httpx.put(f"{self.url}/{name}?restype=container", headers=headers).raise_for_status()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(timeout=60)


@pytest.fixture(scope="session")
def azure_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AzureServer]:
    if not _AZURITE.exists():
        pytest.skip("Azurite is not installed: scripts/setup-deploy does that")
    server = AzureServer(tmp_path_factory.mktemp("azure") / "log")
    yield server
    server.kill()
