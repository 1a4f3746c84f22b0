"""Playwright's trace viewer: its own files alone, under a policy that holds for no other page."""

from __future__ import annotations

import base64
import hashlib
import re

from tests.gateway_world import completed, world

PAGE = "/trace-viewer/index.html"


async def test_the_viewer_is_served_with_what_it_loads() -> None:
    async with world(auth=True) as made:
        page = await made.client.get(PAGE)
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        named = re.findall(r'(?:src|href)="\./([^"]+)"', page.text)
        assert len(named) > 5
        for name in (*named, "sw.bundle.js", "snapshot.html"):
            assert (await made.client.get(f"/trace-viewer/{name}")).status_code == 200, name


async def test_only_scripts_of_playwrights_own_may_run_there() -> None:
    async with world() as made:
        page = await made.client.get(PAGE)
        policy = page.headers["content-security-policy"]
        (script,) = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"script-src 'self' 'sha256-{digest}';" in policy
        worker = (await made.client.get("/trace-viewer/sw.bundle.js")).headers["content-security-policy"]
        assert "connect-src 'self'" in worker, "a link could have it fetch a trace from elsewhere"
        assert "frame-ancestors 'none'" in worker
        assert "unsafe" not in (await made.client.get("/")).headers["content-security-policy"]


async def test_no_other_file_is_reached_through_it() -> None:
    async with world() as made:
        for path in ("", "nothing.js", "..%2f..%2fpackage.json", "assets", "%2e%2e/index.html", "/etc/passwd"):
            assert (await made.client.get(f"/trace-viewer/{path}")).status_code == 404, path


async def test_a_session_without_a_trace_offers_no_viewer() -> None:
    async with world() as made:
        await made.submit()
        await made.run(lambda work: completed({"n": 1}))
        assert "trace viewer" not in (await made.client.get("/sessions/s1")).text
