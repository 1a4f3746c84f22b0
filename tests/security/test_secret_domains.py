"""Who stores a secret says on which sites it may be filled in. A job that names others does not get it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pyotp
import pytest

from shoal.agent.errors import SecretRefused
from shoal.agent.hooks import Hooks
from shoal.agent.sessions.attended.human_help import helping
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.services.addresses import Reach
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.session_parts.real_parts import make_worker
from shoal.services.browsers.session_parts.secrets import FolderSecrets
from shoal.services.browsers.worker import Worker
from shoal.services.doctor import secrets as examined
from shoal.services.secrets.sites import parse_sites
from shoal.services.settings import Settings
from tests.gateway_world import world

VALUE = "hunter2-hunter2"


def stored(folder: Path, binding: str | None = "shop.example\n", *, name: str = "SHOP", value: str = VALUE) -> Path:
    """A folder of secrets with one of the tenant `t`."""
    (folder / "t").mkdir(exist_ok=True)
    (folder / "t" / name).write_text(value + "\n")
    if binding is not None:
        (folder / "t" / f"{name}.domains").write_text(binding)
    return folder


def secrets(folder: Path, *domains: str, tenant: str = "t", name: str = "SHOP", **more: Json) -> FolderSecrets:
    """Return what a job sees that asks for the secret on `domains`."""
    spec = JobSpec(url="https://shop.example/", goal="x", secrets={name: {"domains": list(domains)}}, **more)
    return FolderSecrets(str(folder), tenant, spec)


def refusal(given: FolderSecrets, url: str, name: str = "SHOP") -> str:
    with pytest.raises(SecretRefused) as refused:
        given.resolve(f"secret:{name}", url)
    assert VALUE not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("domains", "url"),
    [
        (("attacker.example",), "https://attacker.example/"),
        (("com",), "https://attacker.com/"),
        (("example",), "https://attacker.example/"),
        (("shop.example",), "https://notshop.example/"),
        (("shop.example",), "https://shop.example.attacker.example/"),
        (("shop.example", "attacker.example"), "https://attacker.example/?shop.example"),
        (("shop.example", "attacker.example"), "https://shop.example@attacker.example/"),
        (("shop.example",), "http://shop.example/"),
        (("shop.example",), "ftp://shop.example/"),
        (("shop.example",), "data:text/html,shop.example"),
        (("shop.example",), "about:blank"),
    ],
)
def test_a_job_that_names_another_site_does_not_get_the_secret(
    tmp_path: Path, domains: tuple[str, ...], url: str
) -> None:
    refusal(secrets(stored(tmp_path), *domains), url)


def test_the_sites_of_a_secret_and_those_of_the_job_both_hold(tmp_path: Path) -> None:
    stored(tmp_path, "shop.example  # and what belongs to it\nother.example:8443\n")
    narrowed = secrets(tmp_path, "login.shop.example")
    assert narrowed.resolve(["a", "secret:SHOP"], "https://login.shop.example/in") == ["a", VALUE]
    assert "may not be used on 'shop.example'" in refusal(narrowed, "https://shop.example/")
    whole = secrets(tmp_path, "shop.example", "other.example")
    assert whole.resolve("secret:SHOP", "https://LOGIN.shop.example.:444/") == VALUE
    assert whole.resolve("secret:SHOP", "https://other.example:8443/") == VALUE
    assert "bound to https://shop.example, https://other.example:8443" in refusal(whole, "https://other.example/")


def test_a_secret_without_a_binding_is_refused_with_what_to_do(tmp_path: Path) -> None:
    for binding in (None, "", "# nothing yet\n"):
        stored(tmp_path, binding)
        assert "one a line, into the file SHOP.domains" in refusal(
            secrets(tmp_path, "shop.example"), "https://shop.example/"
        )
    found = examined(Settings(data_dir=tmp_path, secrets_dir=tmp_path))
    assert not found.ok
    assert "t/SHOP" in found.detail
    assert "NAME.domains" in found.remedy
    stored(tmp_path)
    assert examined(Settings(data_dir=tmp_path, secrets_dir=tmp_path)).ok


@pytest.mark.parametrize(
    ("binding", "why"),
    [
        ("com", "public suffix"),
        ("shop.example\nco.uk", "line 2"),
        ("github.io", "public suffix"),
        ("*.shop.example", "is no host name"),
        ("https://shop.example/login", "must be HOST"),
        ("https://user@shop.example", "must be HOST"),
        ("ftp://shop.example", "must be HOST"),
        ("shop.example:99999", "is no host"),
        ("bücher.example", "xn--"),
        (".", "is no host name"),
    ],
)
def test_a_binding_that_is_wrong_opens_nothing(tmp_path: Path, binding: str, why: str) -> None:
    stored(tmp_path, binding)
    assert why in refusal(secrets(tmp_path, "shop.example", "attacker.com"), "https://shop.example/")


def test_plain_http_only_where_the_keeper_says_so(tmp_path: Path) -> None:
    given = secrets(stored(tmp_path, "http://intranet\nhttp://10.0.0.7:8080\n"), "intranet", "10.0.0.7", "0.0.7")
    assert given.resolve("secret:SHOP", "http://intranet/") == VALUE
    assert given.resolve("secret:SHOP", "https://intranet/") == VALUE
    assert given.resolve("secret:SHOP", "http://10.0.0.7:8080/") == VALUE
    refusal(given, "http://10.0.0.7/")
    refusal(given, "http://attacker.intranet/")  # a name of one word has no sub-domains
    stored(tmp_path, "http://0.0.7\n")
    refusal(given, "http://10.0.0.7/")  # nor has an address


def test_a_binding_is_no_secret_and_a_tenant_is_no_path(tmp_path: Path) -> None:
    stored(tmp_path)
    given = secrets(tmp_path, "shop.example", name="SHOP.domains")
    assert "no secret named" in refusal(given, "https://shop.example/", "SHOP.domains")
    (tmp_path / "inner").mkdir()
    for tenant in ("../t", ".", "..", "/t", ""):
        refusal(secrets(tmp_path / "inner", "shop.example", tenant=tenant), "https://shop.example/")


async def test_a_key_for_codes_is_held_to_the_same_sites(tmp_path: Path) -> None:
    key = pyotp.random_base32()
    stored(tmp_path, name="CODES", value=key)
    given = secrets(tmp_path, "shop.example", "attacker.example", name="CODES", totp="CODES")
    hooks = helping(Hooks(), given._spec, lambda name, url: str(given.resolve(name, url)), None)
    assert hooks.verification_code is not None
    assert pyotp.TOTP(key).verify(await hooks.verification_code("https://shop.example/2fa"), valid_window=1)
    for url in ("https://attacker.example/2fa", "http://shop.example/2fa"):
        with pytest.raises(SecretRefused):
            await hooks.verification_code(url)


@pytest.mark.parametrize("domain", ["com", "co.uk", "github.io", "*.shop.example", "https://shop.example", ""])
async def test_the_gateway_refuses_domains_that_are_no_sites(domain: str) -> None:
    async with world() as here:
        spec = {"url": "https://shop.example/", "goal": "x", "secrets": {"SHOP": {"domains": ["shop.example", domain]}}}
        answer = await here.client.post("/v1/jobs", json=spec)
        assert answer.status_code == 400, answer.text
        assert [fault["field"] for fault in answer.json()["errors"]] == ["secrets.SHOP.domains[1]"]


def test_sites_are_told_as_they_are_written() -> None:
    text = "shop.example\nhttp://a.example:81\n[::1]:9\n"
    assert [str(site) for site in parse_sites(text)] == [
        "https://shop.example",
        "http://a.example:81",
        "https://[::1]:9",
    ]


# --- through a worker and a browser --------------------------------------------------------------------------------

FORM = (
    b"<title>Login</title><form action=/take method=post>"
    b"<label>Password <input name=password type=text></label><button>Log in</button></form>"
)


@asynccontextmanager
async def site(got: list[bytes]) -> AsyncIterator[str]:
    """A site with a login on plain http; gives its address, and in `got` what it was sent."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((int(line[15:]) for line in head.lower().splitlines() if line.startswith("content-length:")), 0)
        body = await reader.readexactly(length)
        found = FORM if head.startswith("GET / ") else b"<p>Welcome</p>" if head.startswith("POST") else b""
        if head.startswith("POST"):
            got.append(body)
        status = b"200 OK" if found else b"404 Not Found"
        writer.write(b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (
            status, len(found)) + found)  # fmt: skip
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def outcome_of(worker: Worker, one: Work) -> Outcome:
    """Return how a session ends."""
    await worker.submit([one])
    seen = 0
    while True:
        for report in (await worker.pull(seen, seen)).reports():
            seen = report.serial
            if report.outcome is not None and report.session == one.session:
                return report.outcome
            if report.wants_ack:
                await worker.confirm(seen, frozenset(), {})


