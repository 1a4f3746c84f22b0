"""Checks of this machine and these settings: anything that Shoal lacks to work, and the way to get it."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import socket
import sys
import tempfile
import zoneinfo
from collections.abc import Awaitable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from packaging.requirements import InvalidRequirement, Requirement

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.process import fence
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.chromium.process.launch import LaunchOptions, launch
from shoal.agent.chromium.process.sandbox import sandbox_works
from shoal.agent.chromium.process.starter import Starter, starter
from shoal.agent.errors import BrowserError
from shoal.agent.redaction.spellings import is_weak
from shoal.services.answers import bounded_client
from shoal.services.artifacts.open import open_artifacts
from shoal.services.cluster.address import running_cluster
from shoal.services.errors import ArtifactStoreAway, StoreAway, StoreOutdated
from shoal.services.private import make_folder
from shoal.services.secrets.folder import BINDING, WEAK, Unbound, binding_of
from shoal.services.settings import Settings
from shoal.services.store.store import open_store

_OLDEST_PYTHON = (3, 11)
_MIB = 1024 * 1024
_LEAST_FREE_MIB = 1024
_LEAST_SHM_MIB = 64  # beside Ray's share; Chromium draws there
_TIMEOUT_S = 10.0
_MODELS_BYTES = 4 << 20
_INSTALL = "run `make setup`"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str  # what was found
    remedy: str = ""  # what to do; empty when `ok`


async def examine(settings: Settings) -> list[Finding]:
    """Everything that was looked at, in a fixed order. Starts a browser once; leaves nothing behind."""
    checks: list[Awaitable[Finding]] = [
        asyncio.to_thread(python_version),
        asyncio.to_thread(packages),
        asyncio.to_thread(time_zones),
        chromium(settings),
        asyncio.to_thread(sandbox, settings),
        asyncio.to_thread(file_wall, settings),
        asyncio.to_thread(shared_memory, settings),
        ray(settings),
        asyncio.to_thread(data_folder, settings),
        asyncio.to_thread(secrets, settings),
        store(settings),
        artifacts(settings),
        model(settings),
        asyncio.to_thread(gateway_port, settings),
    ]
    return list(await asyncio.gather(*checks))


# --- the program --------------------------------------------------------------------------------------


def python_version() -> Finding:
    """Python itself."""
    ok = sys.version_info >= _OLDEST_PYTHON
    return Finding(
        "python", ok, sys.version.split()[0], "" if ok else "install Python 3.11 or newer, then `make setup`"
    )


def packages(lock: Path = Path(__file__).resolve().parent.parent / "requirements.lock") -> Finding:
    """Installed packages against the lock of this checkout, or against what Shoal declares where there is no lock."""
    requirements = lock.read_text().splitlines() if lock.exists() else metadata.requires("shoal") or []
    count, faults = 0, []
    for line in requirements:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        count += 1
        fault = _fault_of(text)
        if fault:
            faults.append(fault)
    if faults:
        more = f", and {len(faults) - 5} more" if len(faults) > 5 else ""
        return Finding("packages", False, "; ".join(faults[:5]) + more, _INSTALL)
    return Finding("packages", True, f"{count} packages as {'locked' if lock.exists() else 'declared'}")


def _fault_of(text: str) -> str:
    """Return what is wrong with one required package; "" when nothing is, or when this system does not need it."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        return f"{text!r} is not a requirement: {error}"
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return ""
    try:
        installed = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"{requirement.name} is missing"
    if requirement.specifier.contains(installed, prereleases=True):
        return ""
    return f"{requirement.name} is {installed}, not {requirement.specifier}"


def time_zones() -> Finding:
    """The time zone data base, which jobs need for `browser.timezone`."""
    try:
        zoneinfo.ZoneInfo("Europe/Berlin")
    except zoneinfo.ZoneInfoNotFoundError:
        return Finding("time zones", False, "no time zone data base", "install `tzdata` (Debian, or by pip)")
    return Finding("time zones", True, "data base found")


# --- the browser --------------------------------------------------------------------------------------


async def chromium(settings: Settings) -> Finding:
    """A Chromium that starts and opens a page."""
    named = str(settings.chromium) if settings.chromium else None
    try:
        path = await asyncio.to_thread(find_chromium, named)
        # With the sandbox as `auto` would have it: whether it must be on is the next question, not this one.
        browser = await launch(LaunchOptions(executable=str(path)))
        try:
            context = await browser.new_context(ContextOptions(schemes=("data",)))
            await context.goto("data:text/html,<title>it starts</title>")
            await context.close()
        finally:
            await browser.close()
    except BrowserError as error:
        return Finding("chromium", False, error.message, f"{_INSTALL}, or name one with SHOAL_CHROMIUM")
    return Finding("chromium", True, str(path))


