"""The texts of a page that may state a value, the ways that lead to them again, and the places that are proposed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.page import Page
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.learning.leaves import RECORDS, Leaf, LeafWays, PageLeaves
from shoal.agent.workflows.learning.page_sample import PageLook, PageSample, sample_page
from shoal.agent.workflows.learning.proposals import Proposal, proposed
from tests.doubles.browser_double import FakeBrowser
from tests.recorded_pages import recorded

URL = "http://shop.example/p/1"


def page(body: str, **find: str) -> Page:
    return page_from_html(f"<!doctype html>{body}", URL, find=find)


def leaves(body: str) -> list[tuple[str, dict[str, str]]]:
    """The text and the attributes of each leaf."""
    return [(leaf.text, dict(leaf.attributes)) for leaf in PageLeaves(page(body)).leaves()]


def ways(body: str, text: str) -> LeafWays:
    """The ways to the leaf of a text."""
    known = PageLeaves(page(body))
    return known.ways(next(leaf for leaf in known.leaves() if leaf.text == text))


def places(body: str, value: Json) -> dict[str, list[Any]]:
    """By family the places that are proposed for a value."""
    told: dict[str, list[Any]] = {}
    for proposal in proposed(PageLeaves(page(body)), {"value": value}, ()).get("value", ()):
        told.setdefault(proposal.family, []).append(proposal.place.model_dump(by_alias=True, exclude_defaults=True))
    return told


# --- leaves -------------------------------------------------------------------------------------------


def test_a_leaf_has_a_text_or_attributes_of_its_own() -> None:
    body = "<div><p>Oak <b>stool</b></p><img alt=Stool src=/a.png><i data-sku=7></i><i data-long={}></i></div>"
    assert leaves(body.format("a" * 300)) == [
        ("Oak stool", {}),
        ("stool", {}),
        ("", {"alt": "Stool", "src": "http://shop.example/a.png"}),
        ("", {"data-sku": "7"}),
    ]


def test_a_field_states_what_it_holds_and_a_password_nothing() -> None:
    body = "<input value=5 title=Weight><input type=password value=x><input type=hidden value=y><textarea>z</textarea>"
    assert leaves(body) == [
        ("5", {"title": "Weight"}),
        ("", {"value": "x"}),
        ("", {"value": "y"}),
        ("z", {}),
    ]


def test_scripts_drawings_choices_and_long_texts_are_no_leaves() -> None:
    body = (
        "<script>a</script><svg><text>b</text></svg><noscript>c</noscript><select><option>d</select><p>" + "e" * 2_001
    )
    assert leaves(body) == [("d", {})]


def test_elements_of_shadow_trees_are_no_leaves() -> None:
    known = PageLeaves(recorded("parts"))
    assert {leaf.number for leaf in known.leaves()} & known.page.slotted.keys()
    hosts = known.page.shadow_roots
    inner = [
        n
        for n, el in enumerate(known.page.elements)
        if el.getparent() is not None and known.page.number(el.getparent()) in hosts and n not in known.page.slotted
    ]
    assert inner and not {leaf.number for leaf in known.leaves()} & set(inner)


def test_a_host_states_what_its_shadow_tree_draws() -> None:
    known = PageLeaves(recorded("parts"))
    hosts = [leaf for leaf in known.leaves() if leaf.number in known.page.shadow_roots]
    assert hosts and all(leaf.text for leaf in hosts)


def test_the_last_of_very_many_leaves_are_left_out() -> None:
    assert len(leaves("<p>a</p>" * 4_100)) == 4_000


@pytest.mark.parametrize(
    ("body", "label"),
    [
        ("<table><tr><th>Price</th><td>5</td></tr></table>", "Price"),
        ("<table><tr><td>Price:</td><td><b>5</b></td></tr></table>", "Price"),
        ("<div role=row><i role=rowheader>Price</i><i role=cell>5</i></div>", "Price"),
        ("<dl><dt>Weight</dt><dt>Price *</dt><dd>4</dd><dd>5</dd></dl>", "Price"),
        ("<label for=p>Price</label><input id=p value=5>", "Price"),
        ("<p><b aria-label=Price>5</b></p>", "Price"),
        ("<p>Price: <b>5</b></p>", "Price"),
        ("<p><i>Price</i> <b>5</b></p>", "Price"),
        ("<p><b>5</b> Price: old</p>", "5 Price"),
    ],
)
def test_what_a_leaf_is_called(body: str, label: str) -> None:
    assert label in ways(body, "5").labels


def test_a_label_in_its_own_text_calls_a_leaf() -> None:
    assert ways("<p>Price: 5</p>", "Price: 5").labels == ["Price"]


def test_long_texts_and_signs_are_no_labels() -> None:
    assert ways(f"<p>{'a' * 41} <b>5</b></p>", "5").labels == []
    assert ways("<p>— <b>5</b></p>", "5").labels == []


def test_the_column_is_the_header_over_a_cell() -> None:
    body = "<table><tr><th>Name<th>Price:</tr><tr><td>Stool<td>5</table>"
    assert (ways(body, "5").column, ways(body, "Price:").column) == ("Price", "")


# --- what a person points at --------------------------------------------------------------------------


def boxed(body: str, **find: str) -> Page:
    """A page whose elements are 10 pixels wide and high, and `<u>` 2 pixels high."""
    told = page(body, **find)
    for el in told.elements:
        told.boxes.extend((0, 0, 10, 2 if el.tag == "u" else 10))
    return told


def pointed(body: str, *, many: bool, **find: str) -> list[tuple[Leaf, LeafWays]]:
    return PageLeaves(boxed(body, **find)).pointed(10, many=many)


def test_what_is_shown_and_large_enough_can_be_pointed_at() -> None:
    told = pointed("<p>a</p><p hidden>b</p><u>c</u><i title=d></i><a href=/e></a>", many=False)
    assert [(leaf.text, dict(leaf.attributes)) for leaf, _ in told] == [
        ("a", {}),
        ("", {"href": "http://shop.example/e"}),
    ]
    assert told[0][1].css == ["p"] or told[0][1].positions


def test_the_record_around_a_leaf_is_the_largest_of_what_is_repeated() -> None:
    card = "<li class=card><div class=row><b>{0}</b></div><div class=row><i>{0}</i></div></li>"
    told = pointed("<ul>" + "".join(map(card.format, "12")) + "</ul>", many=True)
    by_text = {(leaf.text, known.records, tuple(known.css)) for leaf, known in told}
    assert ("1", "div.row", ("b", ":scope > b:nth-of-type(1)")) in by_text


def test_the_record_that_a_job_names_is_taken() -> None:
    body = "<ul><li class=card><b>1</b></li><li class=card><b>2</b></li></ul><p>3</p>"
    told = pointed(body, many=True, **{RECORDS: "ul > li"})
    assert [(leaf.text, list(known.css)) for leaf, known in told] == [
        ("1", ["b", ":scope > b:nth-of-type(1)"]),
        ("2", ["b", ":scope > b:nth-of-type(1)"]),
        ("3", []),
    ]


# --- proposals ----------------------------------------------------------------------------------------


def test_a_value_is_proposed_by_each_family_that_states_it() -> None:
    body = """<meta property=og:price content=5.50><main><dl><dt>Price</dt><dd class=cost>€ 5.50</dd></dl>
    <b data-price=5.5 itemprop=sku>A</b></main>"""
    told = places(body, 5.5)
    assert told["meta"] == [{"select": 'meta[property="og:price"]', "attribute": "content"}]
    assert {"label": "Price"} in told["label"]
    assert {"select": "dd.cost"} in told["css"]
    assert {"select": 'b[itemprop="sku"]', "attribute": "data-price"} in told["microdata"]
    assert {"select": "body > main:nth-of-type(1) > dl:nth-of-type(1) > dd:nth-of-type(1)"} in told["structure"]


def test_what_states_another_value_is_not_proposed() -> None:
    assert places("<p class=a>6.50</p><p class=b>x</p>", 5.5) == {}


def test_a_boolean_is_proposed_where_a_short_text_reads_so() -> None:
    assert {"select": "p.stock"} in places("<p class=stock>In stock</p><p>Yes, and more</p>", True)["css"]


def test_a_proposal_is_the_same_wherever_it_is_found() -> None:
    body = "<p class=a>5</p>"
    (one, *_) = proposed(PageLeaves(page(body)), {"n": 5}, ())["n"]
    (other, *_) = proposed(PageLeaves(page(f"<div></div>{body}")), {"n": 5}, ())["n"]
    assert isinstance(one, Proposal) and one.numbers != other.numbers
    assert one.key == other.key


# --- samples ------------------------------------------------------------------------------------------

SCHEMA = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "old": {"type": "number"}}}


@pytest.mark.asyncio
async def test_a_page_is_asked_once_for_all_that_is_kept_of_it() -> None:
    """The values at the proposed places are of the very page that the places were proposed on."""
    context = await FakeBrowser({}).new_context()  # answers nothing
    body = "<html lang=en><title>Oak stool</title><main><h1 class=n>Oak stool</h1><p>Weight: 5 kg</p></main>"
    told: PageSample = await sample_page(
        context,
        {"name": "Oak stool", "old": None},
        SCHEMA,
        LoopItem(1, URL, True, "Oak stool"),
        look=PageLook("", page(body)),
    )
    assert (told.url, told.lang, told.signs) == (URL, "en", ("link", "label"))
    assert (told.parts, told.password, told.landmarks) == (("main", "h1"), False, ("main",))
    assert {(one.family, one.raw, one.shown) for one in told.channels["name"]} == {
        ("css", "Oak stool", True),
        ("structure", "Oak stool", True),
    }
    assert len(told.texts) == 3 and told.shape


@pytest.mark.asyncio
async def test_a_page_that_is_json_is_learned_by_its_paths() -> None:
    """As Chromium shows it."""
    source = replace(page('<pre>{"item": {"sku": "HR-31a"}}</pre>'), content_type="application/json")
    context = await FakeBrowser({}).new_context()
    told = await sample_page(context, {"sku": "HR-31a"}, None, None, look=PageLook("", source))
    assert [channel.place.query for channel in told.channels["sku"]] == ["$.item.sku"]
