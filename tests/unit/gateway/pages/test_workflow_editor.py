"""The editor of a version: its forms give back what they show, its buttons change what they say, faults name places."""

from __future__ import annotations

import html
import json
import re
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import httpx
import pytest
import pytest_asyncio
from lxml import html as lxml_html

from shoal.agent.workflows.format.node import PersonNode
from shoal.agent.workflows.format.workflow import read_workflow
from tests.gateway_world import World, world
from tests.unit.gateway.test_workflows import URL
from tests.unit.workflows.books import BOOKS
from tests.unit.workflows.test_exchange import RECORDING

EVIL = "<script>alert(1)</script>"
EDIT = "/workflows/filed/edit"
Form = list[tuple[str, str]]


@pytest_asyncio.fixture
async def w() -> AsyncIterator[World]:
    async with world() as made:
        params = {"format": "recorder", "name": "filed"}
        assert (await made.client.post(URL, json=RECORDING, params=params)).status_code == 201
        yield made


def form_of(page: str) -> Form:
    """Return what a browser would send of the page's form, without its buttons."""
    (form,) = lxml_html.fromstring(page).xpath("//main/form")
    return [(name, value) for name, value in form.form_values() if name != "do"]


def version_in(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(dict(form_of(page))["version"])
    return found


async def opened(w: World, node: str = "", name: str = "filed") -> str:
    answer = await w.client.get(f"/workflows/{name}/edit", params={"version": 1, "node": node})
    assert answer.status_code == 200, answer.text
    return answer.text


async def pressed(w: World, page: str, do: str, name: str = "filed", **changed: str) -> httpx.Response:
    """Return what comes of a button, with some inputs changed (`__` for what no Python name may have:
    see the callers).
    """
    inputs = dict(form_of(page)) | changed
    return await w.client.post(f"/workflows/{name}/edit", data={**inputs, "do": do})


def order(version: dict[str, Any]) -> list[str]:
    """The nodes in the order in which they run."""
    nodes = {node["id"]: node for node in version["nodes"]}
    at, names = version.get("start") or version["nodes"][0]["id"], []
    while at is not None and at not in names:
        names.append(at)
        at = nodes[at].get("next")
    return names


async def test_forms_give_back_each_node_as_it_is(w: World) -> None:
    page = await opened(w)
    before = version_in(page)
    assert len(before["nodes"]) > 2
    for node in before["nodes"]:
        shown = await pressed(w, page, f"show:{node['id']}")
        again = await pressed(w, shown.text, "check")
        assert version_in(again.text) == before, node
        assert "Nothing differs." in again.text
        page = again.text


async def test_every_kind_of_node_has_a_form_that_changes_nothing_by_itself(w: World) -> None:
    text = {"kind": "text", "value": 'a "b" <c> {who}'}
    seen = {"kind": "visible", "target": {"name": "Go", "locators": [{"family": "css", "value": "#go"}]}}
    nodes = [
        {
            "id": "act",
            "kind": "action",
            "action": "fill",
            "next": "wait",
            "submits": True,
            "once": True,
            "args": {"value": {"template": "{who} x"}},
            "target": {
                "role": "textbox",
                "frame": [],
                "shadow": ["my-card", "x-form > x-field"],
                "origin": "https://pay.example",
                "locators": [
                    {"family": "role_name", "role": "textbox", "value": "Name", "unique_on": 3},
                    {"family": "css", "value": "#n"},
                ],
            },
            "pre": [text],
            "post": [seen, text],
            "evidence": [{"step": 1}],
        },
        {"id": "wait", "kind": "wait", "until": [text, seen], "timeout_s": 2.5, "next": "go"},
        {
            "id": "go",
            "kind": "action",
            "action": "goto",
            "args": {"url": {"const": "https://a.example/"}},
            "next": "guard",
        },
        {"id": "guard", "kind": "guard", "holds": [text], "on_miss": "branch", "otherwise": "ask", "next": "kind"},
        {
            "id": "kind",
            "kind": "branch",
            "cases": [{"when": [text, seen], "to": "end"}, {"when": [text], "to": "ask"}],
            "next": "read",
        },
        {"id": "ask", "kind": "guard", "holds": [text], "next": "end"},
        {"id": "end", "kind": "guard", "pre": [text], "holds": [seen], "on_miss": "fail", "says": EVIL},
        {"id": "read", "kind": "extract", "branches": ["product"]},
    ]
    params = [
        {"name": "who", "source": "constant", "value": {"a": [1]}},
        {"name": "rows", "source": "data", "path": "$.rows", "type": "array"},
        {"name": "pin", "source": "secret", "path": "pin", "sensitive": True},
    ]
    every = deepcopy(BOOKS) | {"name": "every"}
    every["versions"][0] |= {"nodes": nodes, "params": params}
    assert (await w.client.post(URL, json=every)).status_code == 201, (await w.client.post(URL, json=every)).text
    before = version_in(await opened(w, name="every"))
    for node in nodes:
        page = await opened(w, str(node["id"]), "every")
        assert EVIL not in page
        again = await pressed(w, page, "check", "every")
        assert version_in(again.text) == before, node["id"]
        assert 'role="alert"' not in again.text, node["id"]


async def test_nodes_are_inserted_moved_and_deleted_and_the_ways_follow(w: World) -> None:
    page = await opened(w)
    names = order(version_in(page))
    second = names[1]
    page = (await pressed(w, page, f"show:{second}")).text
    behind = (await pressed(w, page, "after", kind="guard")).text
    assert order(version_in(behind)) == [*names[:2], "guard", *names[2:]]
    assert "things are missing" in behind or "thing is missing" in behind
    assert "holds[0]" in behind, "a guard without a condition is a fault with its place"
    before = (await pressed(w, page, "before", kind="wait")).text
    assert order(version_in(before)) == [names[0], "wait", *names[1:]]
    earlier = (await pressed(w, page, "earlier")).text
    assert order(version_in(earlier)) == [names[1], names[0], *names[2:]]
    assert order(version_in((await pressed(w, earlier, "later")).text)) == names
    gone = (await pressed(w, page, "delete")).text
    assert order(version_in(gone)) == [names[0], *names[2:]]
    first = (await pressed(w, page, f"show:{names[0]}")).text
    without = (await pressed(w, first, "delete")).text
    assert order(version_in(without)) == names[1:]
    new_first = (await pressed(w, first, "before", kind="wait")).text
    assert order(version_in(new_first)) == ["wait", *names]


async def test_a_node_is_renamed_wherever_it_is_named_and_never_to_another_ones_name(w: World) -> None:
    page = await opened(w)
    names = order(version_in(page))
    page = (await pressed(w, page, f"show:{names[1]}")).text
    renamed = (await pressed(w, page, "check", **{"n.id": "chosen"})).text
    assert order(version_in(renamed)) == [names[0], "chosen", *names[2:]]
    taken = (await pressed(w, page, "check", **{"n.id": names[0]})).text
    assert f"another node is called &#39;{names[0]}&#39;" in taken
    assert order(version_in(taken)) == names


async def test_a_version_is_saved_as_a_draft_behind_the_one_that_it_changes(w: World) -> None:
    page = await opened(w)
    name = order(version_in(page))[1]
    page = (await pressed(w, page, f"show:{name}")).text
    saved = await pressed(w, page, "save", **{"n.says": f"says {EVIL}"})
    assert (saved.status_code, saved.headers["location"]) == (303, "/workflows/filed?version=2")
    (_, draft) = (await w.client.get(f"{URL}/filed")).json()["versions"]
    assert (draft["number"], draft["parent"], draft["state"], draft["by"]) == (2, 1, "draft", "person")
    version = (await w.client.get(f"{URL}/filed/versions/2")).json()["version"]
    assert next(node for node in version["nodes"] if node["id"] == name)["says"] == f"says {EVIL}"
    shown = (await w.client.get("/workflows/filed?version=2")).text
    assert EVIL not in shown and f"nodes[{name}].says" in shown


async def test_the_frames_and_hosts_around_an_element_are_edited(w: World) -> None:
    every = deepcopy(BOOKS) | {"name": "framed"}
    target = {"frame": ["#pay"], "locators": [{"family": "css", "value": "#n"}, {"family": "label", "value": "Name"}]}
    node = {"id": "act", "kind": "action", "action": "click", "target": target}
    every["versions"][0] |= {"nodes": [node], "params": []}
    assert (await w.client.post(URL, json=every)).status_code == 201
    page = await opened(w, "act", "framed")
    inputs = {"n.target.frame": " iframe[title='a > b'] >> #inner ", "n.target.shadow": "", "n.target.origin": "null"}
    (changed,) = version_in((await pressed(w, page, "check", "framed", **inputs)).text)["nodes"]
    assert changed["target"]["frame"] == ["iframe[title='a > b']", "#inner"]
    assert changed["target"]["origin"] == "null" and not changed["target"].get("shadow")
    (changed,) = version_in((await pressed(w, page, "check", "framed", **{"n.target.frame": ""})).text)["nodes"]
    assert not changed["target"].get("frame")


async def test_what_is_no_version_is_not_saved_and_each_fault_names_its_node(w: World) -> None:
    page = await opened(w)
    name = order(version_in(page))[1]
    page = (await pressed(w, page, f"show:{name}")).text
    for inputs, said in (
        ({"n.action": "teleport"}, "there is no action"),
        ({"n.on_miss": "branch"}, "go together"),
        ({"n.pre[0].kind": "text"}, "needs `value`"),
        ({"n.pre[0].kind": "visible", "n.pre[0].target": "{"}, "this is no JSON"),
        ({"n.id": "no name"}, "pattern"),
    ):
        refused = await pressed(w, page, "save", **inputs)
        assert refused.status_code in (200, 400), refused.text
        told = html.unescape(refused.text)
        assert 'role="alert"' in told and said in told, (inputs, re.findall(r"<li class=.*", told))
    assert len((await w.client.get(f"{URL}/filed")).json()["versions"]) == 1


HOSTILE = (
    *("", "[]", "{", '{"nodes": 3}', '{"nodes": [{"id": 1}, 7, {"id": "a"}]}', '{"x": "\\ud800"}', "[" * 5000),
    '{"x":' * 200 + "1" + "}" * 200,
    '{"nodes":[{"id":"a","kind":"action","args":[1],"target":7,"cases":{}}]}',
    '{"nodes":[{"id":"a","kind":"action","target":{"frame":7,"shadow":{"x":[]}}}]}',
    '{"nodes":[{"id":"a","kind":"action","target":{"frame":[7,{}],"shadow":[null],"origin":[]}}]}',
    '{"nodes":[{"id":"a","kind":{"x":1},"next":[1],"on_miss":7,"says":{}}],"params":[{"name":[]}],"start":[]}',
)


@pytest.mark.parametrize("state", HOSTILE)
async def test_a_state_that_nobodys_page_held_ends_in_a_page_that_says_so(w: World, state: str) -> None:
    token = dict(form_of(await opened(w)))["token"]
    inputs = {"token": token, "version": state, "base": "1", "node": "a", "n.id": "a", "do": "check"}
    answer = await w.client.post(EDIT, data=inputs)
    assert answer.status_code in (200, 400), answer.text
    assert 'role="alert"' in answer.text or answer.status_code == 400
    assert (await w.client.post(EDIT, data={**inputs, "token": "x"})).status_code == 403


async def test_editing_needs_the_scope_and_the_tenant() -> None:
    async with world(auth=True) as guarded:
        mine = await guarded.key("read", "control", tenant="mine")
        bearer = {"Authorization": f"Bearer {mine}"}
        assert (await guarded.client.post(URL, json=BOOKS, headers=bearer)).status_code == 201
        for scopes, tenant, status in ((("read",), "mine", 403), (("read", "control"), "yours", 404)):
            key = await guarded.key(*scopes, tenant=tenant)
            await guarded.client.post("/login", data={"key": key})
            assert (await guarded.client.get("/workflows/books/edit?version=1")).status_code == status
            guarded.client.cookies.clear()


async def test_a_stored_node_that_is_not_run_is_named_and_can_be_deleted(w: World) -> None:
    """The store has such nodes of older releases."""
    every = read_workflow(deepcopy(BOOKS))
    (version,) = every.versions
    ask = PersonNode(id="ask", question="Is it?", next=version.first)
    older = version.model_copy(update={"nodes": (ask, *version.nodes)})
    await w.store.workflows.keep("default", every.model_copy(update={"name": "older", "versions": (older,)}))
    page = await opened(w, "ask", "older")
    assert "&#39;ask&#39; is a person node, and replay runs none: give the job `help`" in page
    assert "<option>person</option>" not in page
    gone = (await pressed(w, page, "delete", "older")).text
    assert order(version_in(gone)) == [version.first] and 'role="alert"' not in gone
    refused = await w.client.post(f"{URL}/older/versions/1/activate")
    assert refused.status_code == 409 and "replay runs none" in refused.text
