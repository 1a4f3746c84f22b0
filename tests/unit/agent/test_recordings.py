"""The kept part of a recording: pages as they were shown, and nothing that was typed, runs, loads or leads
elsewhere.
"""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from shoal.agent.browser import RawRecording
from shoal.agent.chromium.recording import recorder
from shoal.agent.documents.serving import documents_serve
from shoal.agent.sessions import session
from shoal.agent.sessions.traces.recorded_nodes import redacted_attributes, redacted_node, without_addresses
from shoal.agent.sessions.traces.recording import redacted_recording
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from tests.doubles.browser_double import FakeBrowser, FakePage
from tests.unit.agent.test_traces import EXTRACT, URL, Notes, deps, work

ROOT = Path(__file__).resolve().parents[3]
META = {
    "type": 4,
    "data": {"href": "https://a.test/?token=abc#x", "width": 800, "height": 600, "more": "m"},
    "timestamp": 5,
}


def hide(text: str) -> str:
    return text.replace("tops3cret", "(hidden)")


def element(tag: str, *children: Any, **attributes: Any) -> dict[str, Any]:
    return {"type": 2, "id": 9, "tagName": tag, "attributes": attributes, "childNodes": list(children)}


def text(words: str) -> dict[str, Any]:
    return {"type": 3, "id": 10, "textContent": words}


def whole(*nodes: Any, at: int = 6) -> dict[str, Any]:
    root = {"type": 0, "id": 1, "childNodes": list(nodes)}
    return {"type": 2, "data": {"node": root, "initialOffset": {"left": 0, "top": 0}}, "timestamp": at}


def change(source: int, at: int = 7, **data: Any) -> dict[str, Any]:
    return {"type": 3, "data": {"source": source, **data}, "timestamp": at}


def batch(*events: Any, document: str = "d", over: Any = "") -> str:
    return json.dumps({"document": document, "over": over, "events": list(events)})


def told(*batches: str, full: bool = False) -> dict[str, Any]:
    packed = redacted_recording(RawRecording((batches,), full), hide)
    assert packed is not None
    made: dict[str, Any] = json.loads(gzip.decompress(packed))
    return made


def events_of(*batches: str) -> list[dict[str, Any]]:
    tabs = told(*batches)["tabs"]
    return tabs[0]["events"] if tabs else []


@pytest.mark.parametrize(
    ("tag", "given", "kept"),
    [
        ("input", {"value": "Anna", "type": "text", "checked": True}, {"value": "(hidden)", "type": "text"}),
        ("input", {"value": "Anna", "type": "hidden"}, {"value": "(hidden)", "type": "hidden"}),
        ("input", {"value": "Send", "type": "submit"}, {"value": "Send", "type": "submit"}),
        ("option", {"value": "xl", "selected": True}, {"value": "(hidden)"}),
        ("button", {"value": "Buy", "onclick": "x()"}, {"value": "Buy"}),
        ("button", {"value": "t", "name": "_csrf"}, {"value": "(hidden)", "name": "_csrf"}),
        ("", {"value": "Anna"}, {"value": "(hidden)"}),
        (
            "a",
            {"href": "javascript:alert(1)", "ONCLICK": "x", "title": "t tops3cret"},
            {"href": "#", "title": "t (hidden)"},
        ),
        ("link", {"href": "https://x.test/s.css", "rel": "stylesheet"}, {}),
        ("link", {"_cssText": "a{background:url('https://x.test/')}"}, {"_cssText": "a{background:none}"}),
        ("img", {"src": "https://x.test/i.png", "srcset": "a 2x", "alt": "A"}, {"alt": "A"}),
        ("img", {"src": "data:image/png;base64,AA"}, {"src": "data:image/png;base64,AA"}),
        ("img", {"src": "data:text/html,x"}, {}),
        ("iframe", {"srcdoc": "<script>", "src": "x", "rr_src": "y", "sandbox": ""}, {}),
        ("form", {"action": "https://x.test/", "data-csrf-token": "t"}, {"data-csrf-token": "(hidden)"}),
        ("p", {"style": "color: red; background: URL( http://x.test )"}, {"style": "color: red; background: none"}),
        (
            "p",
            {"style": {"color": ["red", "important"], "top": False}},
            {"style": {"color": ["red", "important"], "top": False}},
        ),
        ("p", {"style": {"background": "url(http://x.test)"}}, {"style": {"background": "none"}}),
        (
            "meta",
            {"content": "5", "name": "csrf-token", "http-equiv": "refresh"},
            {"content": "(hidden)", "name": "csrf-token"},
        ),
        ("video", {"poster": "p", "autoplay": "", "rr_mediaState": "played"}, {"rr_mediaState": "played"}),
        ("image", {"xlink:href": "https://x.test/i.svg", "href": "https://x.test/i.svg"}, {}),
    ],
)
def test_attributes(tag: str, given: dict[str, Any], kept: dict[str, Any]) -> None:
    assert redacted_attributes(given, hide, tag=tag) == kept