def file_wall(settings: Settings) -> Finding:
    """Check that a worker's Chromium is kept from the files of this machine, as a worker would start it here."""
    try:
        path = find_chromium(str(settings.chromium) if settings.chromium else None)
    except BrowserError:
        return Finding("file wall", True, "not looked at: there is no Chromium")
    on = settings.sandbox == "on" or (settings.sandbox == "auto" and sandbox_works(path))
    with tempfile.TemporaryDirectory(prefix="shoal-browser-") as folder:
        wall = starter(path, Path(folder), sandbox=on)
    if isinstance(wall, Starter):
        return Finding("file wall", True, f"Landlock {fence.version()}")
    return Finding("file wall", True, f"missing: {wall.why}; addresses of files are refused all the same")


def sandbox(settings: Settings) -> Finding:
    """Chromium's sandbox: that it is on where the settings want it."""
    try:
        works = sandbox_works(find_chromium(str(settings.chromium) if settings.chromium else None))
    except BrowserError:
        return Finding("sandbox", True, "not looked at: there is no Chromium")
    why_not = "this process is root" if os.geteuid() == 0 else "the system gives this user no namespaces of his own"
    if settings.sandbox == "off":
        return Finding("sandbox", True, "off, as set" + (", though it would work" if works else ""))
    if works:
        return Finding("sandbox", True, "on")
    remedy = (
        "run Shoal as a user other than root"
        if os.geteuid() == 0
        else "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile)"
    )
    if settings.sandbox == "on":
        return Finding("sandbox", False, f"impossible: {why_not}", f"{remedy}, or set SHOAL_SANDBOX=auto")
    return Finding("sandbox", True, f"off: {why_not}; to have it, {remedy}")


def shared_memory(settings: Settings) -> Finding:
    """/dev/shm, where Ray keeps objects and Chromium draws."""
    try:
        free_mib = shutil.disk_usage("/dev/shm").free // _MIB
    except OSError:
        return Finding("shared memory", True, "this system has no /dev/shm")
    wanted_mib = _LEAST_SHM_MIB + (0 if settings.ray_address else settings.ray_object_store_mib)
    if free_mib >= wanted_mib:
        return Finding("shared memory", True, f"{free_mib} MiB free in /dev/shm")
    return Finding(
        "shared memory",
        False,
        f"{free_mib} MiB free in /dev/shm, {wanted_mib} MiB are needed",
        "give the container more (docker --shm-size=512m; Kubernetes: an emptyDir with medium Memory at /dev/shm)",
    )


# --- the cluster --------------------------------------------------------------------------------------


async def ray(settings: Settings) -> Finding:
    """Ray, as a package that loads, and the cluster that the settings name."""
    probe = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import ray; print(ray.__version__)",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await probe.communicate()
    if probe.returncode != 0:
        last = err.decode(errors="replace").strip().rpartition("\n")[2]
        return Finding("ray", False, f"does not load: {last}", _INSTALL)
    version = out.decode().strip()
    if not settings.ray_address:
        return Finding("ray", True, f"{version}, started in this process when needed")
    parts = urlsplit(settings.ray_address if "//" in settings.ray_address else f"//{settings.ray_address}")
    if parts.hostname is None:  # "auto" and the like: Ray finds it
        return Finding("ray", True, f"{version}, cluster {settings.ray_address}")
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 6379)
        writer.close()
        await writer.wait_closed()
    except (OSError, TimeoutError) as error:
        detail = f"{settings.ray_address} does not answer: {error or 'no answer in time'}"
        return Finding("ray", False, detail, "start the Ray cluster, or correct SHOAL_RAY_ADDRESS")
    return Finding("ray", True, f"{version}, cluster {settings.ray_address} answers")


def data_folder(settings: Settings) -> Finding:
    """The data folder: that it can be written, and has room."""
    folder = settings.data_dir
    try:
        make_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"shoal")
    except OSError as error:
        detail = f"{folder} cannot be written: {error.strerror}"
        return Finding("data folder", False, detail, "give this user the folder, or name another with SHOAL_DATA_DIR")
    free_mib = shutil.disk_usage(folder).free // _MIB
    if free_mib < _LEAST_FREE_MIB:
        detail = f"{folder} has {free_mib} MiB free, {_LEAST_FREE_MIB} MiB are needed"
        return Finding("data folder", False, detail, "make room, or name another folder with SHOAL_DATA_DIR")
    return Finding("data folder", True, f"{folder}, {free_mib / 1024:.0f} GiB free")