async def test_a_worker_fills_a_secret_into_pages_of_its_own_sites_only(tmp_path: Path) -> None:
    """The job grants itself the page's host; what the keeper wrote decides."""
    stored(tmp_path, "shop.example\n")
    got: list[bytes] = []
    config = WorkerConfig(
        slots=1, artifacts_url="memory:", secrets_dir=str(tmp_path), reach=Reach(True, ()), temp_dir=str(tmp_path)
    )
    worker = await make_worker("w", config)
    try:
        async with site(got) as place, asyncio.timeout(100):
            spec = JobSpec.model_validate(
                {
                    "url": f"{place}/",
                    "goal": "Log in",
                    "policy": "rules",
                    "data": {"password": "secret:SHOP"},
                    "secrets": {"SHOP": {"domains": ["127.0.0.1"]}},
                }
            )
            first = Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None)
            refused = await outcome_of(worker, first)
            assert refused.status is Status.FAILED
            assert refused.error is not None
            assert refused.error.code == "secret_refused"
            assert got == []
            stored(tmp_path, "127.0.0.1\n")
            plain = await outcome_of(worker, replace(first, session=2))
            assert plain.error is not None
            assert plain.error.code == "secret_refused"
            assert got == []
            stored(tmp_path, "http://127.0.0.1\n")
            allowed = await outcome_of(worker, replace(first, session=3))
            assert (got, allowed.status) == ([b"password=hunter2-hunter2"], Status.COMPLETED)
    finally:
        await worker.close()
