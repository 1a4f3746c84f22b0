"""Cases that need a person: unsure sessions with their evidence, settled on the page; each tenant sees its own."""

from __future__ import annotations

import re

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, Outcome
from tests.gateway_world import World, completed, world

EVIL = "<script>alert(1)</script>\"'&"


async def doubtful(one: World, tenant_key: str | None = None) -> str:
    """A session whose worker was lost while it sent something; the session's id."""
    headers = {"Authorization": f"Bearer {tenant_key}"} if tenant_key else {}
    spec = {"url": "https://shop.example/", "goal": "order", "repeatable": False}
    job = (await one.client.post("/v1/jobs", json=spec, headers=headers)).json()["id"]
    (work,) = [work for work in await one.claim() if f"j{work.job}" == job]
    await one.store.checkpoint(
        work.session, work.fence, Checkpoint(url="https://shop.example/pay", pending_action=EVIL)
    )
    error = ErrorInfo("Unsure", "unsure", "The worker was lost.", False)
    await one.finish([work], lambda _: Outcome(Status.UNSURE, error=error))
    return f"s{work.session}"


async def test_unsure_sessions_are_settled_on_the_page_with_what_is_known_of_them() -> None:
    async with world() as here:
        first, second = await doubtful(here), await doubtful(here)
        assert (await here.client.get("/attention/count")).json()["waiting"] == 2
        page = (await here.client.get("/attention")).text
        assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
        assert page.index(f"/sessions/{second}") < page.index(f"/sessions/{first}")
        assert "on https://shop.example/pay" in page
        token = re.search(r'name="token" value="([^"]+)"', page)
        assert token is not None
        form = {"token": token[1], "how": "done", "back": "attention"}
        assert (await here.client.post(f"/sessions/{first}/settle", data={**form, "token": "x"})).status_code == 403
        assert (await here.client.post(f"/sessions/{first}/settle", data={**form, "back": "//x"})).status_code == 400
        done = await here.client.post(f"/sessions/{first}/settle", data=form)
        assert done.headers["location"] == "/attention"
        await here.client.post(f"/sessions/{second}/settle", data={**form, "how": "retry"})
        assert (await here.client.get("/attention/count")).json()["waiting"] == 0
        assert "Every session knows what it did." in (await here.client.get("/attention")).text
        await here.run(lambda work: completed())


async def test_a_tenant_sees_only_its_own_unsure_sessions_and_a_reader_settles_none() -> None:
    async with world(auth=True) as locked:
        theirs = await doubtful(locked, await locked.key("submit", tenant="other"))
        mine = await doubtful(locked, await locked.key("submit"))
        assert (await locked.client.get("/attention/count")).status_code == 303
        await locked.client.post("/login", data={"key": await locked.key("read"), "next": "/"})
        page = (await locked.client.get("/attention")).text
        assert f"/sessions/{mine}" in page and f"/sessions/{theirs}" not in page
        assert "It was done" not in page
        assert (await locked.client.get("/attention/count")).json()["waiting"] == 1
