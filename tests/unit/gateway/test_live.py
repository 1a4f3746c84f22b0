"""Looking at running sessions and taking them over, by the API: who may, how many, and what workers must show."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from shoal.agent.spec import JobSpec
from shoal.agent.worker_messages import Work
from shoal.services.errors import WrongState
from shoal.services.live_messages import PREFIX, Act, Done, Keep
from shoal.services.web.live import rooms, viewing
from tests.gateway_world import World, completed, world
from tests.patience import soon

TOKEN = "installation-token"
JPEG = base64.b64encode(b"\xff\xd8picture").decode()
STANDING = {"kind": "standing", "url": "https://shop.example/", "control": "agent", "holder": "", "withheld": False}


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world(auth=True, help_token=TOKEN, live_url="http://gateway:8700") as made:
        yield made


async def running(here: World, tenant: str = "acme") -> str:
    """A session of a tenant that a worker has."""
    key = await here.key("submit", tenant=tenant)
    spec = {"url": "https://shop.example/", "goal": "look"}
    answer = await here.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 201
    (work,) = await here.claim()
    return f"s{work.session}"


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


class Worker:
    """A worker's side of a session's room."""

    def __init__(self, here: World) -> None:
        self._here = here
        self.told: list[dict[str, Any]] = []
        self.url = ""
        self._task: asyncio.Task[None] | None = None

    async def link(self) -> None:
        """Finds the request that the gateway keeps in the store, and follows it."""
        async with soon(7.5):
            while not (requests := await self._here.store.states(PREFIX)):
                await asyncio.sleep(0.01)
        ((request, _),) = requests.values()
        assert request["url"] == "http://gateway:8700"
        self.ticket = request["ticket"]
        room = self._room()
        self._task = asyncio.create_task(self._follow(room))
        await asyncio.sleep(0)

    def _room(self) -> Any:
        return self._here.app.state.live_rooms.by_ticket(self.ticket)

    async def _follow(self, room: Any) -> None:
        async for order in room.down():
            self.told.append(json.loads(order.model_dump_json()))
            if "id" in self.told[-1]:
                await self.say(kind="done", id=self.told[-1]["id"], url="https://shop.example/next")

    async def say(self, **update: Any) -> httpx.Response:
        return await self._here.client.post(f"/v1/live/{self.ticket}", json=update, headers=headers(TOKEN))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


async def test_a_person_takes_over_and_each_order_reaches_the_worker(here: World) -> None:
    session = await running(here)
    key = await here.key("control", name="Ada")
    worker = Worker(here)
    path = f"/v1/sessions/{session}/live"
    taking = asyncio.create_task(here.client.post(path, json={"do": "take"}, headers=headers(key)))
    await worker.link()
    taken = await taking
    assert taken.status_code == 200
    lease = taken.json()["lease"]
    clicked = await here.client.post(
        path, json={"do": "click", "lease": lease, "x": 3.0, "y": 4.0}, headers=headers(key)
    )
    assert clicked.json() == {"lease": lease, "url": "https://shop.example/next"}
    take, click = [order for order in worker.told if "id" in order]
    assert (take["kind"], take["name"], take["lease"]) == ("take", "Ada", lease)
    assert (click["action"], click["args"]) == ("mouse_click", {"x": 3.0, "y": 4.0, "button": "left"})
    await worker.close()


async def test_an_order_that_was_answered_with_a_failure_is_not_given_to_the_next_worker() -> None:
    room = rooms.Room(1, "acme", "acme")
    room.touch()
    first = room.down()
    await anext(first)  # it is linked, and takes no order yet
    click = asyncio.create_task(room.order(Act(id="1", lease="l", action="mouse_click", args={"x": 1, "y": 1})))
    await asyncio.sleep(0)
    await first.aclose()
    with pytest.raises(WrongState, match="worker is gone"):
        await click
    second = room.down()
    await anext(second)
    keep = asyncio.create_task(room.order(Keep(id="2", lease="l")))
    assert await anext(second) == Keep(id="2", lease="l")
    room.take(Done(id="2"))
    assert (await keep).id == "2"
    await second.aclose()


@pytest.mark.parametrize(
    ("scopes", "tenant", "status"),
    [(("read",), "acme", 403), (("control",), "other", 404), (("submit",), "acme", 403)],
)
async def test_only_those_who_may_control_the_tenant_s_sessions_take_over(
    here: World, scopes: tuple[str, ...], tenant: str, status: int
) -> None:
    session = await running(here)
    key = await here.key(*scopes, tenant=tenant)
    answer = await here.client.post(f"/v1/sessions/{session}/live", json={"do": "take"}, headers=headers(key))
    assert answer.status_code == status
    assert await here.store.states(PREFIX) == {}, "no worker is asked"


@pytest.mark.parametrize(("scopes", "tenant", "status"), [(("submit",), "acme", 403), (("read",), "other", 404)])
async def test_only_the_tenant_s_readers_look(here: World, scopes: tuple[str, ...], tenant: str, status: int) -> None:
    session = await running(here)
    key = await here.key(*scopes, tenant=tenant)
    assert (await here.client.get(f"/v1/sessions/{session}/live", headers=headers(key))).status_code == status
    assert (await here.client.get(f"/v1/sessions/{session}/live")).status_code == 401


async def test_another_tenant_is_kept_out_of_a_room_that_is_open_already(here: World) -> None:
    session = await running(here)
    mine, theirs = await here.key("control"), await here.key("control", "read", tenant="other")
    worker = Worker(here)
    path = f"/v1/sessions/{session}/live"
    taking = asyncio.create_task(here.client.post(path, json={"do": "take"}, headers=headers(mine)))
    await worker.link()
    lease = (await taking).json()["lease"]
    stolen = {"do": "type", "lease": lease, "text": "x"}
    assert (await here.client.post(path, json=stolen, headers=headers(theirs))).status_code == 404
    assert (await here.client.get(path, headers=headers(theirs))).status_code == 404
    assert [order["kind"] for order in worker.told if "id" in order] == ["take"]
    await worker.close()


@pytest.mark.parametrize(
    "body",
    [
        {"do": "click", "lease": "l", "x": 1.0},
        {"do": "type", "lease": "l"},
        {"do": "type", "text": "x"},
        {"do": "upload", "lease": "l"},
        {"do": "open", "lease": "l"},
    ],
)
async def test_what_is_not_complete_or_not_known_is_refused(here: World, body: dict[str, Any]) -> None:
    session = await running(here)
    key = await here.key("control")
    answer = await here.client.post(f"/v1/sessions/{session}/live", json=body, headers=headers(key))
    assert answer.status_code == 400


async def test_workers_show_the_installation_s_token_and_a_ticket(here: World) -> None:
    frame = {"kind": "frame", "jpeg": JPEG, "width": 10, "height": 10}
    key = await here.key("admin")
    for token, status in (("nonsense", 401), (key, 401), (TOKEN, 404)):
        assert (await here.client.post("/v1/live/guessed", json=frame, headers=headers(token))).status_code == status
        assert (await here.client.get("/v1/live/guessed", headers=headers(token))).status_code == status


async def test_pictures_are_streamed_until_the_key_ends(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewing, "_LOOK_S", 0.05)
    session = await running(here)
    room = here.app.state.live_rooms.of(int(session[1:]), "acme", "acme")
    view = viewing.LiveView(int(session[1:]), "acme", "acme")
    good = True

    async def holds() -> bool:
        return good

    told: list[tuple[str, Any]] = []
    worker = Worker(here)

    async def look() -> None:
        async for event in viewing._viewed(here.deps, here.app.state.live_rooms, view, holds):
            if event.event:
                told.append((event.event, json.loads(event.data)))

    looking = asyncio.create_task(look())
    await worker.link()
    assert (await worker.say(**STANDING)).status_code == 204
    assert (await worker.say(kind="frame", jpeg=JPEG, width=1280, height=720)).status_code == 204
    async with soon(7.5):
        while "frame" not in dict(told):
            await asyncio.sleep(0.01)
    assert dict(told)["frame"] == {"jpeg": JPEG, "width": 1280.0, "height": 720.0}
    assert worker.told[0] == {"kind": "watch", "on": True}
    for wrong in ({"jpeg": "<script>"}, {"jpeg": JPEG, "width": 0}, {"kind": "other"}):
        update = {"kind": "frame", "jpeg": JPEG, "width": 10, "height": 10, **wrong}
        assert (await worker.say(**update)).status_code == 400
    good = False
    await asyncio.wait_for(looking, 7.5)
    assert room.viewers == 0
    async with soon(7.5):
        while worker.told[-1] != {"kind": "watch", "on": False}:
            await asyncio.sleep(0.01)
    assert await here.store.states(PREFIX) == {}, "no page asks any more"
    await worker.close()


async def test_a_stream_ends_with_its_session_and_so_many_may_look(here: World) -> None:
    session = await running(here)
    key = await here.key("read")
    path = f"/v1/sessions/{session}/live"
    await here.finish([work for work in await _claimed(here)], lambda _: completed())
    answer = await here.client.get(path, headers=headers(key))
    assert "event: end" in answer.text and '"completed"' in answer.text


async def _claimed(here: World) -> list[Any]:
    spec = JobSpec(url="https://shop.example/", goal="look")
    return [Work(1, 1, 1, "acme", 1, 0, spec, None, None, None, None)]


async def test_a_running_session_s_page_shows_what_its_worker_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "REQUEST_S", 3.0)
    async with world(help_token=TOKEN, live_url="http://gateway:8700") as here:
        job = await here.submit()
        await here.claim()
        assert await here.store.states(PREFIX) == {}, "no page of it is looked at"
        shown = ""

        async def look() -> None:
            nonlocal shown
            while True:
                shown = (await here.client.get("/sessions/s1")).text
                await asyncio.sleep(0.05)

        async def until(met: Callable[[], bool]) -> None:
            async with soon(30):
                while not met():
                    await asyncio.sleep(0.01)

        looking = asyncio.create_task(look())
        await until(lambda: "Its worker is asked what it has done so far." in shown)
        worker = Worker(here)
        await worker.link()
        await until(lambda: {"kind": "tell_steps", "on": True} in worker.told)
        assert {"kind": "watch", "on": True} not in worker.told, "no person looks at pictures"
        evil = "<img src=x onerror=alert(1)>"
        step = {"index": 0, "url": "https://shop.example/", "thought": evil, "results": []}
        task = {"type": "navigate", "plan": f"look {evil}", "status": "running", "steps": [step]}
        assert (await worker.say(kind="steps", tasks=[task], left_out=3)).status_code == 204
        await until(lambda: "3 earlier steps come then, too." in shown)
        plan = (await here.client.get(f"/jobs/{job}/history")).text
        for page in (shown, plan):
            assert "look &lt;img" in page and evil not in page
        told = (await here.client.get("/v1/sessions/s1/progress")).json()
        assert (told["running"], told["left_out"], told["missing"]) == (True, 3, "")
        assert [(task["plan"], task["steps"][0]["thought"]) for task in told["tasks"]] == [(f"look {evil}", evil)]
        assert (await worker.say(kind="steps", tasks=[{"type": "x"}], left_out=0)).status_code == 400
        room = here.app.state.live_rooms.by_ticket(worker.ticket)
        assert room.linked
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        await until(lambda: not room.linked)  # no page of it is open: the worker is let go
        await worker.close()


async def test_one_picture_of_a_session_s_page_is_had_and_none_of_a_secret() -> None:
    async with world(help_token=TOKEN, live_url="http://gateway:8700") as here:
        await here.submit()
        await here.claim()
        asking = asyncio.create_task(here.client.get("/sessions/s1/live/picture"))
        worker = Worker(here)
        await worker.link()
        async with soon(30):
            while {"kind": "watch", "on": True} not in worker.told:
                await asyncio.sleep(0.01)
        await worker.say(kind="frame", jpeg=JPEG, width=10, height=10)
        answer = await asking
        assert (answer.status_code, answer.content) == (200, base64.b64decode(JPEG))
        assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("image/jpeg", "no-store")
        await worker.say(**STANDING | {"withheld": True})
        assert (await here.client.get("/sessions/s1/live/picture")).status_code == 204
        assert (await here.client.get("/sessions/s9/live/picture")).status_code == 404
        await worker.close()
    async with world() as here:  # workers do not reach it
        await here.submit()
        await here.claim()
        assert (await here.client.get("/sessions/s1/live/picture")).status_code == 204


@pytest.mark.parametrize("ended", [True, False], ids=["finished", "queued"])
async def test_no_picture_is_waited_for_of_a_session_that_does_not_run(
    monkeypatch: pytest.MonkeyPatch, ended: bool
) -> None:
    monkeypatch.setattr("shoal.services.web.pages.sessions.live.LINK_S", 3600.0)
    async with world(help_token=TOKEN, live_url="http://gateway:8700") as here:
        await here.submit()
        if ended:
            await here.run(lambda work: completed())
        async with asyncio.timeout(60):
            assert (await here.client.get("/sessions/s1/live/picture")).status_code == 204
        assert await here.store.states(PREFIX) == {}, "no worker is asked"


async def test_where_workers_do_not_reach_the_gateway_the_page_says_when_steps_come() -> None:
    async with world() as here:
        await here.submit()
        await here.claim()
        page = (await here.client.get("/sessions/s1")).text
        assert "Its steps are shown when the attempt ends." in page and "SHOAL_LIVE_URL" in page
        told = (await here.client.get("/v1/sessions/s1/progress")).json()
        assert (told["running"], told["tasks"]) == (True, []) and "SHOAL_LIVE_URL" in told["missing"]
        await here.store.cancel(1)
        await here.store.expire_leases(owner="w1")
        told = (await here.client.get("/v1/sessions/s1/progress")).json()
        assert told == {"running": False, "tasks": [], "left_out": 0, "missing": ""}
        assert (await here.client.get("/v1/sessions/s99/progress")).status_code == 404


async def test_another_tenant_s_session_has_no_progress() -> None:
    async with world(auth=True, help_token=TOKEN, live_url="http://gateway:8700") as here:
        spec = {"url": "https://shop.example/", "goal": "look"}
        ours = {"Authorization": f"Bearer {await here.key('submit', 'read', tenant='ours')}"}
        assert (await here.client.post("/v1/jobs", json=spec, headers=ours)).status_code == 201
        await here.claim()
        assert (await here.client.get("/v1/sessions/s1/progress", headers=ours)).json()["running"]
        theirs = {"Authorization": f"Bearer {await here.key('read', tenant='theirs')}"}
        assert (await here.client.get("/v1/sessions/s1/progress", headers=theirs)).status_code == 404
        assert (await here.client.get("/v1/sessions/s1/progress")).status_code == 401
