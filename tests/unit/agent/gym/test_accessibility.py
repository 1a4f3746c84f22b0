"""An observation in the forms that readers of BrowserGym's observations take."""

from __future__ import annotations

from shoal.agent.gym import accessibility
from shoal.agent.types import Box, Element, Observation

FIELD = Element(
    "3",
    "input",
    role="textbox",
    name="Name",
    attributes={"value": "Ann", "type": "text"},
    states=frozenset({"focused", "required"}),
    box=Box(590, 0, 100, 20),
    clickable=True,
    marked=True,
)
BOX = Element("4", "input", role="checkbox", name="Agree", states=frozenset({"checked"}), box=Box(0, 900, 10, 10))
SIZE = Element("5", "select", role="combobox", options=(("S", "s", True), ("M", "m", False)))
OWN = Element("6", "my-tag", role="button", name="Go", clickable=True)
INNER = Element("7", "iframe", role="frame", children=(Element("a1", "button", role="button", name="In"),))
PAGE = Element(
    "", "body", name="Letter", children=(Element("", "p", role="paragraph", text="Hello"), FIELD, BOX, SIZE, OWN, INNER)
)


def test_the_accessibility_tree_names_elements_and_their_states() -> None:
    nodes = accessibility.axtree(PAGE)["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    assert (nodes[0]["role"]["value"], nodes[0]["name"]["value"]) == ("RootWebArea", "Letter")
    assert [by_id[child]["role"]["value"] for child in nodes[0]["childIds"]] == [
        *("paragraph", "textbox", "checkbox", "combobox", "button", "Iframe")
    ]
    field = next(node for node in nodes if node.get("browsergym_id") == "3")
    assert field["value"]["value"] == "Ann"
    assert {one["name"]: one["value"]["value"] for one in field["properties"]} == {"focused": True, "required": True}
    agree = next(node for node in nodes if node.get("browsergym_id") == "4")
    assert {one["name"]: one["value"]["value"] for one in agree["properties"]} == {"checked": "true"}
    assert [node["name"]["value"] for node in nodes if node["role"]["value"] == "option"] == ["S", "M"]
    assert [node["name"]["value"] for node in nodes if node["role"]["value"] == "StaticText"] == ["Hello"]


def test_the_focus_is_told_before_a_mark_as_chromium_tells_them() -> None:
    box = Element("1", "input", role="checkbox", name="Agree", states=frozenset({"checked", "focused"}))
    (node,) = (node for node in accessibility.axtree(Element("", "body", children=(box,)))["nodes"][1:])
    assert [told["name"] for told in node["properties"]] == ["focused", "checked"]


def test_properties_say_how_much_of_an_element_is_in_the_window() -> None:
    told = accessibility.properties(Observation("", "", PAGE, viewport=(640, 480)), PAGE)
    assert told["3"] == {"visibility": 0.5, "bbox": [590, 0, 100, 20], "clickable": True, "set_of_marks": True}
    assert told["4"]["visibility"] == 0.0
    assert accessibility.properties(Observation("", "", PAGE), PAGE, 1.5)["3"]["bbox"] == [885, 0, 150, 30]
    assert set(told) == {"3", "4", "5", "6", "7", "a1"}


def test_tags_of_no_standard_lose_their_ids() -> None:
    bids = {one.bid for one in accessibility.standard_only(PAGE).children}
    assert bids == {"", "3", "4", "5", "7"}
