"""The dashboard over a filled store, served for real, with a Chromium beside it: for its tests and its pictures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from playwright.async_api import Browser, Page

from tests.gateway_world import World, world
from tests.integration.dashboard.seed import Seeder
from tests.patience import chromium
from tests.sites.registry import cache

AXE = "axe-core@4.10.3"
DARK_AND_NARROW = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
"""Rules of axe-core that a scheme or a width can change. That a page fits its width is asked by tests themselves."""

VIEWS = ((1280, "light"), (390, "dark"))
"""Widths and schemes that a page is looked at in. Colours do not depend on the width, nor the layout on colours."""


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
async def served_site(**options: Any) -> AsyncIterator[Site]:
    """A site whose store holds what the seeder puts there, of a gateway with these options."""
    async with world(**options) as made, chromium() as browser:
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


def pages_of(app: FastAPI) -> list[APIRoute]:
    """The routes that give a page: those that say so, and those whose function has the maker of pages at hand."""
    return [
        route
        for route in app.routes
        if isinstance(route, APIRoute) and route.methods is not None and "GET" in route.methods
        if route.response_class is HTMLResponse or {"pages", "refused"} & set(route.endpoint.__code__.co_freevars)
    ]


def axe_source() -> str:
    """The script of axe-core.

    Raises:
        Unreachable: npm does not give it.
    """
    return (Path(cache.npm(AXE)) / "axe.min.js").read_text()


async def serious_faults(page: Page, axe: str) -> list[str]:
    """What axe-core finds on a page that keeps people out: rule and place, of serious and critical findings.

    A page in the light scheme is asked all rules, which costs seconds of CPU; one in the dark scheme those of
    `DARK_AND_NARROW`.
    """
    dark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    rules = DARK_AND_NARROW if dark else ()
    await page.evaluate(axe)
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = await page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{one['id']}: {node['target'][0]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
