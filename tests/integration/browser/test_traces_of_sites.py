"""The trace and the recording of a login to Django's admin, told by a session that knows no secret: none stays."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from shoal.agent.browser import Context, ContextOptions
from shoal.agent.chromium.process.launch import launch
from shoal.agent.sessions.traces.recording import redacted_recording
from shoal.agent.sessions.traces.requests import har
from shoal.agent.sessions.traces.trace import redacted_trace
from shoal.agent.spec import BrowserSpec
from shoal.agent.types import Action
from tests.sites.registry import django_admin

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD = "correct horse 7"
TYPED = "a note that was typed"
TOKENS = "() => [...document.querySelectorAll('[name=csrfmiddlewaretoken]')].map(field => field.value)"
ENTRY = {"startedDateTime", "time", "request", "response", "cache", "timings"}
"""Members that HAR 1.2 requires of an entry, beside the members of its request and response."""
REQUEST = {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"}
RESPONSE = {"status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL"}


def spelled(secret: str) -> set[bytes]:
    """A secret as texts of a trace may spell it."""
    ways = {secret, quote(secret), quote_plus(secret), json.dumps(secret)[1:-1]}
    return {way.encode() for way in ways} | {base64.b64encode(secret.encode())}


async def logged_in(context: Context, url: str) -> set[str]:
    """Logs in, and writes into a form behind the login; the secrets of it."""
    await context.goto(url)
    tokens = list(await context.read(TOKENS))
    for selector, value in (("#id_username", "ada"), ("#id_password", PASSWORD)):
        (bid,) = await context.locate([selector])
        await context.act(Action("fill", {"bid": bid, "value": value}))
    (bid,) = await context.locate(["[type=submit]"])
    await context.act(Action("click", {"bid": bid}))
    await context.goto(f"{url}office/book/add/")
    tokens += await context.read(TOKENS)
    (bid,) = await context.locate(["#id_title"])
    await context.act(Action("click", {"bid": bid}))
    await context.act(Action("keyboard_type", {"text": TYPED}))
    assert await context.read("() => document.querySelector('#id_title').value") == TYPED
    cookies = [cookie["value"] for cookie in (await context.storage_state())["cookies"]]
    assert len(tokens) >= 2 and len(cookies) == 2, "else this test shows nothing"
    return {PASSWORD, TYPED, *tokens, *cookies}


async def test_a_login_to_djangos_admin_leaves_no_secret_in_trace_and_har(tmp_path: Path) -> None:
    with django_admin.site() as cases:
        browser = await launch()
        headers = {"Authorization": "Bearer header-s3cret"}
        context = await browser.new_context(ContextOptions(trace=True, browser=BrowserSpec(headers=headers)))
        try:
            secrets = await logged_in(context, str(cases[0].spec["url"])) | {"header-s3cret"}
            assert await context.end_trace(str(tmp_path / "raw.zip"))
        finally:
            await context.close()
            await browser.close()

    told = redacted_trace(str(tmp_path / "raw.zip"), str)
    requests = har(told.requests)
    kept = requests + whole(told.trace)
    raw = whole((tmp_path / "raw.zip").read_bytes())
    for secret in secrets:
        assert any(way in raw for way in spelled(secret)), "else this test shows nothing"
        assert not [way for way in spelled(secret) if way in kept], secret
    entries = json.loads(requests)["log"]["entries"]
    assert {entry["request"]["method"] for entry in entries} == {"GET", "POST"}
    for entry in entries:
        assert entry.keys() >= ENTRY
        assert entry["request"].keys() >= REQUEST
        assert entry["response"].keys() >= RESPONSE
        assert {"send", "wait", "receive"} <= entry["timings"].keys()
        assert {"size", "mimeType"} <= entry["response"]["content"].keys()


async def test_a_login_to_djangos_admin_leaves_no_secret_in_its_recording() -> None:
    with django_admin.site() as cases:
        browser = await launch()
        context = await browser.new_context(ContextOptions(recording=True))
        try:
            secrets = await logged_in(context, str(cases[0].spec["url"]))
            raw = await context.end_recording()
        finally:
            await context.close()
            await browser.close()

    assert raw is not None and not raw.full
    packed = redacted_recording(raw, str)
    assert packed is not None
    kept = gzip.decompress(packed)
    for secret in secrets:
        assert not [way for way in spelled(secret) if way in kept], secret
    told = json.loads(kept)
    assert told["lacks"] == [] and len(told["tabs"]) == 1
    pages = [event["data"]["href"] for event in told["tabs"][0]["events"] if event["type"] == 4]
    assert pages[-1].endswith("/office/book/add/") and b"Add book" in kept, pages


def whole(data: bytes) -> bytes:
    """All files of a zip, one after the other."""
    with zipfile.ZipFile(io.BytesIO(data)) as trace:
        return b"\n".join(trace.read(name) for name in trace.namelist())
