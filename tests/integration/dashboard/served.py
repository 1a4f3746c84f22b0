"""The dashboard over a filled store, served for real, with a Chromium beside it: for its tests and its pictures."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from playwright.async_api import Browser, Page

from tests.gateway_world import World, world
from tests.integration.dashboard.seed import Seeder
from tests.sites.registry import cache

AXE = "axe-core@4.10.3"
DARK_AND_NARROW = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
"""Rules of axe-core that a scheme or a width can change. That a page fits its width is asked by tests themselves."""

VIEWS = ((1280, "light"), (390, "dark"))
"""Widths and schemes that a page is looked at in. Colours do not depend on the width, nor the layout on colours."""

_KEEPS_OUT = ["serious", "critical"]
_AXE = """([counted, only]) => {
  // It looks for seconds at hundreds of rows. What two alike ones (of each background) have, the others have, too.
  const own = ["alt", "aria-label", "datetime", "for", "href", "id", "src", "title", "value"];
  const attribute = ({ name, value }) => name + (own.includes(name) ? Boolean(value) : value);
  const look = (one) => [one.tagName, Boolean(one.textContent.trim()), ...[...one.attributes].map(attribute)];
  const exclude = [];
  for (const rows of document.querySelectorAll("tbody, ul, ol")) {
    const alike = {};
    for (const row of rows.children) {
      const key = JSON.stringify([row, ...row.querySelectorAll("*")].map(look));
      alike[key] = (alike[key] ?? 0) + 1;
      if (alike[key] > 2) exclude.push(row);
    }
  }
  // A rule whose findings are never counted costs as much as another: each has one impact, which is written at it.
  const lesser = axe._audit.rules.filter(({ impact }) => impact && !counted.includes(impact));
  const rules = Object.fromEntries(lesser.map(({ id }) => [id, { enabled: false }]));
  const asked = only ? { runOnly: only } : { rules };
  return axe.run({ include: [document], exclude }, { resultTypes: ["violations"], ...asked });
}"""

_EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
_LINKS_OUT_OF_SIGHT = """() => [...document.querySelectorAll(".top nav a")].filter((link) => {
  const box = link.getBoundingClientRect();
  return box.width && (box.left < 0 || box.right > innerWidth);
}).map((link) => link.textContent)"""


@dataclass
class Site:
    """A served dashboard."""

    url: str
    world: World
    browser: Browser

    async def page(self, path: str, width: int = 1280, scheme: str = "light") -> tuple[Page, list[str]]:
        """A page in a context of its own, and what its console complains about."""
        context = await self.browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
        page = await context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
        await page.goto(self.url + path)
        return page, complaints


@asynccontextmanager
async def served_site(browser: Browser, **options: Any) -> AsyncIterator[Site]:
    """A site whose store holds what the seeder puts there, of a gateway with these options."""
    async with world(**options) as made:
        await Seeder(made).fill()
        config = uvicorn.Config(made.app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1)
        server, socket = uvicorn.Server(config), config.bind_socket()
        task = asyncio.create_task(server.serve([socket]))
        try:
            yield Site(f"http://127.0.0.1:{socket.getsockname()[1]}", made, browser)
        finally:
            server.should_exit = True
            await task
            socket.close()


@asynccontextmanager
async def pages_closed(browser: Browser) -> AsyncIterator[None]:
    """Close what is open at the end: pages of the dashboard ask on and on what is new."""
    try:
        yield
    finally:
        for context in browser.contexts:
            await context.close()


def pages_of(app: FastAPI) -> list[APIRoute]:
    """The routes that give a page: those that say so, and those whose function has the maker of pages at hand."""
    return [
        route
        for route in app.routes
        if isinstance(route, APIRoute) and route.methods is not None and "GET" in route.methods
        if route.response_class is HTMLResponse or {"pages", "refused"} & set(route.endpoint.__code__.co_freevars)
    ]


def axe_source() -> str:
    """The script of axe-core. Skips the test where npm does not give it."""
    try:
        return (Path(cache.npm(AXE)) / "axe.min.js").read_text()
    except cache.Unreachable as error:
        pytest.skip(str(error))


async def faults_in_views(page: Page, name: str) -> list[str]:
    """Return what keeps people out of an open page, or does not fit its window,
    in each of `VIEWS`.

    Keeps pictures of it under `name` in the folder `SHOTS`, where that is set.
    """
    await page.evaluate(await asyncio.to_thread(axe_source))
    found = []
    for width, scheme in VIEWS:
        await page.set_viewport_size({"width": width, "height": 850})
        await page.emulate_media(color_scheme=scheme)
        await page.evaluate(_DRAWN)
        if excess := await page.evaluate(_EXCESS):
            found.append(f"{name}, {width}: {excess} pixels too wide")
        found += [f"{name}, {width}: {link} is out of sight" for link in await page.evaluate(_LINKS_OUT_OF_SIGHT)]
        found += [f"{name}, {scheme}: {fault}" for fault in await _serious(page)]
        if folder := os.environ.get("SHOTS"):
            file = f"{re.sub(r'[^a-z0-9]+', '-', name)}-{width}-{scheme}.png"
            await page.screenshot(path=f"{folder}/{file}", full_page=True)
    return found


async def serious_faults(page: Page) -> list[str]:
    """Return what axe-core finds on a page that keeps people out: rule and place, of serious and critical findings."""
    await page.evaluate(await asyncio.to_thread(axe_source))
    return await _serious(page)


async def _serious(page: Page) -> list[str]:
    """Return what axe-core, which is there,
    finds.

    A page in the light scheme is asked all rules that may find what keeps people out, which costs seconds of CPU; one
    in the dark scheme those of `DARK_AND_NARROW`.
    """
    dark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    found = await page.evaluate(_AXE, [_KEEPS_OUT, list(DARK_AND_NARROW) if dark else None])
    return [
        f"{one['id']}: {node['target'][0]}"
        for one in found["violations"]
        if one["impact"] in _KEEPS_OUT
        for node in one["nodes"][:3]
    ]
