"""A login by OpenID Connect in a real browser, at a real provider: Django OAuth Toolkit from PyPI."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.cluster.gateway import gateway
from shoal.services.cluster.serving import listening
from shoal.services.settings import Settings
from shoal.services.store.records import AuditFilter
from shoal.services.store.store import Store, open_store
from shoal.services.web.openid.config import CALLBACK
from tests.sites.registry import cache, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PACKAGES = ("django==5.2.*", "django-oauth-toolkit==3.4.*")
_PROGRAM = Path(serving.__file__).with_name("programs") / "openid_provider.py"
_SECRET = "kept-by-both-of-them"


@dataclass(frozen=True)
class Door:
    """A gateway, and the provider where its people log in."""

    gateway: str
    issuer: str
    store: Store
    provider: contextlib.ExitStack  # closing it ends the provider


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def door() -> AsyncIterator[Door]:
    """One for all: to begin a provider takes its migrations."""
    try:
        python = await asyncio.to_thread(cache.pypi, "openid", _PACKAGES)
    except cache.Unreachable as error:
        pytest.skip(str(error))
    store = await open_store("sqlite://")
    with tempfile.TemporaryDirectory() as temp, contextlib.ExitStack() as provider, listening("127.0.0.1", 0) as inner:
        here = f"http://127.0.0.1:{inner.getsockname()[1]}"
        port = serving.free_port()
        command = [str(python), str(_PROGRAM), f"{temp}/id.db", str(port), f"{here}{CALLBACK}", _SECRET]
        running = serving.program(command, port, cwd=Path(temp), path="/admin/login/")
        issuer = await asyncio.to_thread(provider.enter_context, running)
        secret = Path(temp) / "secret"
        secret.write_text(f"{_SECRET}\n")
        settings = Settings(
            auth="on",
            public_url=here,
            oidc_issuer=f"{issuer}/o",
            oidc_client_id="shoal",
            oidc_client_secret_file=secret,
            oidc_roles={"shoal-admins": "admin"},
            webhooks=False,
            metrics_port=0,
        )
        async with gateway(inner, settings, store, MemoryArtifacts()) as url:
            yield Door(url, issuer, store, provider)
    await store.close()


async def at_the_provider(page: Page, name: str) -> None:
    """Logs in there and lets Shoal know who this is."""
    await page.get_by_label("Username").fill(name)
    await page.get_by_label("Password").fill(f"correct horse {name}")
    await page.get_by_role("button", name="Log in").click()
    await page.get_by_role("button", name="Authorize").click()


async def shot(page: Page, name: str) -> None:
    """A picture to look at, where a folder for it is given."""
    if folder := os.environ.get("OPENID_SHOTS"):
        for scheme in ("light", "dark"):
            for width in (390, 1280):
                await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                await page.set_viewport_size({"width": width, "height": 900})
                await page.screenshot(path=f"{folder}/{name}-{scheme}-{width}.png", full_page=True)


async def test_a_person_logs_in_changes_something_and_logs_out_at_both(browser: Browser, door: Door) -> None:
    page = await (await browser.new_context(viewport={"width": 1280, "height": 900})).new_page()
    await page.goto(f"{door.gateway}/admin/keys?from=mail")
    await shot(page, "login")
    await page.get_by_role("link", name="Log in with 127.0.0.1").click()
    assert page.url.startswith(f"{door.issuer}/admin/login/")
    await at_the_provider(page, "ada")
    await page.wait_for_url(f"{door.gateway}/admin/keys?from=mail")
    await expect(page.locator(".who .name")).to_have_text("ada@id.example · all tenants")
    await page.get_by_label("what it is for").fill("ci")
    await page.get_by_role("button", name="Make key").click()
    await expect(page.get_by_label("New API key")).to_have_value(re.compile("^shoal_"))
    assert [(entry.actor, entry.action) for entry in await door.store.audit(AuditFilter())] == [
        ("ada@id.example", "POST /admin/keys")
    ]
    await shot(page, "keys")

    await page.get_by_role("button", name="Log out").click()
    await page.wait_for_url(f"{door.gateway}/login/ended")
    await shot(page, "ended")
    await page.goto(f"{door.gateway}/admin/keys")
    assert page.url.startswith(f"{door.gateway}/login?")
    await page.goto(f"{door.gateway}/login/ended")
    await page.get_by_role("link", name="Log out at 127.0.0.1, too").click()
    assert page.url.startswith(f"{door.issuer}/o/logout/")
    await page.get_by_role("button", name="Logout").click()
    await page.goto(f"{door.gateway}/login/openid")
    await expect(page.get_by_label("Password")).to_be_visible()  # the provider asks again


async def test_a_person_without_a_group_and_a_replayed_code_get_a_page(browser: Browser, door: Door) -> None:
    page = await (await browser.new_context()).new_page()
    keys = {key.id for key in await door.store.keys()}
    await page.goto(f"{door.gateway}/login/openid")
    await at_the_provider(page, "eve")
    await expect(page.get_by_role("alert")).to_have_text(re.compile("eve@id.example has no role here"))
    await shot(page, "no-role")
    assert {key.id for key in await door.store.keys()} == keys

    used = page.url
    await page.goto(f"{door.gateway}/login/openid", wait_until="commit")
    await page.goto(used)  # the way back of the login before
    await expect(page.get_by_role("alert")).to_have_text(re.compile("not the login that began here|elsewhere"))


async def test_a_provider_that_goes_while_a_person_is_on_the_way_back_gets_a_page(browser: Browser, door: Door) -> None:
    """The last test of this provider."""
    page = await (await browser.new_context()).new_page()
    await page.goto(f"{door.gateway}/login/openid?next=/status")
    await page.get_by_label("Username").fill("eve")
    await page.get_by_label("Password").fill("correct horse eve")
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("button", name="Authorize")).to_be_visible()
    (state,) = parse_qs(urlsplit(page.url).query)["state"]
    await asyncio.to_thread(door.provider.close)
    await page.goto(f"{door.gateway}{CALLBACK}?{urlencode({'code': 'c0de', 'state': state})}")
    await expect(page.get_by_role("alert")).to_have_text(re.compile("login provider 127.0.0.1 does not answer"))
    await expect(page.get_by_label("API key")).to_be_visible()
    await shot(page, "away")
