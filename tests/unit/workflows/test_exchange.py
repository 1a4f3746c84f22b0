"""Recordings of Chrome's recorder, Automa files and Playwright scripts: what they cannot say is named."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

import orjson
import pytest

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.exchange.automa_files import read_automa, write_automa
from shoal.agent.workflows.exchange.file_formats import ExportFormat, ImportFormat
from shoal.agent.workflows.exchange.files import read_file, write_file
from shoal.agent.workflows.exchange.playwright_script import write_playwright
from shoal.agent.workflows.exchange.recorder import read_recording, write_recording
from shoal.agent.workflows.format.node import ActionNode, WaitNode
from shoal.agent.workflows.format.version import MOST_NODES
from shoal.agent.workflows.format.workflow import read_workflow, write_workflow
from tests.unit.workflows.test_format import FORM

RECORDING: Json = {
    "title": "Quote",
    "steps": [
        {"type": "setViewport", "width": 800, "height": 600},
        {"type": "navigate", "url": "https://forms.example/quote"},
        {
            "type": "change",
            "value": "Ada",
            "target": "main",
            "selectors": [["aria/Name"], ["#name"], ["xpath///*[@id='name']"]],
        },
        {"type": "waitForElement", "selectors": ["#send"], "count": 2, "operator": "=="},
        {
            "type": "click",
            "selectors": [['aria/Send[role="button"]'], ["#send"], ["text/Send"]],
            "assertedEvents": [{"type": "navigation", "url": "https://forms.example/thanks"}],
        },
        {"type": "keyDown", "key": "Enter"},
        {"type": "keyUp", "key": "Enter"},
        {"type": "click", "selectors": [["#a", "#b"]], "frame": [0]},
        {"type": "customStep", "name": "pay"},
    ],
}


def test_a_recording_becomes_nodes_with_all_ways_to_find_their_elements() -> None:
    read = read_recording(json.dumps(RECORDING), "quote")
    [version] = read.workflow.versions
    assert (version.by, version.state, read.workflow.scope.site) == ("recording", "draft", "forms.example")
    assert [node.kind for node in version.nodes] == ["action", "action", "wait", "action", "action", "action"]
    _, name, wait, send, enter, inner = version.nodes
    assert isinstance(name, ActionNode) and name.target is not None
    assert [(one.family, one.value) for one in name.target.locators] == [
        ("label", "Name"),
        ("css", "#name"),
        ("xpath", "//*[@id='name']"),
    ]
    assert isinstance(wait, WaitNode) and isinstance(send, ActionNode) and isinstance(enter, ActionNode)
    assert [one.value for one in send.post] == ["https://forms.example/thanks"]
    assert send.target is not None and send.target.locators[0].role == "button"
    assert enter.args["key_comb"].const == "Enter"
    assert isinstance(inner, ActionNode) and inner.target is not None
    assert (inner.target.shadow, inner.target.frame) == (("#a",), ("0",))
    told = " | ".join(read.lost)
    for said in (
        "steps[0]: a step setViewport",
        "steps[3]: how many",
        "steps[7]: its element is in a frame",
        "customStep",
    ):
        assert said in told
    assert len(read.lost) == 4
    assert [decision.why for decision in version.open] == list(read.lost)


def test_a_recording_that_is_written_can_be_read_again() -> None:
    first = read_recording(json.dumps(RECORDING), "quote").workflow.versions[0]
    written = write_recording(first, "Quote")
    again = read_recording(written.text, "quote").workflow.versions[0]
    kinds = [(node.kind, getattr(node, "action", "")) for node in first.nodes]
    assert [(node.kind, getattr(node, "action", "")) for node in again.nodes] == kinds
    assert any("frame or a shadow root" in one for one in written.lost)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "line 1"),
        ("[]", "steps"),
        ('{"steps": [4]}', "steps[0]"),
        ('{"steps": [{"type": "click"}]}', "steps[0].selectors"),
        ('{"steps": [{"type": "click", "selectors": [[1]]}]}', "steps[0].selectors"),
        ('{"steps": [{"type": "navigate"}]}', "steps[0].url"),
        ('{"steps": [{"type": "close"}]}', "steps"),
    ],
)
def test_a_file_that_is_no_recording_is_told_with_its_place(text: str, place: str) -> None:
    with pytest.raises(WorkflowInvalid) as caught:
        read_recording(text, "x")
    assert caught.value.details["places"] == (place,)


def _automa(*blocks: Json) -> str:
    nodes = [{"id": f"b{i}", "label": kind, "data": data} for i, (kind, data) in enumerate(blocks)]
    edges = [{"source": f"b{i}", "target": f"b{i + 1}"} for i in range(len(blocks) - 1)]
    return json.dumps({"name": "x", "drawflow": {"nodes": nodes, "edges": edges}})


def test_an_automa_file_becomes_nodes() -> None:
    text = _automa(
        ("trigger", {}),
        ("new-tab", {"url": "https://forms.example/", "updatePrevTab": True}),
        ("forms", {"type": "text-field", "selector": "#name", "value": "Ada"}),
        ("event-click", {"selector": "#send", "description": "Send"}),
    )
    read = read_automa(text, "quote")
    nodes = read.workflow.versions[0].nodes
    assert [node.kind for node in nodes] == ["action", "action", "action"]
    assert any("block b2: one selector" in one for one in read.lost)
    assert not any("block b3" in one for one in read.lost)
    written = write_automa(read.workflow.versions[0], "quote")
    again = read_automa(written.text, "quote").workflow.versions[0]
    assert [getattr(node, "action", "") for node in again.nodes] == ["goto", "fill", "click"]


def test_an_automa_block_that_no_node_does_is_refused_by_its_name() -> None:
    text = _automa(("trigger", {}), ("event-click", {"selector": "#a"}), ("javascript-code", {"code": "alert(1)"}))
    with pytest.raises(WorkflowInvalid, match=r"block b2: .*javascript-code.* remove the block first"):
        read_automa(text, "quote")


def test_an_automa_file_that_loops_is_refused_by_its_block() -> None:
    with pytest.raises(WorkflowInvalid, match=r"b1 \(loop-data\) steers"):
        read_automa(_automa(("trigger", {}), ("loop-data", {})), "x")


UNOPENED = ("file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "view-source:https://a.example/",
            " java\nscript:alert(1)", "chrome://settings", "ftp://a.example/")  # fmt: skip


@pytest.mark.parametrize("url", UNOPENED)
def test_an_address_off_the_web_is_refused_with_its_place_whatever_file_it_is_in(url: str) -> None:
    step = {"type": "navigate", "url": url}
    with pytest.raises(WorkflowInvalid, match=r"steps\[1\]\.url: "):
        read_recording(json.dumps({"title": "x", "steps": [{"type": "setViewport"}, step]}), "x")
    with pytest.raises(WorkflowInvalid, match=r"url|file|javascript"):
        read_automa(_automa(("trigger", {}), ("new-tab", {"url": url})), "x")
    own = write_workflow(read_recording(json.dumps(RECORDING), "quote").workflow)
    for arg in ({"const": url}, {"template": f"{url}{{a}}"}, {"param": "a"}):
        version = own["versions"][0]
        version["params"] = [{"name": "a", "source": "constant", "value": url}]
        version["nodes"][0]["args"]["url"] = arg
        with pytest.raises(WorkflowInvalid, match=r"versions\[0\]\.nodes\[0\]\.args\.url: .* only http and https"):
            read_workflow(json.dumps(own))


def test_addresses_of_the_web_and_of_parameters_are_taken() -> None:
    own = write_workflow(read_recording(json.dumps(RECORDING), "quote").workflow)
    version = own["versions"][0]
    version["params"] = [{"name": "a", "source": "data", "path": "$.a"}]
    for arg in ({"const": "about:blank"}, {"template": "{a}"}, {"template": "https://{a}.example/{a}"}, {"param": "a"}):
        version["nodes"][0]["args"]["url"] = arg
        read_workflow(json.dumps(own))


def test_every_part_that_a_format_cannot_say_is_named() -> None:
    version = read_workflow(FORM).versions[0]
    for written in (write_recording(version, "q"), write_automa(version, "q"), write_playwright(version, "q")):
        told = " | ".join(written.lost)
        assert "n2: it may run once only" in told
        assert "n3: " in told
    assert "the parameter email" in " | ".join(write_recording(version, "q").lost)


def test_the_script_is_python_with_the_nodes_in_order() -> None:
    script = write_playwright(read_workflow(FORM).versions[0], 'quotes "now" \\ """')
    ast.parse(script.text)
    fill = "page.get_by_label('E-mail', exact=True).fill(str(values['email']))"
    click = "page.get_by_role('button', name='Send', exact=True).click()"
    assert script.text.index(fill) < script.text.index(click) < script.text.index("Thank you")
    assert "record['number'] = page.locator('#receipt').first.inner_text()" in script.text


