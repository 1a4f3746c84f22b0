"""Dashboard: who gets in, what forms are taken, and that pages never run what a site gave."""

from __future__ import annotations

import html
import re
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

from shoal.agent.status import Status
from shoal.agent.types import Action, Incomplete, Outcome, Task
from shoal.agent.worker_messages import Work
from shoal.services.store import ids
from shoal.services.web.http.api_keys import hash_key
from shoal.services.web.http.auth import Authenticator
from shoal.services.web.pages.ended_logins import EndedLogins
from shoal.services.web.pages.filters import ago, call, clipped, place, size, span
from shoal.services.web.pages.jobs import history, view_models
from shoal.services.web.pages.jobs import page as job_page
from shoal.services.web.pages.login import COOKIE, LoginCheck
from tests.gateway_world import World, completed, failed, fan_out, loop_of, world

EVIL = "<script>alert(1)</script>\"'&"


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world() as made:
        yield made


@pytest.fixture
async def locked() -> AsyncIterator[World]:
    async with world(auth=True) as made:
        yield made


def token_of(text: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', text)
    assert found is not None
    return found[1]


async def enter(locked: World, key: str, next: str = "/") -> None:
    answer = await locked.client.post("/login", data={"key": key, "next": next})
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == next


async def test_strangers_are_sent_to_the_login_and_back_to_where_they_wanted(locked: World) -> None:
    answer = await locked.client.get("/jobs/j1?sessions=failed")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=/jobs/j1%3Fsessions%3Dfailed"
    form = await locked.client.get(answer.headers["location"])
    assert 'value="/jobs/j1?sessions=failed"' in form.text
    for path in ("/", "/status", "/sessions/s1", "/artifacts/a", "/jobs/j1/events", "/jobs/j1/results"):
        assert (await locked.client.get(path)).status_code == 303, path


async def test_a_key_opens_the_dashboard_for_its_tenant(locked: World) -> None:
    key = await locked.key("read", tenant="acme", name="ada")
    job = (
        await locked.client.post(
            "/v1/jobs",
            json={"url": "https://shop.example/", "goal": "other tenant's"},
            headers={"Authorization": f"Bearer {await locked.key('submit', tenant='other')}"},
        )
    ).json()["id"]
    await enter(locked, key)
    cookie = next(cookie for cookie in locked.client.cookies.jar if cookie.name == COOKIE)
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "lax"
    assert key not in str(cookie.value)
    page = await locked.client.get("/")
    assert page.status_code == 200
    assert "ada" in page.text
    assert "other tenant" not in page.text
    assert (await locked.client.get(f"/jobs/{job}")).status_code == 404


async def test_a_wrong_key_gets_a_sentence(locked: World) -> None:
    answer = await locked.client.post("/login", data={"key": "shoal_wrong", "next": "/"})
    assert answer.status_code == 401
    assert "The API key is not valid." in answer.text
    assert COOKIE not in answer.cookies


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value[:-2] + ("aa" if value[-2:] != "aa" else "bb"),
        lambda value: value.replace(value.split(".")[2], str(int(value.split(".")[2]) + 10_000)),
        lambda value: value.replace(value.split(".")[1], "another"),
        lambda value: "f" * 64 + value[64:],
        lambda value: "",
        lambda value: "a.b.c",
        lambda value: value + "é",
    ],
)
async def test_a_forged_cookie_opens_nothing(locked: World, change) -> None:
    await enter(locked, await locked.key("read"))
    value = locked.client.cookies[COOKIE]
    locked.client.cookies.clear()
    raw = f"{COOKIE}={change(value)}".encode()
    answer = await locked.client.get("/", headers=[(b"Cookie", raw)])
    assert answer.status_code == 303


