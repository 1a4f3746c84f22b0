"""Observations as text, JSON and painted images."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from shoal.agent.observe.letters import lettered, letters
from shoal.agent.observe.marks import Ink, marked_elements, paint_marks, place_marks
from shoal.agent.observe.renderings import FORMATS, compact, render
from shoal.agent.observe.tree import clickable_elements, element_tree, find_element, focused_bid, omitted, read_walk
from shoal.agent.types import Box, DialogSeen, Element, Observation, TabInfo

LINK = ["a", 2, "link", "terms", "", {"href": "/t"}, 0, 0, [5, 30, 40, 10], 7, []]
SELECT = ["select", 3, "combobox", "Size", "", {"value": "M"}, [["S", "s", 0], ["M", "m", 1]], 16, [0, 50, 9, 9], 7, []]
BUTTON = ["button", 6, "button", "Buy", "", 0, 0, 2, [0, 900, 9, 9], 5, []]
WALK = {
    "tree": [
        ["h1", 1, "heading", "Shop", "", 0, 0, 0, [0, 0, 100, 20], 3, []],
        ["p", 0, "paragraph", "", "", 0, 0, 0, 0, 1, ["See", LINK]],
        SELECT,
        ["iframe", 4, "frame", "pay", "a", 0, [10, 110, 1], 0, [10, 110, 200, 100], 11],
        ["table", 5, "table", "", "", 0, 0, 0, [0, 0, 1, 1], 3, [
            ["tr", 0, "row", "", "", 0, 0, 0, 0, 1, [
                ["td", 0, "cell", "", "red", 0, 0, 0, 0, 1, []],
                ["td", 0, "cell", "", "", 0, 0, 0, 0, 1, [BUTTON]],
            ]],
        ]],
    ],
    "title": "The shop", "url": "https://example.com/", "focus": 4, "omitted": 2,
}  # fmt: skip
INNER = {
    "tree": [["input", 7, "textbox", "Card", "", {"placeholder": "0000"}, 0, 64, [1, 2, 50, 10], 7, []]],
    "title": "", "url": "", "focus": 7, "omitted": 1,
}  # fmt: skip


def page() -> Observation:
    walk = read_walk(json.dumps(WALK))
    (spot,) = walk.frames
    inner = read_walk(json.dumps(INNER), prefix=spot.letter, left=spot.left, top=spot.top)
    walk.inner = {spot.element_id: inner}
    return Observation(
        url="https://example.com/",
        title="The shop",
        elements=element_tree(walk),
        focused=focused_bid(walk),
        omitted=omitted(walk),
        viewport=(800, 600),
        page_size=(800, 2000),
    )


def test_frames_stand_in_their_places_with_prefixed_ids_and_shifted_boxes() -> None:
    card = find_element(page().elements, "a7")
    assert card is not None
    assert card.box == Box(11, 112, 50, 10)
    assert card.states == {"focused"}
    assert page().focused == "a7"
    assert page().omitted == 3


def test_a_cell_that_takes_clicks_keeps_its_id_in_a_row_that_lays_out_a_page() -> None:
    inner = Element(
        "", "table", "table", children=(Element("", "tr", "row", children=(Element("", "td", "cell", text="1"),)),)
    )
    cell = Element("4", "td", "cell", name="Open", clickable=True, children=(inner,))
    page = Element("", "body", children=(Element("", "tr", "row", children=(cell,)),))
    assert render(Observation("https://a.example/", "A", page), "text").splitlines()[-2:] == ['[4 cell "Open"]', "1"]


def test_compact_text_keeps_lines_rows_and_ids() -> None:
    assert compact(page().elements, omitted=page().omitted).splitlines() == [
        "# Shop",
        'See [2 link "terms"]',
        '[3 combobox "Size" ="M" options: S | M required]',
        "--- frame pay",
        "[a7 textbox \"Card\" placeholder='0000' focused]",
        "---",
        'red | [6 button "Buy" disabled offscreen]',
        "… 3 more not shown; scroll, or ask for the next part",
    ]


def test_a_budget_cuts_whole_lines_and_says_how_much() -> None:
    text = compact(page().elements, max_chars=40)
    assert text.splitlines()[:2] == ["# Shop", 'See [2 link "terms"]']
    assert text.splitlines()[2].startswith("… ")


@pytest.mark.parametrize("format", FORMATS)
def test_every_rendering_names_every_element_that_can_be_acted_on(format: str) -> None:
    seen = page()
    text = render(seen, format)  # type: ignore[arg-type]
    for element in clickable_elements(seen.elements):
        assert element.bid in text
        assert element.name in text


def test_json_is_json_and_images_are_text() -> None:
    said = json.loads(render(replace(page(), screenshot=b"\xff\xd8"), "json"))
    assert said["screenshot"] == "/9g="
    assert said["elements"]["children"][0] == {
        "tag": "h1",
        "bid": "1",
        "role": "heading",
        "name": "Shop",
        "box": {"x": 0, "y": 0, "width": 100, "height": 20},
    }


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="'pdf'"):
        render(page(), "pdf")  # type: ignore[arg-type]


def test_what_happened_since_stands_above_the_page() -> None:
    seen = replace(
        page(),
        tabs=(TabInfo("u1", "one"), TabInfo("u2", "")),
        active_tab=1,
        dialogs=(DialogSeen("confirm", "Sure?", "accepted"),),
        last_error="there is no element 9",
    )
    head = render(seen).split("\n\n")[0]
    assert "0: one, *1: u2" in head
    assert "dialog (confirm, accepted): Sure?" in head
    assert "the last action failed: there is no element 9" in head


def test_html_escapes_what_the_page_says() -> None:
    element = Element("1", "button", role="button", name='"<script>', clickable=True)
    text = render(replace(page(), elements=Element("", "body", children=(element,))), "html")
    assert "<script>" not in text


# --- marks -------------------------------------------------------------------------------------------------

boxes = st.builds(Box, st.integers(-20, 780), st.integers(-20, 580), st.integers(1, 200), st.integers(1, 60))


def elements_at(places: list[Box]) -> list[Element]:
    return [Element(str(i), "button", box=box, clickable=True) for i, box in enumerate(places, 1)]


@given(st.lists(boxes, max_size=60))
def test_labels_stay_on_the_image(places: list[Box]) -> None:
    marks = place_marks(elements_at(places), (800, 600), 1.0)
    assert len(marks) == len(places)
    for mark in marks:
        left, top, right, bottom = mark.label
        assert 0 <= left < right <= 800
        assert 0 <= top < bottom <= 600


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_labels_of_a_toolbar_and_of_a_list_do_not_cover_each_other(scale: float) -> None:
    toolbar = [Box(10 + 40 * i, 100, 36, 36) for i in range(18)]
    rows = [Box(20, 200 + 24 * i, 300, 20) for i in range(15)]
    marks = place_marks(elements_at(toolbar + rows), (int(800 * scale), int(600 * scale)), scale)
    labels = [mark.label for mark in marks]
    for i, a in enumerate(labels):
        for b in labels[i + 1 :]:
            assert min(a[2], b[2]) <= max(a[0], b[0]) or min(a[3], b[3]) <= max(a[1], b[1])


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_label_does_not_hide_a_small_box_between_large_ones(scale: float) -> None:
    large = [Box(8, 148, 1264, 18), Box(8, 185, 1264, 18)]
    small = [Box(12, 169, 13, 13), Box(33, 169, 13, 13), Box(53, 167, 41, 17)]
    marks = place_marks(elements_at(large + small), (int(1280 * scale), int(800 * scale)), scale)
    for box in (mark.box for mark in marks[2:]):
        for label in (mark.label for mark in marks):
            width = max(0.0, min(box[2], label[2]) - max(box[0], label[0]))
            height = max(0.0, min(box[3], label[3]) - max(box[1], label[1]))
            assert width * height < 0.3 * (box[2] - box[0]) * (box[3] - box[1])


def test_labels_leave_writing_beside_a_field_readable() -> None:
    picture = Image.new("RGB", (800, 600), "white")
    pen = ImageDraw.Draw(picture)
    pen.text((100, 84), "Full name", fill="black", font_size=14)  # the caption right above the field
    pen.text((100, 132), "as in your passport", fill="black", font_size=14)  # a hint right below it
    field = Box(100, 100, 200, 30)
    (without,) = place_marks(elements_at([field]), picture.size, 1.0)
    (mark,) = place_marks(elements_at([field]), picture.size, 1.0, Ink(picture))
    ink = Ink(picture)
    assert ink.under(without.label) > 0
    assert ink.under(mark.label) == 0


@pytest.mark.parametrize("background", ["white", "black"])
def test_marks_are_painted_on_the_image(background: str) -> None:
    plain = io.BytesIO()
    Image.new("RGB", (1600, 1200), background).save(plain, "JPEG")
    painted = Image.open(io.BytesIO(paint_marks(plain.getvalue(), elements_at([Box(100, 100, 80, 30)]), (800, 600))))
    assert painted.size == (1600, 1200)
    colours = painted.convert("RGB").crop((195, 195, 365, 265)).getcolors(1_000_000)
    assert colours is not None
    assert any(red > 120 and green < 90 for _, (red, green, _) in colours)  # the box, in image pixels


def test_only_what_can_be_pointed_at_gets_a_mark() -> None:
    seen = Element("1", "a", box=Box(0, 0, 50, 50), clickable=True)
    others = [
        replace(seen, box=None),
        replace(seen, box=Box(0, 0, 2, 2)),
        replace(seen, box=Box(900, 0, 50, 50)),
        replace(seen, in_viewport=False),
        replace(seen, clickable=False),
    ]
    assert marked_elements([seen, *others], (800, 600)) == [seen]


# --- letters -----------------------------------------------------------------------------------------------


def test_choices_are_listed_under_their_letters() -> None:
    lines = render(page(), "choices").splitlines()
    assert [line[:3] for line in lines] == ["A. ", "B. ", "C. ", "D. "]


def test_text_that_was_cut_is_said() -> None:
    assert "some not shown" in render(replace(page(), cut=True, omitted=0))
    assert "some not shown" not in render(page())


def test_a_text_that_is_longer_than_what_may_be_said_is_begun() -> None:
    long = Element("", "body", children=(Element("", "#text", text="word " * 1000),))
    text = compact(long, max_chars=100)
    assert text.splitlines() == [("word " * 1000)[:98] + "…", "… 1 more not shown; scroll, or ask for the next part"]


def test_letters_go_on_after_z() -> None:
    several = letters()
    found = [next(several) for _ in range(703)]
    assert found[25:28] == ["Z", "AA", "AB"]
    assert found[702] == "AAA"
    assert list(lettered(clickable_elements(page().elements))) == ["A", "B", "C", "D"]


@pytest.mark.parametrize(
    ("name", "title", "shown"),
    [
        ("F3", "View the file", """[1 button "F3" title='View the file']"""),
        ("B", "B", '[1 button "B"]'),
        ("View", "View the file", '[1 button "View"]'),
    ],
)
def test_a_title_says_what_a_letter_or_a_key_is_for(name: str, title: str, shown: str) -> None:
    button = Element("1", "button", "button", name, attributes={"title": title}, clickable=True, in_viewport=True)
    assert compact(button).strip() == shown
