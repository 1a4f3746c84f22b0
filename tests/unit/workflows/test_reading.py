"""The result of reading a view of a page: a record that everything bears out, or the reason for a miss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.read.by_place.place import Place
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.format.branch import Branch, Channel, FieldNode, Signature
from shoal.agent.workflows.reading.branch_reader import read_page
from shoal.agent.workflows.reading.channels import holds_text
from shoal.agent.workflows.reading.page_guards import fits_template
from shoal.agent.workflows.reading.page_view import PageView, place_key
from shoal.agent.workflows.reading.shapes import fits_shape, shape_of
from shoal.agent.workflows.verdict import PageRead

URL = "https://shop.example/p/7"
ITEM = LoopItem(7, URL, True, "Oak stool")
SCHEMA: Json = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}
HEADING, CSS, PATH = FieldPlace(select="h1"), FieldPlace(select="p.price"), FieldPlace(select="main > p:nth-of-type(1)")
TITLE = FieldPlace(select="main > h1:nth-of-type(1)")
LD = FieldPlace.model_validate({"json": "$.offers.price"})


def shown(text: str) -> tuple[Place, ...]:
    return (Place("p", "selector", text=text),)


STRUCK = (Place("p", "selector", text="€12.50", plain=""),)


def ld(value: Json) -> tuple[Place, ...]:
    return (Place("script", "json", kind="json", value=value),)


BRANCH = Branch(
    id="product",
    signature=Signature(
        url="https://shop.example/p/{}",
        required=("main",),
        forbidden=("input[type=password]",),
        locale="en",
        currency=("EUR",),
        item=("link", "label"),
    ),
    fields=(
        FieldNode(
            name="name",
            channels=(Channel(family="css", place=HEADING), Channel(family="structure", place=TITLE)),
            is_label=True,
        ),
        FieldNode(
            name="price",
            channels=(
                Channel(family="json_ld", place=LD, shapes=("number",), shown=False),
                Channel(family="css", place=CSS, shapes=("€9.99",)),
                Channel(family="structure", place=PATH, shapes=("€9.99",)),
            ),
        ),
    ),
)
VIEW = PageView(
    url=URL,
    lang="en",
    title="Oak stool",
    headings=("Oak stool",),
    text="Oak stool €12.50",
    present=frozenset({"main"}),
    places={
        place_key(HEADING): shown("Oak stool"),
        place_key(TITLE): shown("Oak stool"),
        place_key(LD): ld("12.50"),
        place_key(CSS): shown("€12.50"),
        place_key(PATH): shown("€12.50"),
    },
)


def with_places(**places: tuple[Place, ...]) -> PageView:
    named = {"name": HEADING, "title": TITLE, "ld": LD, "css": CSS, "path": PATH}
    return replace(VIEW, places={**VIEW.places, **{place_key(named[key]): value for key, value in places.items()}})


def test_a_page_as_it_was_learned_gives_its_record() -> None:
    read = read_page(VIEW, (BRANCH,), ITEM, SCHEMA)
    assert read.record is not None, read.misses
    assert read.record.value == {"name": "Oak stool", "price": 12.5}
    assert read.hits["price"] == ("json_ld", "css", "structure")
    assert (read.branch, read.raw["price"], read.record.sources["price"].how) == ("product", "€12.50", "workflow")


@pytest.mark.parametrize(
    "places",
    [
        {"path": ()},
        {"css": ()},
        {"css": shown("€12.50") * 2},
        {"ld": ld("12.50"), "css": (), "path": shown("€12.50")},
        {"css": shown("€12,50"), "path": ()},  # another notation, and data for machines say the same number
    ],
)
def test_two_kinds_of_places_are_enough(places: dict[str, tuple[Place, ...]]) -> None:
    read = read_page(with_places(**places), (BRANCH,), ITEM, SCHEMA)
    assert read.record is not None, read.misses
    assert read.record.value["price"] == 12.5


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        ({"css": (), "path": ()}, DivergenceReason.ONE_WITNESS),
        ({"ld": ()}, DivergenceReason.ONE_WITNESS),  # only the position is left
        ({"ld": ld("11.00")}, DivergenceReason.CONTRADICTION),
        ({"path": shown("€99.00")}, DivergenceReason.CONTRADICTION),
        ({"css": (*shown("€12.50"), *shown("€9.00"))}, DivergenceReason.AMBIGUOUS),
        ({"css": shown("ask us")}, DivergenceReason.UNREADABLE),
        ({"css": shown("$12.50"), "path": shown("$12.50")}, DivergenceReason.SHAPE),
        ({"css": shown("€12.50 / kg"), "path": shown("€12.50 / kg")}, DivergenceReason.SHAPE),
        ({"css": shown("€12,50"), "path": shown("€12,50"), "ld": ()}, DivergenceReason.SHAPE),
        ({"css": STRUCK, "path": STRUCK, "ld": ()}, DivergenceReason.SHAPE),  # it was asked once
        ({"css": STRUCK, "path": STRUCK}, DivergenceReason.SHAPE),
        ({"name": shown("Elm stool"), "title": shown("Elm stool")}, DivergenceReason.NOT_THE_ITEM),
    ],
)
def test_what_does_not_agree_is_a_miss(places: dict[str, tuple[Place, ...]], reason: DivergenceReason) -> None:
    read = read_page(with_places(**places), (BRANCH,), ITEM, SCHEMA)
    assert read.record is None
    assert reason in [miss.reason for miss in read.misses]


MAKER, MAKER_PATH = FieldPlace(select="p.maker"), FieldPlace(select="main > p:nth-of-type(2)")
MADE = BRANCH.model_copy(
    update={
        "fields": (
            FieldNode(
                name="maker",
                channels=(Channel(family="css", place=MAKER), Channel(family="structure", place=MAKER_PATH)),
            ),
        )
    }
)


def made_by(place: Place, branch: Branch = MADE, schema: Json = True) -> PageRead:
    """Return what a page gives whose maker is a free text, which has no shape."""
    view = replace(VIEW, places={place_key(MAKER): (place,), place_key(MAKER_PATH): (place,)})
    return read_page(view, (branch,), ITEM, schema if isinstance(schema, dict) else None)


@pytest.mark.parametrize("text", ["n/a", "N/A", "TBD", "—", "Unknown", "(none selected)", "-", "Loading"])
def test_what_stands_where_a_value_is_missing_is_no_value(text: str) -> None:
    read = made_by(Place("p", "selector", text=text))
    assert (read.record, [miss.reason for miss in read.misses]) == (None, [DivergenceReason.UNREADABLE])
    choice = {"type": "object", "properties": {"maker": {"enum": [text, "Oak & Sons"]}}}
    assert made_by(Place("p", "selector", text=text), schema=choice).record is not None, "the schema has it as a value"


def test_a_text_that_is_struck_through_is_another_than_was_learned() -> None:
    assert made_by(Place("p", "selector", text="Oak & Sons", plain="Oak & Sons")).record is not None
    for plain in ("", "Sons"):
        gone = Place("p", "selector", text="Oak & Sons", plain=plain)
        assert [miss.reason for miss in made_by(gone).misses] == [DivergenceReason.SHAPE]


def test_a_price_beside_one_that_is_struck_through_is_read() -> None:
    both = (Place("p", "selector", text="€20.00 €12.50", plain="€12.50", parts=("€12.50",)),)
    read = read_page(with_places(css=both, path=both), (BRANCH,), ITEM, SCHEMA)
    assert read.record is not None and read.record.value["price"] == 12.5, read.misses


def test_a_field_that_was_struck_through_on_all_pages_is_read_as_it_was() -> None:
    was = [channel.model_copy(update={"shapes": ("struck out €9.99",)}) for channel in BRANCH.fields[1].channels[1:]]
    price = BRANCH.fields[1].model_copy(update={"channels": tuple(was)})
    branch = BRANCH.model_copy(update={"fields": (BRANCH.fields[0], price)})
    read = read_page(with_places(css=STRUCK, path=STRUCK), (branch,), ITEM, SCHEMA)
    assert read.record is not None and read.record.value["price"] == 12.5, read.misses
    assert [miss.reason for miss in read_page(VIEW, (branch,), ITEM, SCHEMA).misses] == [DivergenceReason.SHAPE]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"url": "https://shop.example/gone"}, DivergenceReason.ADDRESS),
        ({"url": "https://shop.example/p/8"}, DivergenceReason.NOT_THE_ITEM),
        ({"status": 404}, DivergenceReason.STATUS),
        ({"present": frozenset()}, DivergenceReason.SIGNATURE),
        ({"visible": frozenset({"input[type=password]"})}, DivergenceReason.SIGNATURE),
        ({"lang": "de"}, DivergenceReason.SIGNATURE),
        ({"title": "Sale", "headings": ("Sale",)}, DivergenceReason.NOT_THE_ITEM),
        ({"busy": True}, DivergenceReason.LOADING),
        ({"ready": False}, DivergenceReason.LOADING),
    ],
)
def test_another_page_is_a_miss_before_anything_is_read(change: dict[str, Any], reason: DivergenceReason) -> None:
    read = read_page(replace(VIEW, **change), (BRANCH,), ITEM, SCHEMA)
    assert (read.record, read.branch) == (None, "")
    assert reason in [miss.reason for miss in read.misses]


def test_a_value_that_only_data_for_machines_state_needs_the_page_to_show_it() -> None:
    meta = FieldPlace(select="meta[name=price]", attribute="content")
    price = BRANCH.fields[1].model_copy(
        update={"channels": (Channel(family="json_ld", place=LD), Channel(family="meta", place=meta))}
    )
    branch = BRANCH.model_copy(update={"fields": (BRANCH.fields[0], price)})
    places = {**VIEW.places, place_key(meta): (Place("meta", "selector", kind="attribute", text="12.50"),)}
    assert read_page(replace(VIEW, places=places), (branch,), ITEM, SCHEMA).record is not None
    hidden = read_page(replace(VIEW, places=places, text="Oak stool €112.50"), (branch,), ITEM, SCHEMA)
    assert [miss.reason for miss in hidden.misses] == [DivergenceReason.NOT_SHOWN]


def test_a_field_that_was_the_same_everywhere_takes_no_other_value() -> None:
    price = BRANCH.fields[1].model_copy(update={"known": (9.0,)})
    branch = BRANCH.model_copy(update={"fields": (BRANCH.fields[0], price)})
    assert [miss.reason for miss in read_page(VIEW, (branch,), ITEM, SCHEMA).misses] == [DivergenceReason.DRIFT]


def test_a_record_is_held_to_the_schema() -> None:
    narrow = {**SCHEMA, "properties": {**SCHEMA["properties"], "price": {"type": "number", "maximum": 10}}}
    assert [miss.reason for miss in read_page(VIEW, (BRANCH,), ITEM, narrow).misses] == [DivergenceReason.SCHEMA]


def test_two_branches_that_read_a_page_differently_give_nothing() -> None:
    one = [Channel(family="css", place=CSS), Channel(family="structure", place=PATH)]
    other = [Channel(family="css", place=TITLE), Channel(family="structure", place=HEADING)]
    schema: Json = {"type": "object", "properties": {"what": {"type": "string"}}}

    def branch(name: str, channels: list[Channel]) -> Branch:
        field = FieldNode(name="what", channels=tuple(channels))
        return Branch(id=name, signature=Signature(url=""), fields=(field,))

    read = read_page(VIEW, (branch("a", one), branch("b", other)), ITEM, schema)
    assert (read.record, [miss.reason for miss in read.misses]) == (None, [DivergenceReason.CONTRADICTION])


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("€1,299.00", "€9.99"),
        ("1.299,00 €", "9,99 €"),
        ("1 299 Kč", "9_999 kč"),
        ("CHF 1’299.00", "chf 9.99"),
        ("In stock (22 available)", "in stock (9 available)"),
        ("x" * 81, ""),
    ],
)
def test_a_shape_keeps_units_and_notation(text: str, shape: str) -> None:
    assert shape_of(text, words=True) == shape


def test_a_number_of_thousands_is_like_one_below() -> None:
    assert fits_shape("9 g", ["9,999 g"])
    assert not fits_shape("9,999 g", ["9 g"])
    assert not fits_shape("€9", ["€9.99"])


@pytest.mark.parametrize(
    ("text", "raw", "held"),
    [
        ("Item 10", "Item 1", False),
        ("Item 1, blue", "item  1", True),
        ("€112.50", "12.50", False),
        ("12.505", "12.50", False),
        ("a 12.50.", "12.50", True),
    ],
)
def test_a_text_is_not_found_inside_of_another(text: str, raw: str, held: bool) -> None:
    assert holds_text(text, raw) is held


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("https://shop.example/p/9", True),
        ("https://shop.example/p/9/#x", True),
        ("https://shop.example/p/9/more", False),
        ("https://shop.example/p/", False),
    ],
)
def test_an_address_fits_its_template(url: str, fits: bool) -> None:
    assert fits_template(url, "https://shop.example/p/{}") is fits
