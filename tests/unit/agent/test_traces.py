"""The kept part of a trace of Playwright's: enough to be looked at, and no secret."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from shoal.agent.documents.serving import documents_serve
from shoal.agent.errors import TraceRefused
from shoal.agent.sessions import evidence
from shoal.agent.sessions.traces.drawing import redacted_drawing
from shoal.agent.sessions.traces.requests import har, redacted_address
from shoal.agent.sessions.traces.snapshot import redacted_snapshot
from shoal.agent.sessions.traces.trace import redacted_trace
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from tests.doubles import FakeBrowser, FakePage
from tests.doubles.browser_double import FakeContext
from tests.unit.session.test_session import URL, Notes, deps, session, work

SECRET = "s3cret-value"
EXTRACT = {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
EVENTS: list[dict[str, Any]] = [
    {"version": 10, "type": "context-options", "browserName": "chromium", "storageState": SECRET,
     "options": {"viewport": {"width": 9}, "proxy": {"password": SECRET}, "extraHTTPHeaders": [SECRET]}},
    {"type": "before", "callId": "a", "class": "Frame", "method": "fill", "title": SECRET,
     "params": {"selector": "#pin", "value": SECRET}},
    {"type": "log", "callId": "a", "message": f'  fill("{SECRET}")'},
    {"type": "after", "callId": "a", "result": {"value": SECRET},
     "error": {"name": "Error", "message": f"it failed\n  - fill({SECRET})"}},
    {"type": "before", "callId": "b", "class": "Page", "method": "keyboardType", "params": {"text": SECRET}},
    {"type": "frame-snapshot", "snapshot": {
        "callId": "a", "phase": "after", "frameUrl": f"{URL}?token={SECRET}", "resourceOverrides": [],
        "html": ["HTML", {}, ["INPUT", {"__playwright_value_": SECRET, "value": SECRET, "type": "text"}],
                 ["INPUT", {"type": "submit", "value": "Send"}], ["META", {"name": "csrf-token", "content": SECRET}],
                 ["TEXTAREA", {}, SECRET], ["DIV", {"contenteditable": ""}, ["B", {}, SECRET]],
                 ["META", {"name": "csrf", "content": SECRET}], ["BUTTON", {"name": "_csrf", "value": SECRET}],
                 ["IMG", {"srcset": f"/p?PHPSESSID={SECRET} 2x"}], ["template", {"shadowroot": "open"},
                  ["INPUT", {"value": SECRET, "type": "password"}],
                  ["FORM", {"action": f"?csrfmiddlewaretoken={SECRET}"}]],
                 ["A", {"href": f"/x?session_id={SECRET}&page=2", "data-api-key": SECRET}, "Next"], [[1, 4]]]}},
    {"type": "screencast-frame", "file": "screencast/1.jpeg"},
    {"type": "something-new", "holds": SECRET},
]  # fmt: skip
ENTRY: dict[str, Any] = {
    "startedDateTime": "2026-11-24T18:24:00.611Z", "time": 17.7, "pageref": "page@1", "_frameref": "frame@1",
    "request": {"method": "POST", "url": f"{URL}login?token={SECRET}&page=2", "cookies": [{"value": SECRET}],
                "headers": [{"name": "Cookie", "value": SECRET}, {"name": "X-Whatever", "value": SECRET},
                            {"name": "From", "value": SECRET}, {"name": ":path", "value": SECRET},
                            {"name": "User-Agent", "value": "Chromium"}],
                "postData": {"text": SECRET}},
    "response": {"status": 302, "headers": [{"name": "Set-Cookie", "value": SECRET}], "cookies": [{"value": SECRET}],
                 "content": {"size": 5, "mimeType": "application/json", "_file": "resources/body.json"},
                 "redirectURL": f"{URL}home#access_token={SECRET}"},
    "timings": {"send": 0},
}  # fmt: skip
STYLE: dict[str, Any] = {
    "request": {"method": "GET", "url": f"{URL}a.css"},
    "response": {"status": 200, "content": {"mimeType": "text/css", "_file": "resources/a.css"}},
}


def written(path: Path, events: list[dict[str, Any]]) -> str:
    """A trace as Playwright writes it."""
    entries = [{"type": "resource-snapshot", "snapshot": entry} for entry in (ENTRY, STYLE)]
    with zipfile.ZipFile(path, "w") as trace:
        trace.writestr("trace.trace", "".join(json.dumps(event) + "\n" for event in events))
        trace.writestr("trace.network", "".join(json.dumps(entry) + "\n" for entry in entries))
        trace.writestr("trace.stacks", f'{{"files": ["/srv/{SECRET}.py"]}}')
        trace.writestr("resources/body.json", f'{{"access_token": "{SECRET}"}}')
        trace.writestr("resources/a.css", "body { color: red }")
        trace.writestr("screencast/1.jpeg", b"picture")
    return str(path)


def texts(data: bytes, folder: Path) -> dict[str, str]:
    path = folder / "kept.zip"
    path.write_bytes(data)
    with zipfile.ZipFile(path) as kept:
        return {name: kept.read(name).decode() for name in kept.namelist()}


def test_nothing_that_may_be_a_secret_stays_although_the_session_knows_of_none(tmp_path: Path) -> None:
    told = redacted_trace(written(tmp_path / "trace.zip", EVENTS), str)
    kept = texts(told.trace, tmp_path)
    assert SECRET not in "".join(kept.values())
    assert SECRET not in har(told.requests).decode()
    assert set(kept) == {"trace.trace", "trace.network", "resources/a.css", "screencast/1.jpeg"}


def test_what_a_person_looks_for_stays(tmp_path: Path) -> None:
    told = redacted_trace(written(tmp_path / "trace.zip", EVENTS), str)
    events = [json.loads(line) for line in texts(told.trace, tmp_path)["trace.trace"].splitlines()]
    assert [event["type"] for event in events if event["type"] != "screencast-frame"] == [
        *("context-options", "before", "after", "before", "frame-snapshot")
    ]
    assert events[1]["params"] == {"selector": "#pin"}
    assert events[2]["error"] == {"name": "Error", "message": "it failed"}
    assert events[0]["options"] == {"viewport": {"width": 9}}
    _, _, field, button, *_, link, reference = events[4]["snapshot"]["html"]
    assert field[1] == {"__playwright_value_": "(hidden)", "value": "(hidden)", "type": "text"}
    assert (button[1]["value"], link[1]["href"], reference) == ("Send", "/x?session_id=(hidden)&page=2", [[1, 4]])
    log = json.loads(har(told.requests))["log"]
    first = log["entries"][0]
    assert (log["version"], first["request"]["url"]) == ("1.2", f"{URL}login?token=(hidden)&page=2")
    assert first["request"]["headers"] == [
        {"name": "Cookie", "value": "(hidden)"},
        {"name": "X-Whatever", "value": "(hidden)"},
        {"name": "From", "value": "(hidden)"},
        {"name": ":path", "value": "(hidden)"},
        {"name": "User-Agent", "value": "Chromium"},
    ]
    assert first["response"]["redirectURL"] == f"{URL}home#access_token=(hidden)"
    assert "pageref" not in first


def test_a_trace_of_another_format_is_refused(tmp_path: Path) -> None:
    later = [{"version": 11, "type": "context-options"}]
    with pytest.raises(TraceRefused, match="format 11"):
        redacted_trace(written(tmp_path / "trace.zip", later), str)


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "deep.zip"
    with zipfile.ZipFile(path, "w") as trace:
        deep = '["DIV", {}, ' * 50_000 + '"x"' + "]" * 50_000
        lines = [json.dumps(EVENTS[0]), f'{{"type": "frame-snapshot", "snapshot": {{"html": {deep}}}}}']
        trace.writestr("trace.trace", "\n".join((*lines, '{"type": "before", "par', '{"n": 1' + "0" * 5_000 + "}")))
        trace.writestr("trace.network", "[]\n{")
    (kept,) = texts(redacted_trace(str(path), str).trace, tmp_path)["trace.trace"].splitlines()
    assert json.loads(kept)["type"] == "context-options"


@pytest.mark.parametrize("files", [("trace.trace",), ("trace.network",), ("trace.trace", "trace.network")])
def test_what_is_no_trace_is_refused(files: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "odd.zip"
    with zipfile.ZipFile(path, "w") as trace:
        for name in files:
            trace.writestr(name, json.dumps(EVENTS[1]))
    with pytest.raises(TraceRefused, match=r"lacks|begin"):
        redacted_trace(str(path), str)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://a.example/p?page=2#top", "https://a.example/p?page=2#top"),
        ("https://user:pw@a.example/p", "https://a.example/p"),
        ("/reset?Access-Token=abc;x=1", "/reset?Access-Token=(hidden);x=1"),
        ("https://a.example/p?a=b=c&token=", "https://a.example/p?a=b=c&token="),
        ("/in?PHPSESSID=abc&code=1&page=2&zip_code=3", "/in?PHPSESSID=(hidden)&code=(hidden)&page=2&zip_code=3"),
        ("about:blank", "about:blank"),
        ("", ""),
    ],
)
def test_addresses_keep_what_is_no_secret(address: str, told: str) -> None:
    assert redacted_address(address, str) == told


HOSTILE = b"""<?xml version="1.0"?><?xml-stylesheet href="/x.css"?>
<!DOCTYPE svg [<!ENTITY e "entity"><!ATTLIST svg onclick CDATA "run()">]>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="run()" viewBox="0 0 9 9">
<script>run()</script><script xlink:href="/x.js"/><a xlink:href="javascript:run()"><text ONCLICK="run()">kept</text></a>
<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="run()"/></foreignObject>&e;
<set attributeName="href" to="javascript:run()"/><animate attributeName="onclick" values="run()"/>
<h:script xmlns:h="http://www.w3.org/1999/xhtml">run()</h:script><use href="/run.svg#a"/><use xlink:href="#gradient"/>
<linearGradient id="gradient"/><image href="data:image/svg+xml,run()"/><image href="data:image/png;base64,AAAA"/>
<path d="M0 0L1 1" style="fill:url(#gradient)"/></svg>"""


def test_a_drawing_keeps_what_draws_and_nothing_that_runs_or_links() -> None:
    told = redacted_drawing(HOSTILE)
    assert told is not None
    assert not any(part in told for part in (b"run", b"entity", b"DOCTYPE", b"stylesheet")), told
    for part in (b"kept", b'viewBox="0 0 9 9"', b'href="#gradient"', b"image/png", b"url(#gradient)", b"M0 0L1 1"):
        assert part in told, part
    assert redacted_drawing(HOSTILE.decode().replace('"1.0"', '"1.0" encoding="utf-16"', 1).encode("utf-16")) == told
    deep = b'<svg xmlns="http://www.w3.org/2000/svg">' + b"<g>" * 100_000 + b"</g>" * 100_000 + b"</svg>"
    for nothing in (b"", b"<html><script>run()</script></html>", b"<svg/>", deep, b"\x89PNG"):
        assert redacted_drawing(nothing) is None


def test_pictures_of_a_trace_that_are_markup_can_run_nothing(tmp_path: Path) -> None:
    """A body is what its bytes are, whatever its site called it."""
    types = {"a.svg": "image/svg+xml", "b.png": "image/png", "c.dat": "image/x+xml", "d.png": "image/png"}
    bodies = {"a.svg": HOSTILE, "b.png": HOSTILE, "c.dat": b"\xef\xbb\xbf<html>run()</html>", "d.png": b"\x89PNG"}
    entries = [
        {"request": {"url": f"{URL}{name}"}, "response": {"content": {"mimeType": mime, "_file": f"resources/{name}"}}}
        for name, mime in types.items()
    ]
    path = tmp_path / "trace.zip"
    with zipfile.ZipFile(path, "w") as trace:
        trace.writestr("trace.trace", json.dumps(EVENTS[0]))
        lines = (json.dumps({"type": "resource-snapshot", "snapshot": entry}) for entry in entries)
        trace.writestr("trace.network", "\n".join(lines))
        for name, body in bodies.items():
            trace.writestr(f"resources/{name}", body)
    with zipfile.ZipFile(io.BytesIO(redacted_trace(str(path), str).trace)) as kept:
        told = {name: kept.read(name) for name in kept.namelist() if name.startswith("resources/")}
    assert set(told) == {"resources/a.svg", "resources/b.png", "resources/d.png"}
    assert not any(b"run" in body for body in told.values())


def test_a_snapshot_of_a_trace_has_no_script_and_no_handler() -> None:
    page = [
        *("HTML", {}),
        ["SCRIPT", {"src": "/a.js"}, "run()"],
        ["A", {"onClick": "run()", "href": "/a"}, "kept"],
        ["IFRAME", {"srcdoc": "run()"}],
    ]
    assert redacted_snapshot({"html": page}, str)["html"] == [
        *("HTML", {}),
        ["SCRIPT", {"src": "/a.js"}, ""],
        ["A", {"href": "/a"}, "kept"],
        ["IFRAME", {}],
    ]


@pytest.mark.parametrize(
    ("artifacts", "kinds"),
    [
        ({}, []),
        ({"trace": True}, ["trace"]),
        ({"har": True}, ["har"]),
        ({"trace": True, "har": True}, ["trace", "har"]),
    ],
)
async def test_a_session_keeps_what_its_job_asks_for(artifacts: dict[str, bool], kinds: list[str]) -> None:
    browser, notes = FakeBrowser({URL: FakePage(read={"n": 7})}), Notes()
    browser.trace = '{"version": 10, "type": "context-options"}\n'
    outcome = await session.run(work(extract=EXTRACT, artifacts=artifacts), deps(browser, notes))
    assert (outcome.status, outcome.reason) == (Status.COMPLETED, "done")
    assert notes.kept == ["screenshot", *kinds]
    assert [options.trace for options in browser.asked] == [bool(kinds)]


async def test_a_session_whose_trace_is_lost_keeps_its_result_and_says_so() -> None:
    browser, notes = FakeBrowser({URL: FakePage(read={"n": 7})}), Notes()
    browser.trace = '{"version": 9, "type": "context-options"}\n'
    outcome = await session.run(work(extract=EXTRACT, artifacts={"trace": True}), deps(browser, notes))
    assert outcome.status is Status.COMPLETED
    assert outcome.records[0].value == {"n": 7}
    assert outcome.reason == "done; no trace: this trace has format 9, and 10 is known"
    assert notes.kept == ["screenshot"]


async def test_a_session_that_fails_keeps_its_trace_too() -> None:
    browser, notes = FakeBrowser({}), Notes()
    browser.trace = '{"version": 10, "type": "context-options"}\n'
    outcome = await session.run(work(extract=EXTRACT, artifacts={"trace": True}), deps(browser, notes))
    assert outcome.status is Status.FAILED
    assert notes.kept[-1] == "trace"


async def test_a_trace_that_takes_too_long_delays_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    async def end_trace(context: FakeContext, path: str) -> bool:
        await asyncio.Event().wait()
        return True

    monkeypatch.setattr(FakeContext, "end_trace", end_trace)
    monkeypatch.setattr(evidence, "_TRACES_S", 0.05)
    notes = Notes()
    browser = FakeBrowser({URL: FakePage(read={"n": 7})})
    outcome = await session.run(work(extract=EXTRACT, artifacts={"trace": True}), deps(browser, notes))
    assert (outcome.status, outcome.reason) == (Status.COMPLETED, "done; no trace: it was not ready within 0.05 s")
    assert notes.kept == ["screenshot"]


def test_no_page_of_a_traced_job_is_read_without_a_browser() -> None:
    fields = {"extract": {"fields": {"n": {"select": "h1"}}}, "url": URL}
    assert documents_serve(JobSpec.model_validate(fields | {"artifacts": {"evidence": "document"}}))
    assert not documents_serve(JobSpec.model_validate(fields | {"artifacts": {"evidence": "document", "har": True}}))