@pytest.mark.parametrize("tag", ["script", "SCRIPT", "object", "embed", "base", "meta", "noscript", "portal"])
def test_what_runs_or_loads_is_drawn_as_nothing(tag: str) -> None:
    node = redacted_node(element(tag, text("alert(1)"), src="x.js", id="i"), hide)
    assert (node["tagName"], node["attributes"]) == ("template", {"id": "i"})


def test_texts_that_a_visitor_writes_are_hidden() -> None:
    for field in (element("textarea", text("typed")), element("div", element("b", text("typed")), contenteditable="")):
        assert "typed" not in json.dumps(redacted_node(field, hide))
    assert "typed" in json.dumps(redacted_node(element("div", text("typed"), contenteditable="FALSE"), hide))


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ('a{b:url(x)}c{d:url("y")}', "a{b:none}c{d:none}"),
        ("a{b:url( data:image/png;base64,A)}", "a{b:url( data:image/png;base64,A)}"),
        ("a{fill:url(#g)}", "a{fill:url(#g)}"),
        ("a{b:url(", "a{b:"),
        ("url(" * 50_000, ""),
    ],
)
def test_style_sheets_load_nothing(css: str, kept: str) -> None:
    assert without_addresses(css) == kept


def test_only_events_that_are_known_are_kept_and_of_these_only_what_is_known() -> None:
    events = events_of(
        batch(
            META,
            whole(element("p", text("shown tops3cret"))),
            {"type": 5, "data": {"tag": "x"}, "timestamp": 7},
            {"type": 6, "data": {"plugin": "x"}, "timestamp": 7},
            change(5, id=4, text="typed", isChecked=True, userTriggered="typed"),
            change(9, id=4, commands=["typed"]),
            change(14, ranges=["typed"]),
            change(2, type=2, id=4, x=1, y=2, more="typed"),
            change(3, id="typed", x=1, y="typed"),
        )
    )
    assert [(event["type"], event["data"].get("source")) for event in events] == [
        (4, None),
        (2, None),
        (3, 5),
        (3, 2),
        (3, 3),
    ]
    assert events[0]["data"] == {"href": "https://a.test/?token=(hidden)#x", "width": 800, "height": 600}
    assert "shown (hidden)" in json.dumps(events[1])
    assert events[2]["data"] == {"source": 5, "id": 4, "text": "(hidden)", "isChecked": False}
    assert events[3]["data"] == {"source": 2, "type": 2, "id": 4, "x": 1, "y": 2}
    assert events[4]["data"] == {"source": 3, "x": 1}
    assert "typed" not in json.dumps(events)


def test_what_changed_is_kept_as_the_page_itself_is() -> None:
    mutation = change(
        0,
        texts=[{"id": 3, "value": "now tops3cret"}],
        attributes=[{"id": 4, "attributes": {"value": "typed", "onclick": "x", "src": "y", "class": "c"}}, {"id": 5}],
        removes=[{"parentId": 1, "id": 2, "more": "x"}],
        adds=[
            {"parentId": 1, "nextId": None, "node": element("script", text("x"))},
            {"parentId": 1, "nextId": 7, "node": element("iframe", srcdoc="<p>")},
            {"parentId": 1, "nextId": 7, "node": "no node"},
        ],
        isAttachIframe=True,
    )
    data = events_of(batch(META, whole(), mutation))[2]["data"]
    assert data["texts"] == [{"id": 3, "value": "now (hidden)"}]
    assert data["attributes"] == [{"id": 4, "attributes": {"value": "(hidden)", "class": "c"}}]
    assert data["removes"] == [{"parentId": 1, "id": 2}]
    assert [(add["nextId"], add["node"]["tagName"], add["node"]["attributes"]) for add in data["adds"]] == [
        (None, "template", {}),
        (7, "iframe", {}),
    ]
    assert data["isAttachIframe"] is True


