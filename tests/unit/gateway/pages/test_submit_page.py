"""Handing in a job on its page: the API's own check, nothing stored before the button, only what the login may do."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

import pytest

from shoal.services.store import ids
from tests.gateway_world import World, world

EVIL = "<script>alert(1)</script>\"'&"


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world() as made:
        yield made


@pytest.fixture
async def locked() -> AsyncIterator[World]:
    async with world(auth=True) as made:
        yield made


def hidden(text: str, name: str) -> str:
    found = re.search(rf'name="{re.escape(name)}" value="([^"]*)"', text)
    assert found is not None, name
    return found[1]


async def token(one: World) -> str:
    page = await one.client.get("/new")
    assert page.status_code == 200, page.text
    return hidden(page.text, "token")


async def jobs(one: World) -> list[str]:
    return [job["id"] for job in (await one.client.get("/v1/jobs")).json()["jobs"]]


async def test_a_job_is_checked_as_the_api_checks_it_and_nothing_is_stored(here: World) -> None:
    asked = {"token": await token(here), "url": "ftp://a.example", "goal": "look", "max_attempts": "99"}
    told = (await here.client.post("/new/check", data=asked)).json()
    api = await here.client.post("/v1/jobs", json={"url": "ftp://a.example", "goal": "look", "max_attempts": 99})
    assert not told["valid"]
    assert told["faults"] == api.json()["errors"]
    right = (
        await here.client.post("/new/check", data={**asked, "url": "https://a.example/", "max_attempts": ""})
    ).json()
    assert right["valid"] and right["faults"] == [] and right["message"] == ""
    assert json.loads(right["texts"]["json"]) == {"url": "https://a.example/", "goal": "look"}
    assert await jobs(here) == []


async def test_the_button_stores_the_job_once_however_often_it_is_pressed(here: World) -> None:
    page = (await here.client.get("/new")).text
    asked = {"token": hidden(page, "token"), "#draft": hidden(page, "#draft"), "url": "https://a.example/", "goal": "x"}
    first = await here.client.post("/new", data={**asked, "labels[0].#key": "team", "labels[0]": "red"})
    again = await here.client.post("/new", data={**asked, "labels[0].#key": "team", "labels[0]": "red"})
    other = await here.client.post("/new", data={**asked, "labels[0].#key": "team", "labels[0]": "blue"})
    assert [answer.status_code for answer in (first, again, other)] == [303, 303, 303]
    assert first.headers["location"] == again.headers["location"] != other.headers["location"]
    assert len(await jobs(here)) == 2
    job = (await here.client.get(f"/v1{first.headers['location']}")).json()
    assert job["spec"] | {"idempotency_key": ""} == {
        "url": "https://a.example/",
        "goal": "x",
        "labels": {"team": "red"},
        "idempotency_key": "",
    }


async def test_a_job_that_is_refused_comes_back_with_all_that_was_written(here: World) -> None:
    answer = await here.client.post("/new", data={"token": await token(here), "url": EVIL, "goal": EVIL, "data": "{"})
    assert answer.status_code == 400
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text
    assert "must start with http:// or https://" in answer.text
    assert "<code>data</code>" in answer.text
    assert await jobs(here) == []


async def test_json_counts_alone_where_it_was_written_last_and_the_form_follows(here: World) -> None:
    text = json.dumps({"url": "https://a.example/", "goal": "read", "gaol": 1})
    asked = {"token": await token(here), "goal": "other", "#json": text}
    told = (await here.client.post("/new/check", data=asked)).json()
    assert told["strangers"] == ["gaol"]
    assert told["faults"] == [{"field": "gaol", "reason": "is not a field of a job; did you mean 'goal'?"}]
    assert ">\nread</textarea>" in told["form"]
    broken = (await here.client.post("/new/check", data={**asked, "#json": '{"url": '})).json()
    assert broken["faults"][0]["field"] == "body" and "line 1" in broken["faults"][0]["reason"]
    whole = json.dumps({"url": "https://a.example/", "goal": "read"})
    assert (await here.client.post("/new", data={**asked, "#json": whole})).status_code == 303


async def test_a_job_is_cloned_without_its_passwords_which_must_be_given_again(here: World) -> None:
    job = await here.submit(
        data={"user": "ada", "password": "hunter2"}, labels={"team": EVIL}, repeatable=False, idempotency_key="k"
    )
    page = (await here.client.get(f"/new?from={job}")).text
    assert "hunter2" not in page and "<script>alert" not in page
    assert hidden(page, "#from") == job
    assert 'value="k"' not in page
    asked = {
        "token": hidden(page, "token"),
        "#from": job,
        "url": "https://shop.example/",
        "goal": "look",
        "data": '{"user": "ada", "password": "(hidden)"}',
    }
    told = (await here.client.post("/new/check", data=asked)).json()
    assert told["faults"] == [{"field": "data.password", "reason": "is hidden here: give it again"}]
    assert (await here.client.post("/new", data=asked)).status_code == 400
    again = {**asked, "data": '{"user": "ada", "password": "hunter3"}'}
    done = await here.client.post("/new", data=again)
    assert (await here.store.job(ids.parse_job(done.headers["location"][6:]))).spec.data["password"] == "hunter3"


async def test_every_preset_opens_and_an_unknown_one_is_not_found(here: World) -> None:
    page = (await here.client.get("/new")).text
    links = re.findall(r'href="(/new\?preset=\w+)"', page)
    assert len(links) >= 5
    for link in links:
        assert (await here.client.get(link)).status_code == 200
    assert (await here.client.get("/new?preset=nothing")).status_code == 404
    assert (await here.client.get("/new?from=j99")).status_code == 404


async def test_a_file_gives_its_columns_and_then_the_values(here: World) -> None:
    headers = {"X-Shoal-Form": await token(here), "Content-Type": "application/octet-stream"}
    content = f'name,link\n{"x" * 3},https://a.example/1\n"<b>",https://a.example/2\n'.encode()
    first = (await here.client.post("/new/values", content=content, headers=headers)).json()
    assert first["columns"] == ["name", "link"] and first["rows"] == 2 and first["values"] == ""
    asked = {"mapping": json.dumps({"link": ""})}
    mapped = (await here.client.post("/new/values", params=asked, content=content, headers=headers)).json()
    assert mapped["values"] == "https://a.example/1\nhttps://a.example/2"
    wrong = (await here.client.post("/new/values", params={"mapping": "[1]"}, content=content, headers=headers)).json()
    assert "mapping" in wrong["fault"]
    too_much = b"a\n" + b"x" * (9 * here.deps.options.body_limit)
    assert (await here.client.post("/new/values", content=too_much, headers=headers)).status_code == 413
    assert (await here.client.post("/new/values", content=content)).status_code == 403


async def test_only_who_may_submit_sees_the_page_and_only_its_own_form_counts(locked: World) -> None:
    assert (await locked.client.get("/new?preset=list")).headers["location"] == "/login?next=/new%3Fpreset%3Dlist"
    await locked.client.post("/login", data={"key": await locked.key("read"), "next": "/"})
    assert (await locked.client.get("/new")).status_code == 403
    assert 'href="/new"' not in (await locked.client.get("/")).text
    await locked.client.post("/login", data={"key": await locked.key("submit", "read", tenant="acme"), "next": "/"})
    good = {"url": "https://a.example/", "goal": "x"}
    for path in ("/new", "/new/check"):
        assert (await locked.client.post(path, data=good)).status_code == 403
        foreign = {"Origin": "https://evil.example"}
        given = {**good, "token": await token(locked)}
        assert (await locked.client.post(path, data=given, headers=foreign)).status_code == 403
    done = await locked.client.post("/new", data={**good, "token": await token(locked)})
    assert (await locked.store.job(ids.parse_job(done.headers["location"][6:]))).tenant == "acme"
    await locked.client.post("/login", data={"key": await locked.key("submit", "read", tenant="other"), "next": "/"})
    assert (await locked.client.get("/new?from=j1")).status_code == 404


async def test_checks_count_against_the_tenants_requests() -> None:
    async with world(auth=True, requests_per_s=0.5) as slow:
        await slow.client.post("/login", data={"key": await slow.key("submit", "read"), "next": "/"})
        form = {"token": await token(slow), "url": "https://a.example/", "goal": "x"}
        statuses = [(await slow.client.post("/new/check", data=form)).status_code for _ in range(4)]
        assert statuses[-1] == 429


async def test_a_job_that_the_quota_has_no_room_for_says_so_before_it_is_handed_in() -> None:
    async with world(tenant_queued=1) as full:
        await full.submit()
        form = {"token": await token(full), "url": "https://a.example/", "goal": "x"}
        told = (await full.client.post("/new/check", data=form)).json()
        assert not told["valid"] and told["faults"] == []
        assert "sessions of this tenant are waiting already" in told["message"]


async def test_a_job_is_kept_as_a_preset_without_its_passwords_for_its_tenant(locked: World) -> None:
    await locked.client.post("/login", data={"key": await locked.key("read", "submit"), "next": "/"})
    form = {
        "token": await token(locked),
        "#name": EVIL[:40],
        "url": "https://a.example/",
        "goal": "x",
        "data": '{"user": "ada", "password": "hunter2"}',
    }
    address = (await locked.client.post("/new/presets", data=form)).json()["address"]
    page = (await locked.client.get(address)).text
    assert "hunter2" not in page and "(hidden)" in page and "<script>alert" not in page
    told = (
        await locked.client.post(
            "/new/check", data={**form, "#from": hidden(page, "#from"), "data": '{"password": "(hidden)"}'}
        )
    ).json()
    assert told["faults"] == [{"field": "data.password", "reason": "is hidden here: give it again"}]
    for wrong in ({"#name": ""}, {"url": "nowhere"}):
        assert "fault" in (await locked.client.post("/new/presets", data={**form, **wrong})).json()
    assert (await locked.client.post("/new/presets", data={**form, "token": "x"})).status_code == 403
    await locked.client.post("/login", data={"key": await locked.key("submit", tenant="other"), "next": "/"})
    assert (await locked.client.get(address)).status_code == 404
    await locked.client.post("/login", data={"key": await locked.key("read", "submit"), "next": "/"})
    removal = f"/new/presets/{address.partition('=')[2]}/remove"
    assert (await locked.client.post(removal, data={"token": "x"})).status_code == 403
    assert (await locked.client.post(removal, data={"token": await token(locked)})).status_code == 303
    assert (await locked.client.get(address)).status_code == 404