def test_a_choice_is_written_as_typing_waiting_and_choosing() -> None:
    (kept,) = FORM["versions"]
    nodes = json.loads(json.dumps(kept["nodes"]))
    fill = next(node for node in nodes if node.get("action") == "fill")
    fill |= {"action": "select_option", "args": {"options": fill["args"]["value"]}}
    script = write_playwright(
        read_workflow({**FORM, "versions": [{**kept, "nodes": nodes}]}).versions[0], "quotes"
    ).text
    ast.parse(script)
    assert "    choose(page, page.get_by_label('E-mail', exact=True), values['email'])" in script
    assert "def choose(" not in write_playwright(read_workflow(FORM).versions[0], "quotes").text


_DEEP: Json = []
for _ in range(300):
    _DEEP = [_DEEP]
_HOSTILE: list[Json] = [
    *(None, 7, -1, True, "", "abc", "\ud800", "\0", [], {}, [7], {"a": 1}, _DEEP, "x" * 100_000),
    *(float("nan"), float("inf"), 10**400),
]


def _places(said: Json, place: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    yield place
    for key, part in said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ():
        yield from _places(part, (*place, key))


def _with(said: Json, place: tuple[int | str, ...], value: Json) -> Json:
    if not place:
        return value
    copy = said.copy()
    copy[place[0]] = _with(said[place[0]], place[1:], value)
    return copy


@pytest.mark.parametrize("kind", [ImportFormat.RECORDER, ImportFormat.AUTOMA])
def test_whatever_a_file_holds_it_is_refused_or_becomes_a_workflow_that_can_be_written(kind: ImportFormat) -> None:
    wait = {"type": "waitForElement", "selectors": ["#send"], "timeout": 500}
    more = [wait, {"type": "scroll", "x": 1, "y": 2}]
    said: Json = RECORDING | {"steps": [*RECORDING["steps"], *more]}
    if kind is ImportFormat.AUTOMA:
        said = json.loads(write_automa(read_workflow(FORM).versions[0], "quotes").text)
    refused = 0
    for place in _places(said):
        for value in _HOSTILE:
            try:
                workflow = read_file(kind, json.dumps(_with(said, place, value)).encode(), "quotes").workflow
            except WorkflowInvalid:
                refused += 1
                continue
            read_workflow(orjson.dumps(write_workflow(workflow)))
            for written in ExportFormat:
                if written is not ExportFormat.SHOAL:
                    write_file(written, workflow.versions[0], "quotes").text.encode()
    assert refused > 100


@pytest.mark.parametrize("name", ["", "../books", "Books", "b" * 101])
def test_a_name_that_no_workflow_may_have_is_refused(name: str) -> None:
    with pytest.raises(WorkflowInvalid, match="name: "):
        read_file(ImportFormat.RECORDER, json.dumps(RECORDING).encode(), name)


def test_a_file_of_more_steps_than_a_version_takes_is_refused_at_once() -> None:
    step: Json = {"type": "keyDown", "key": "a"}
    text = json.dumps({"steps": [step] * MOST_NODES})
    version = read_recording(text, "keys").workflow.versions[0]
    assert len(json.loads(write_recording(version, "keys").text)["steps"]) == MOST_NODES
    with pytest.raises(WorkflowInvalid, match="steps: 1001 are there"):
        read_recording(json.dumps({"steps": [step] * (MOST_NODES + 1)}), "keys")
    blocks = [{"id": str(n), "label": "go-back"} for n in range(MOST_NODES + 1)]
    edges = [{"source": str(n), "target": str(n + 1)} for n in range(MOST_NODES)]
    with pytest.raises(WorkflowInvalid, match=r"drawflow\.nodes: 1001 are there"):
        read_automa(json.dumps({"drawflow": {"nodes": blocks, "edges": edges}}), "keys")