def secrets(settings: Settings) -> Finding:
    """The secrets that jobs may name: that each is bound to the sites where it may be filled in."""
    folder = settings.secrets_dir
    try:
        stored = [path for path in sorted(folder.glob("[!.]*/[!.]*")) if path.is_file() and path.suffix != BINDING]
    except OSError as error:
        detail = f"{folder} cannot be read: {error.strerror}"
        return Finding("secrets", False, detail, "let this user read it, or name another with SHOAL_SECRETS_DIR")
    wrong, weak = [], []
    for path in stored:
        try:
            binding_of(path)
            if is_weak(path.read_text(encoding="utf-8", errors="replace")):
                weak.append(f"{path.parent.name}/{path.name}")
        except Unbound as error:
            wrong.append(f"{path.parent.name}/{path.name}: {error}")
    if wrong:
        remedy = f"write the host names where each may be filled in, one a line, into {folder}/TENANT/NAME{BINDING}"
        return Finding("secrets", False, "; ".join(wrong), remedy)
    weak_note = f"; weak, for {WEAK}: {', '.join(weak)}" if weak else ""
    return Finding("secrets", True, f"{len(stored)} in {folder}, each bound to its sites{weak_note}")


async def store(settings: Settings) -> Finding:
    """The database: that it answers and has this program's schema."""
    url = urlsplit(settings.store_url)
    kind = "SQLite" if url.scheme.startswith("sqlite") else f"PostgreSQL at {url.hostname or 'the local socket'}"
    path = settings.store_url.partition(":///")[2]
    if kind == "SQLite" and not await asyncio.to_thread(Path(path).exists):
        return Finding("store", True, f"{path} will be made at the first start")
    try:
        opened = await open_store(settings.store_url, migrate=False)
    except StoreOutdated as error:
        return Finding("store", False, error.message, "run `shoal migrate`")
    except StoreAway as error:
        return Finding("store", False, error.message, "start the database, or correct SHOAL_STORE_URL")
    await opened.close()
    return Finding("store", True, f"{kind} answers, its schema is current")


async def artifacts(settings: Settings) -> Finding:
    """The artifact store: that it can be written and read."""
    place = open_artifacts(settings.artifacts_url, settings.artifact_options())
    try:
        await place.check()
    except ArtifactStoreAway as error:
        return Finding("artifacts", False, error.message, "correct that, or SHOAL_ARTIFACTS_URL and SHOAL_S3_…")
    finally:
        await place.close()
    return Finding("artifacts", True, f"{settings.artifacts_url} can be written")


async def model(settings: Settings) -> Finding:
    """The model servers: that they answer and have the model."""
    if not settings.model_url:
        return Finding("model", True, "none is set: the rules policy decides")
    key = settings.model_api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    names: list[str] = []
    async with bounded_client(_MODELS_BYTES, timeout_s=_TIMEOUT_S, headers=headers) as client:
        for url in settings.model_url.split(","):
            try:
                async with asyncio.timeout(_TIMEOUT_S):
                    answer = await client.get(f"{url.strip()}/models")
                answer.raise_for_status()
                names = [str(row["id"]) for row in answer.json()["data"]]
            except (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError) as error:
                remedy = "start the model server, or correct SHOAL_MODEL_URL (with its /v1) and SHOAL_MODEL_API_KEY"
                return Finding("model", False, f"{url.strip()}: {error or type(error).__name__}", remedy)
            if settings.model and settings.model not in names:
                detail = f"{url.strip()} has no model {settings.model!r}; it has {', '.join(names) or 'none'}"
                return Finding("model", False, detail, "correct SHOAL_MODEL")
    return Finding("model", True, f"{settings.model_url} has {settings.model or ', '.join(names)}")


def gateway_port(settings: Settings) -> Finding:
    """The gateway's port: that it is free, or held by this very cluster."""
    place = f"{settings.host}:{settings.port}"
    try:
        with socket.create_server((settings.host, settings.port), family=_family(settings.host)):
            return Finding("gateway port", True, f"{place} is free")
    except OSError as error:
        running = running_cluster(settings.data_dir)
        if error.errno == errno.EADDRINUSE and running is not None and urlsplit(running).port == settings.port:
            return Finding("gateway port", True, f"the cluster of this data folder runs at {running}")
        return Finding(
            "gateway port", False, f"{place}: {error.strerror}", "end what uses it, or set SHOAL_PORT and SHOAL_HOST"
        )


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