async def test_a_login_ends_with_its_time_and_with_its_key(locked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.web.http.auth.KNOWN_FOR_S", 0.0)
    key = await locked.key("read")
    await enter(locked, key)
    real = time.time()
    monkeypatch.setattr("shoal.services.web.pages.login.time.time", lambda: real + 13 * 3600)
    assert (await locked.client.get("/")).status_code == 303
    monkeypatch.setattr("shoal.services.web.pages.login.time.time", lambda: real)
    assert (await locked.client.get("/")).status_code == 200
    row = await locked.store.find_key(hash_key(key))
    assert row is not None
    await locked.store.revoke_key(row.id)
    assert (await locked.client.get("/")).status_code == 303


async def test_buttons_work_with_the_pages_own_token_only(locked: World) -> None:
    key = await locked.key("read", "submit", "control")
    job = (
        await locked.client.post(
            "/v1/jobs",
            json={"url": "https://shop.example/", "goal": "x"},
            headers={"Authorization": f"Bearer {key}"},
        )
    ).json()["id"]
    await enter(locked, key)
    page = await locked.client.get(f"/jobs/{job}")
    token = token_of(page.text)
    for wrong in ({}, {"token": ""}, {"token": "x"}, {"token": token[:-1]}):
        assert (await locked.client.post(f"/jobs/{job}/cancel", data=wrong)).status_code == 403
    foreign = {"Origin": "https://evil.example"}
    assert (await locked.client.post(f"/jobs/{job}/cancel", data={"token": token}, headers=foreign)).status_code == 403
    assert (await locked.client.post(f"/jobs/{job}/explode", data={"token": token})).status_code == 404
    done = await locked.client.post(f"/jobs/{job}/pause", data={"token": token})
    assert (done.status_code, done.headers["location"]) == (303, f"/jobs/{job}")
    assert (await locked.store.job(int(job[1:]))).status == "paused"
    assert "Resume" in (await locked.client.get(f"/jobs/{job}")).text
    again = await locked.client.post(f"/jobs/{job}/retry", data={"token": token})
    assert again.status_code == 409
    assert "Not now" in again.text


async def test_who_may_only_read_sees_no_buttons_and_cannot_press_them(locked: World) -> None:
    submit = await locked.key("submit")
    answer = await locked.client.post(
        "/v1/jobs",
        json={"url": "https://shop.example/", "goal": "x"},
        headers={"Authorization": f"Bearer {submit}"},
    )
    job = answer.json()["id"]
    await enter(locked, await locked.key("read"))
    page = await locked.client.get(f"/jobs/{job}")
    assert "Cancel" not in page.text
    token = token_of(page.text)
    refused = await locked.client.post(f"/jobs/{job}/cancel", data={"token": token})
    assert refused.status_code == 403
    assert "This needs the scope `control`" in refused.text
    out = await locked.client.post("/logout", data={"token": token})
    assert out.headers["location"] == "/login"
    assert (await locked.client.get("/")).status_code == 303


async def test_without_keys_only_pages_of_this_machine_may_press_buttons(here: World) -> None:
    job = await here.submit()
    token = token_of((await here.client.get(f"/jobs/{job}")).text)
    for headers in ({"Host": "rebound.example"}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = await here.client.post(f"/jobs/{job}/cancel", data={"token": token}, headers=headers)
        assert answer.status_code == 403, headers
    assert (await here.client.get("/", headers={"Host": "rebound.example"})).status_code == 403
    assert (await here.client.post(f"/jobs/{job}/cancel", data={"token": token})).status_code == 303


async def test_what_a_site_or_a_caller_wrote_is_shown_and_not_run(here: World) -> None:
    job = await here.submit(goal=EVIL, labels={EVIL: EVIL})
    await here.run(lambda work: completed({EVIL: EVIL}, answer=EVIL, reason=EVIL, url=f"javascript:{EVIL}"))
    root = (await here.client.get(f"/v1/jobs/{job}")).json()["root_session"]
    refused = "/?status=%3Cscript%3Ealert(1)"
    for path in ("/", f"/jobs/{job}", f"/sessions/{root}", "/?label=x%3A%3Cscript%3Ealert(1)", refused):
        page = await here.client.get(path)
        assert page.status_code == (400 if path == refused else 200), path
        assert "<script>alert" not in page.text, path
        assert 'href="javascript:' not in page.text, path
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["x-frame-options"] == "DENY"
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in (await here.client.get(f"/jobs/{job}")).text


async def test_a_status_that_does_not_exist_is_refused_by_name(here: World) -> None:
    job = await here.submit()
    for path in ("/?status=faild", f"/jobs/{job}?sessions=faild"):
        page = await here.client.get(path)
        assert page.status_code == 400
        assert "There is no status &#39;faild&#39;: must be one of" in page.text


async def test_the_job_page_groups_failures_and_pages_sessions(here: World) -> None:
    values = [str(number) for number in range(60)]
    job = await here.submit(loop={"values": values})
    slow, odd = failed(), failed("fields_missing", "The page does not show: price.")
    await here.run(loop_of(values, lambda work: odd if work.item and work.item.index % 3 else slow))
    text = (await here.client.get(f"/jobs/{job}")).text
    groups = re.findall(r'data-name="sessions">(\d+)</td><td><code>(\w+)', text)
    assert groups == [("40", "fields_missing"), ("20", "navigation_timeout")]
    assert "Retry 60 failed" in text
    following = re.search(r'href="(\?[^"]*cursor=[^"]+)#sessions">Next', text)
    assert following is not None
    seen = len(re.findall(r"<td><a href=\"/sessions/", text))
    second = await here.client.get(f"/jobs/{job}{following[1].replace('&amp;', '&')}")
    assert second.status_code == 200
    assert seen >= 25
    assert second.text != text


async def test_a_job_that_is_done_in_part_does_not_look_like_one_that_lacks_nothing(here: World) -> None:
    part, whole = await here.submit(), await here.submit()
    short = replace(completed({"n": 1}), incomplete=Incomplete(10, 57, "no link leads on"))
    await here.run(lambda work: short if ids.job_id(work.job) == part else completed({"n": 1}))
    listed = (await here.client.get("/")).text
    assert listed.count("completed in part") == 1 and listed.count("incomplete: 10 of 57") == 1
    page = (await here.client.get(f"/jobs/{part}")).text
    assert "completed in part" in page and "incomplete: 10 of 57" in page
    assert "completed in part" in (await here.client.get(f"/jobs/{part}/history")).text
    assert "completed in part" not in (await here.client.get(f"/jobs/{whole}")).text
    job = (await here.client.get(f"/v1/jobs/{part}")).json()
    assert (job["status"], job["incomplete"]) == ("completed", {"lists": 1, "found": 10, "shown": 57})
    session = (await here.client.get(f"/v1/sessions/{job['root_session']}")).json()
    assert session["incomplete"] == {"found": 10, "shown": 57, "why": "no link leads on"}
    assert "no link leads on" in (await here.client.get(f"/sessions/{job['root_session']}")).text


async def test_results_can_be_downloaded_from_the_page(here: World) -> None:
    job = await here.submit()
    await here.run(lambda work: completed({"a": 1}))
    for form in ("jsonl", "csv", "parquet"):
        answer = await here.client.get(f"/jobs/{job}/results?format={form}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"] == f'attachment; filename="{job}.{form}"'


async def test_what_is_not_there_is_a_page_too(here: World) -> None:
    for path in ("/jobs/j99", "/jobs/x", "/sessions/s99", "/artifacts/zz", "/static/..%2froutes.py", "/static/x"):
        page = await here.client.get(path)
        assert page.status_code == 404, path
    page = await here.client.get("/jobs/j99")
    assert page.headers["content-type"].startswith("text/html")
    assert "Not found" in page.text
    assert (await here.client.get("/?cursor=zz")).status_code == 400


async def test_the_dashboard_can_be_left_out() -> None:
    async with world(dashboard=False) as bare:
        assert (await bare.client.get("/")).status_code == 404
        assert (await bare.client.get("/v1/jobs")).status_code == 200


async def test_logins_of_another_secret_are_none_of_ours(locked: World) -> None:
    authenticator = Authenticator(locked.store, required=True)
    one, two = (
        LoginCheck(authenticator, EndedLogins(locked.store), secret, secure=True) for secret in (b"1" * 32, b"2" * 32)
    )
    body = f"{'a' * 64}.n.{int(time.time()) + 60}"
    cookie = f"{body}.{one._sign('login', body)}"
    opened = one._opened(cookie, "login")
    assert opened is not None and (opened.text, opened.number) == ("a" * 64, "n")
    assert two._opened(cookie, "login") is None and one._opened(cookie, "attempt") is None
    assert one._opened(f"{body}.{one._sign('form', body)}", "login") is None, "a form's token is no login"
    earlier = f"{'a' * 64}.{int(time.time()) + 60}"
    assert one._opened(f"{earlier}.{one._sign('login', earlier)}", "login") is None, "it could not be ended"


PAGES = [
    *("/", "/jobs/j1?x=1", "/jobs/j1/records?page=2#r1", "/sessions/s1", "/sessions/s1/steps/1/2", "/status", "/new"),
    *("/workflows/shop", "/sessions/s1/recordings/a", "/admin/keys", "/admin/tenants/acme", "/sites/shop.example"),
]
ELSEWHERE = [
    *("https://evil.example/", "//evil.example/", "/\\evil.example", "/a\r\nX: 1", "", "status", "/jobs/j1\\..\\x"),
    *("/trace-viewer/index.html", "/trace-viewer/file/a.svg?trace=/artifacts/a", "/static/shoal.js", "/artifacts/a"),
    *("/jobs/j1/results", "/jobs/j1/events", "/v1/jobs", "/openapi.json", "/metrics", "/login/openid", "/logout"),
    *("/sessions/..", "/sessions/%2e%2e", "/sessions/%2E./steps/../trace-viewer", "/sessions/a%2Fb", "/nothing"),
]


async def test_a_login_leads_to_pages_of_the_dashboard_only(locked: World) -> None:
    key = await locked.key("read")
    for text in (*PAGES, *ELSEWHERE):
        answer = await locked.client.post("/login", data={"key": key, "next": text})
        assert (answer.status_code, answer.headers["location"]) == (303, text if text in PAGES else "/"), text


STREAMS = ("/events", "/live/stream", "/live/picture")


async def test_what_calls_itself_a_page_is_one_and_what_does_not_is_none(here: World) -> None:
    """A page that does not say so is none that a login leads to; a file that says so would be."""
    await here.submit()
    given = {"job": "j1", "session": "s1", "tenant": "acme", "host": "shop.example"}
    tried = 0
    for route in here.app.routes:
        if not isinstance(route, APIRoute) or route.path.startswith(("/v1/", "/login")) or "GET" not in route.methods:
            continue
        if not set(route.param_convertors) <= set(given) or route.path.endswith(STREAMS):
            continue
        answer = await here.client.get(route.path.format(**given))
        shown = answer.status_code == 200 and "text/html" in answer.headers["content-type"]
        assert shown == (route.response_class is HTMLResponse), (route.path, answer)
        tried += shown
    assert tried > 15


def test_figures_and_times_are_written_for_people() -> None:
    assert [span(s) for s in (None, 0.04, 9.96, 59, 61, 3601, 90_000)] == [
        *("–", "0.0 s", "10.0 s", "59 s", "1 min 01 s", "1 h 00 min", "1 d 1 h"),
    ]
    now = datetime(2026, 11, 22, tzinfo=UTC)
    assert [ago(now - timedelta(seconds=s), now) for s in (1, 30, 90, 7300, 200_000)] == [
        *("just now", "30 s ago", "1 min ago", "2 h ago", "2 d ago"),
    ]
    assert ago(None, now) == "–"
    assert [size(n) for n in (5, 2048, 5 << 20, 3 << 30)] == ["5 B", "2.0 KiB", "5.0 MiB", "3.0 GiB"]
    assert clipped("a" * 20, 5) == "aaaa…"
    assert call(Action("fill", {"bid": "a12", "value": 'say "hi"'})) == "fill('a12', value='say \"hi\"')"
    assert place("https://shop.example/p/1") == "/p/1"
    assert place("https://shop.example/") == "shop.example"
    assert place("a word") == "a word"


async def test_a_job_s_plan_is_a_tree_and_its_events_are_listed() -> None:
    async with world() as here:
        job = await here.submit(loop={"values": ["https://shop.example/a", "https://shop.example/b"], "is_link": True})
        hostile = "<script>document.title='owned'</script>"
        each = Task("extract", hostile, Status.COMPLETED)
        loop = Task("loop", "each of them", Status.COMPLETED)

        def answer(work: Work) -> Outcome:
            if work.item is not None:
                return completed({"n": 1}, tasks=(each,))
            return completed(tasks=(loop,)) if work.children is not None else fan_out(["https://shop.example/a"])

        await here.run(answer)
        page = (await here.client.get(f"/jobs/{job}/history")).text
        assert "each of them" in page and "&lt;script&gt;" in page and hostile not in page
        assert page.index("each of them") < page.index("&lt;script&gt;")
        for name in ("job.submitted", "job.fanned_out", "job.finished"):
            assert name in page
        assert (await here.client.get("/jobs/j999/history")).status_code == 404
        assert page.index("job.finished") < page.index("job.submitted"), "the newest first"
        assert "No event is older than these." in (await here.client.get(f"/jobs/{job}/history?before=1")).text


async def test_a_job_s_events_go_back_from_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "EVENTS_SHOWN", 2)
    async with world() as here:
        job = await here.submit()
        await here.run(lambda work: completed())
        seen: list[str] = []
        query = ""
        while True:
            page = (await here.client.get(f"/jobs/{job}/history{query}")).text
            seen += re.findall(r"<b>(job\.\w+)</b>", page)
            further = re.search(r'href="(\?before=\d+)#events"', page)
            if further is None:
                break
            query = further[1]
        assert seen == [event.name for event in reversed(await here.store.events())]
        assert len(seen) > 2


async def test_a_failure_s_code_leads_to_all_of_its_sessions_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_models, "FAILURES_READ", 4)
    monkeypatch.setattr(view_models, "CODES_READ", 8)
    monkeypatch.setattr(job_page, "SESSIONS_SHOWN", 3)
    async with world() as here:
        job = await here.submit(loop={"values": [str(number) for number in range(30)]})

        def each(work: Work) -> Outcome:
            assert work.item is not None
            return failed("fields_missing" if work.item.index % 5 == 0 else "navigation_timeout")

        await here.run(loop_of([str(number) for number in range(30)], each))
        page = (await here.client.get(f"/jobs/{job}")).text
        assert 'href="?code=navigation_timeout#sessions"' in page
        items, query = [], "?code=fields_missing"
        while query:
            listed = (await here.client.get(f"/jobs/{job}{query}")).text.partition('id="sessions"')[2]
            items += re.findall(r'<td class="cell" title="(\d+)">', listed)
            further = re.search(r'href="(\?[^"]*cursor=[^"]*)#sessions"', listed)
            query = html.unescape(further[1]) if further else ""
        assert items == ["0", "5", "10", "15", "20", "25"]
