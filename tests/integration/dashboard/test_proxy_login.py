"""A login by a proxy, over real sockets: who the proxy names gets in, and only by the proxy."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from playwright.async_api import Browser, expect
from starlette.background import BackgroundTask

from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.cluster.gateway import gateway
from shoal.services.cluster.serving import listening, served
from shoal.services.settings import Settings
from shoal.services.store.records import AuditFilter
from shoal.services.store.store import Store, open_store
from tests.integration.dashboard.served import pages_closed

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEADER = "X-Remote-User"
PROXY = "127.0.0.2"
"""The address that the proxy calls the gateway from; the test itself calls from another."""


@dataclass(frozen=True)
class Door:
    """A gateway, and the proxy before it."""

    gateway: str
    proxy: str
    store: Store


def proxy_app(upstream: httpx.AsyncClient) -> FastAPI:
    """Lets everybody in as the cookie `who` says, and passes a caller's own header on to nobody."""
    app = FastAPI()

    @app.api_route("/{path:path}", methods=["GET", "POST"])
    async def passed(request: Request, path: str) -> StreamingResponse:
        headers = [(name, value) for name, value in request.headers.raw if name.decode() != HEADER.lower()]
        if who := request.cookies.get("who"):
            headers.append((HEADER.encode(), who.encode()))
        asked = upstream.build_request(
            request.method, f"/{path}?{request.url.query}", headers=headers, content=await request.body()
        )
        answer = await upstream.send(asked, stream=True)
        given = StreamingResponse(answer.aiter_raw(), answer.status_code, background=BackgroundTask(answer.aclose))
        given.raw_headers = list(answer.headers.raw)
        return given

    return app


@asynccontextmanager
async def door() -> AsyncIterator[Door]:
    settings = Settings(
        auth="on",
        login_header=HEADER,
        login_proxies=(PROXY,),
        login_roles={"ada": "admin", "vi": "viewer"},
        webhooks=False,
        metrics_port=0,
    )
    store = await open_store("sqlite://")
    with listening("127.0.0.1", 0) as inner, listening("127.0.0.1", 0) as outer:
        async with gateway(inner, settings, store, MemoryArtifacts()) as url:
            transport = httpx.AsyncHTTPTransport(local_address=PROXY, limits=httpx.Limits(max_connections=1))
            async with (
                httpx.AsyncClient(transport=transport, base_url=url) as upstream,
                served(proxy_app(upstream), outer, "proxy") as proxy,
            ):
                yield Door(url, proxy, store)
    await store.close()


async def test_the_header_counts_on_the_proxys_own_connection_alone() -> None:
    async with door() as made, httpx.AsyncClient() as client:
        forged = {HEADER: "ada", "X-Forwarded-For": PROXY, "Forwarded": f"for={PROXY}", "X-Real-IP": PROXY}
        direct = await client.get(made.gateway, headers=forged)
        assert (direct.status_code, direct.headers["location"]) == (303, "/login?next=/")
        for who, code in (("ada", 200), ("vi", 403), ("ada", 200), ("", 303), ("eve", 403)):  # on one connection
            headers = {**forged, **({"Cookie": f"who={who}"} if who else {})}
            answer = await client.get(f"{made.proxy}/admin/keys", headers=headers)
            assert answer.status_code == code, who
        assert (await client.get(f"{made.proxy}/v1/jobs", headers={"Cookie": "who=ada"})).status_code == 401


@pytest.mark.parametrize("width", [390, 1280])
async def test_an_admin_makes_a_key_and_a_foreign_page_cannot(width: int, browser: Browser) -> None:
    async with door() as made, pages_closed(browser):
        context = await browser.new_context(viewport={"width": width, "height": 900})
        await context.add_cookies([{"name": "who", "value": "ada", "url": made.proxy}])
        page = await context.new_page()
        await page.goto(f"{made.proxy}/admin/keys")
        role = page.locator("form.change select[name=role]")
        assert await role.evaluate(_FITS), "the text of a role is cut off"
        if folder := os.environ.get("PROXY_SHOTS"):
            await page.screenshot(path=f"{folder}/keys-{width}.png", full_page=True)
        await page.get_by_label("what it is for").fill("ci")
        await role.select_option("submitter")
        await page.get_by_role("button", name="Make key").click()
        await expect(page.get_by_label("New API key")).to_have_value(re.compile("^shoal_"))
        assert [(entry.actor, entry.action) for entry in await made.store.audit(AuditFilter())] == [
            ("ada", "POST /admin/keys")
        ]

        token = await page.locator("form.change input[name=token]").input_value()
        await page.goto(made.proxy.replace("127.0.0.1", "localhost") + "/login")  # another site to a browser
        form = f"<form method=post action='{made.proxy}/admin/keys'><input name=token value='{token}'>"
        fields = "".join(f"<input name={name} value={name}>" for name in ("name", "tenant", "role"))
        foreign = await context.new_page()
        await context.route(
            "**/foreign", lambda route: route.fulfill(body=f"{form}{fields}</form>", content_type="text/html")
        )
        await foreign.goto("http://evil.example/foreign")
        async with foreign.expect_navigation() as sent:
            await foreign.evaluate("document.forms[0].submit()")
        answer = await sent.value
        assert answer is not None and answer.status == 403
        assert len(await made.store.keys()) == 1


_FITS = """select => {
  const context = document.createElement('canvas').getContext('2d');
  const style = getComputedStyle(select);
  context.font = style.font;
  const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16;
  return [...select.options].every(option => context.measureText(option.text).width <= room);
}"""
