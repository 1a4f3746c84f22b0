"""The arena: pages with a seed in them, one verdict each, and nothing but MiniWoB++'s own files."""

from __future__ import annotations

import httpx

from shoal.agent.gym.miniwob import BEGIN, MOST_MS, page_seed
from shoal.services.evaluation.arena import arena


async def test_a_task_is_served_with_its_seed_and_hears_its_verdict() -> None:
    async with arena() as ground, httpx.AsyncClient() as http:
        address = ground.open("click-test:3", "click-test", 3)
        page = await http.get(address)
        assert page.status_code == 200
        assert f"({BEGIN})([{page_seed(3)}, {MOST_MS}, true])" in page.text, "the instance that browsergym-miniwob has"
        assert "reward" not in page.text.partition("<script>\nwindow")[0].lower()
        assert (await http.get(str(httpx.URL(address).join("../core/core.js")))).status_code == 200

        base = f"{ground.url}/click-test%3A3"
        await http.post(f"{base}/goal", json={"utterance": "Click it.", "fields": {}})
        assert ground.match("click-test:3").goal == "Click it."
        for reward in (0.7, -1.0):
            await http.post(f"{base}/verdict", json=[reward, "late"])
        assert ground.match("click-test:3").right is True, "a part of the reward is success, as there"


async def test_nothing_else_is_served() -> None:
    async with arena() as ground, httpx.AsyncClient() as http:
        ground.open("a", "click-test", 0)
        for path in ("/a/../../__init__.py", "/a/%2e%2e/%2e%2e/__init__.py", "/b/miniwob/click-test.html", "/a/core"):
            assert (await http.get(ground.url + path)).status_code == 404, path