def test_documents_follow_each_other_and_late_events_of_an_earlier_one_are_left_out() -> None:
    events = events_of(
        batch(META, whole(at=6), document="a"),
        batch(change(3, at=9, id=1, x=0, y=0), document="a"),
        batch({**META, "timestamp": 8}, whole(at=8), document="b"),
        batch(change(3, at=10, id=1, x=0, y=0), document="a"),
    )
    assert [(event["type"], event["timestamp"]) for event in events] == [(4, 5), (2, 6), (3, 9), (4, 9), (2, 9)]


def test_changes_of_a_page_that_was_never_seen_whole_are_left_out() -> None:
    assert redacted_recording(RawRecording(((batch(META, change(3, id=1, x=0, y=0)),),)), hide) is None
    assert redacted_recording(RawRecording(((),)), hide) is None


@pytest.mark.parametrize(
    "batches",
    [
        ["no json"],
        ["[]"],
        ['{"document": 5, "over": [], "events": {}}'],
        [batch(None, 5, "x", {}, {"type": [], "data": {}, "timestamp": 1}, {"type": 3, "timestamp": 1})],
        [
            batch(
                {"type": 3, "data": {"source": {}}, "timestamp": 1}, {"type": 3, "data": {"source": []}, "timestamp": 1}
            )
        ],
        [batch({"type": 2, "data": {"node": {"type": {}, "childNodes": 5}}, "timestamp": 1})],
        [
            batch(
                {
                    "type": 3,
                    "data": {"source": 0, "adds": 5, "texts": [5], "attributes": [{"attributes": 5}]},
                    "timestamp": 1,
                }
            )
        ],
        ['{"document":"a","events":[{"type":4,"data":{"href":"\\ud800"},"timestamp":1}]}'],
    ],
)
def test_a_recording_that_makes_no_sense_harms_nothing(batches: list[str]) -> None:
    good = batch(META, whole(element("p", text("shown"))), document="good")
    assert "shown" in json.dumps(told(*batches, good))


def test_a_page_that_is_nested_too_deeply_is_said_not_to_be_there() -> None:
    depth = 100_000
    deep = '{"document":"a","events":' + "[" * depth + "]" * depth + "}"
    assert told(deep)["lacks"] == ["a part of a page is not recorded, since it is nested too deeply"]


def test_what_lacks_is_said() -> None:
    lacks = told(batch(META, whole(), over="bytes"), full=True)["lacks"]
    assert lacks == [
        "a page changed so much that the rest of it is not recorded",
        "the session's recording became too large, so that its end is not there",
    ]


@pytest.mark.parametrize("asked", [True, False])
async def test_a_session_is_recorded_where_its_job_asks_for_it(asked: bool) -> None:
    browser, notes = FakeBrowser({URL: FakePage(read={"n": 7})}), Notes()
    browser.recorded = (batch(META, whole(element("p", text("shown")))),)
    outcome = await session.run(work(extract=EXTRACT, artifacts={"recording": asked}), deps(browser, notes))
    assert (outcome.status, outcome.reason) == (Status.COMPLETED, "done")
    assert notes.kept == ["screenshot", *(["recording"] if asked else [])]
    assert [options.recording for options in browser.asked] == [asked]


async def test_a_session_that_fails_keeps_its_recording_too() -> None:
    browser, notes = FakeBrowser({}), Notes()
    browser.recorded = (batch(META, whole()),)
    outcome = await session.run(work(extract=EXTRACT, artifacts={"recording": True}), deps(browser, notes))
    assert outcome.status is Status.FAILED
    assert notes.kept[-1] == "recording"


def test_no_page_of_a_recorded_job_is_read_without_a_browser() -> None:
    fields = {"extract": {"fields": {"n": {"select": "h1"}}}, "url": URL}
    wanted = {"artifacts": {"evidence": "document", "recording": True}}
    assert not documents_serve(JobSpec.model_validate(fields | wanted))


def test_rrweb_is_what_npm_gave() -> None:
    """`scripts/vendor` holds what npm gives to the digests of the packages; this holds the files to what it made."""
    made = {
        "agent/chromium/recording/rrweb-record.min.js": "e52e8e2083804f41",
        "services/web/pages/static/rrweb-replay.min.js": "c96b3bf6a593848e",
    }
    assert {name: sha256((ROOT / name).read_bytes()).hexdigest()[:16] for name in made} == made
    assert '"shadowRoot","querySelector"' not in recorder.source()
