"""Kinds of pages on which values of a record were wrong: lists of values, values of other places, days, amounts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.types import Reason
from tests.unit.read.pages import ADDRESS, DAY, LINES, NUMBER, TEXT, record_of


def soup(shown: str, **stated: Any) -> str:
    """A recipe's page, with what structured data state of it."""
    node = json.dumps({"@type": "Recipe", "name": "Leek soup", **stated})
    return (f'<script type="application/ld+json">{node}</script>' if stated else "") + "<h1>Leek soup</h1>" + shown


def items(*entries: str) -> str:
    return f"<ul>{''.join(f'<li>{entry}</li>' for entry in entries)}</ul>"


SHOWN = "<h2>Ingredients</h2>"


class TestAListOfValues:
    @pytest.mark.parametrize(
        ("shown", "entries"),
        [
            (items("2 leeks", "1 potato, peeled", "salt, pepper, and oil"), None),
            (items('<a href="/leek">2 leeks</a><button>Add</button>', "1 potato"), ["2 leeks", "1 potato"]),
            ("<button>Print</button>" + items("2 leeks", "1 potato"), ["2 leeks", "1 potato"]),
            (
                items('<a href="https://a.example/l">2 leeks</a>', '<a href="https://a.example/p">1 potato</a>'),
                ["2 leeks", "1 potato"],
            ),
            (items("1 egg", "salt", "2 leeks", "salt"), ["1 egg", "salt", "2 leeks", "salt"]),
            ("<p>2 leeks<br>1 potato, peeled<br>salt</p>", ["2 leeks", "1 potato, peeled", "salt"]),
            ("<p>Leeks, potatoes, sea salt</p>", ["Leeks", "potatoes", "sea salt"]),
            (items(*(f"{number} spoons of spice {number}" for number in range(1, 61))), None),
        ],
        ids=["commas", "button in an entry", "button", "links elsewhere", "twice", "lines", "words", "sixty"],
    )
    def test_is_read_from_under_its_heading(self, shown: str, entries: list[str] | None) -> None:
        found = record_of(soup(SHOWN + shown), ingredients=LINES)
        plain = shown.removeprefix("<ul><li>").removesuffix("</li></ul>").split("</li><li>")
        assert found.value == {"ingredients": entries or plain}
        assert found.sources["ingredients"].confirmed

    @pytest.mark.parametrize("name", ["<h3>For the {}</h3>", "<p>For the {}:</p>"])
    def test_has_all_its_groups_and_not_their_names(self, name: str) -> None:
        groups = name.format("soup") + items("2 leeks", "1 potato") + name.format("top") + items("1 onion", "2 eggs")
        shown = SHOWN + groups + "<h2>Comments</h2>" + items("Great soup")
        assert record_of(soup(shown), ingredients=LINES).value == {
            "ingredients": ["2 leeks", "1 potato", "1 onion", "2 eggs"]
        }

    def test_ends_at_the_next_heading_where_no_group_is_named(self) -> None:
        shown = SHOWN + items("2 leeks", "1 potato") + "<h3>Notes</h3>" + items("Wash the leeks")
        assert record_of(soup(shown), ingredients=LINES).value == {"ingredients": ["2 leeks", "1 potato"]}

    @pytest.mark.parametrize(
        "text",
        [
            "2 leeks, 1 potato, peeled, and salt",
            "1 potato, peeled",
            "12 Main Street, Springfield, IL 62701",
            "Main Street 12, 10115 Berlin",
            "March 4, 2024",
        ],
    )
    def test_is_doubted_where_one_text_may_hold_several_entries(self, text: str) -> None:
        found = record_of(soup(f"{SHOWN}<p>{text}</p>"), ingredients=LINES)
        assert found.value == {}
        assert found.candidates["ingredients"][0].why == Reason.AMBIGUOUS

    @pytest.mark.parametrize(
        "text",
        ["36, 37, 38", "36,5, 37, 38,5", "mp3, mp4, ogg", "vegan, quick, 30 minutes", "5 GB | 10 GB", "vegan, quick"],
    )
    def test_may_stand_in_one_line_with_figures(self, text: str) -> None:
        page = f"<h1>Leek soup</h1><dl><dt>Tags</dt><dd>{text}</dd></dl>"
        sign = " | " if "|" in text else ", "
        assert record_of(page, tags=LINES).value == {"tags": text.split(sign)}

    @pytest.mark.parametrize("entries", [("win", "win"), ("1", "0", "1", "0"), ("win", "loss", "win")])
    def test_may_hold_an_entry_twice(self, entries: tuple[str, ...]) -> None:
        once = "<dl><dt>Results</dt>" + "".join(f"<dd>{entry}</dd>" for entry in entries) + "</dl>"
        for page in (once, f"<main><div>{once}</div><section>{once}</section></main>"):
            assert record_of(f"<h1>Ayton</h1>{page}", results=LINES).value == {"results": list(entries)}

    @pytest.mark.parametrize(
        "stated", [["2 leeks, 1 potato, salt"], "2 leeks 1 potato salt"], ids=["commas", "a sentence"]
    )
    def test_is_the_shown_one_where_structured_data_hold_it_in_one_text(self, stated: Any) -> None:
        shown = SHOWN + items("2 leeks", "1 potato", "salt")
        found = record_of(soup(shown, recipeIngredient=stated), ingredients=LINES)
        assert found.value == {"ingredients": ["2 leeks", "1 potato", "salt"]}

    def test_of_long_steps_is_whole(self) -> None:
        steps = [f"Step {number}: {'stir ' * 90}".strip() for number in range(1, 12)]
        shown = "<h2>Instructions</h2>" + items(*steps)
        assert record_of(soup(shown), instructions=LINES).value == {"instructions": steps}

    def test_whose_entries_hold_their_own_text_again_has_each_once(self) -> None:
        shown = "".join(
            f'<p class="ingredient"><b class="ingredient">{each}</b></p>' for each in ("leek", "egg", "leek")
        )
        assert record_of(soup(shown), ingredients=LINES).value == {"ingredients": ["leek", "egg", "leek"]}


class TestAValueOfAnotherPlace:
    @pytest.mark.parametrize(
        "shown",
        [
            '<form><label>Rating <input type="number" name="rating" value="0"></label><input name="title"></form>',
            '<div class="rating" data-rating="0"></div>',
        ],
    )
    def test_an_input_that_waits_for_a_rating_is_none(self, shown: str) -> None:
        assert record_of(soup(shown), rating=NUMBER).value == {}

    def test_a_rating_of_nothing_in_structured_data_is_none(self) -> None:
        page = soup("", aggregateRating={"ratingValue": 0, "reviewCount": 0})
        assert record_of(page, title=TEXT, rating=NUMBER).value == {"title": "Leek soup"}

    @pytest.mark.parametrize(
        "beside",
        [
            '<form id="commentform"><label for="author">Author</label><input id="author" value="Jane">'
            "<label>Name <input></label></form>",
            '<div class="comments"><div class="comment"><span class="author">Jane Doe</span><p>Nice</p></div></div>',
        ],
        ids=["form", "comment"],
    )
    def test_an_author_of_comments_is_not_the_authors_name(self, beside: str) -> None:
        assert record_of(soup(f"<p>A soup of leeks for the winter.</p>{beside}"), author=TEXT).value == {}

    @pytest.mark.parametrize(
        "stand_in", ["data:image/gif;base64,R0lGODlhAQABAAAAACw=", "/img/blank.gif", "/assets/lazy-placeholder.svg"]
    )
    def test_a_picture_that_is_loaded_late_is_the_late_one(self, stand_in: str) -> None:
        late = f'<img class="image" alt="Leek soup" src="{stand_in}" data-src="/soup.jpg">'
        assert record_of(soup(late), image=ADDRESS).value == {"image": "https://site.example/soup.jpg"}
        for page in (soup(late.replace("data-src", "data-x")), soup("", image=stand_in)):
            assert "image" not in record_of(page, title=TEXT, image=ADDRESS).value

    @pytest.mark.parametrize(
        ("file", "stands_in"),
        [
            *((name, True) for name in ("blank.gif", "pixel-1x1.gif", "lazy-placeholder.svg", "spacer.gif", "1x1.png")),
            *(
                (name, True)
                for name in ("a/placeholder", "placeholder_40x30.png", "image-placeholder.png", "loading.gif?v=3")
            ),
            *((name, False) for name in ("google-pixel-8.jpg", "pixel-8.jpg", "transparent-case.jpg", "image-2.jpg")),
            *((name, False) for name in ("blank-canvas-a4.jpg", "wheel-loader.jpg", "loading-ramp.jpg", "40x30.jpg")),
            *((name, False) for name in ("lazy-lounge-chair.png", "soup.jpg", "blank/soup.jpg")),
        ],
    )
    def test_a_file_that_is_called_by_nothing_else_stands_for_a_picture(self, file: str, stands_in: bool) -> None:
        page = soup("", image=f"https://site.example/{file}")
        assert ("image" not in record_of(page, title=TEXT, image=ADDRESS).value) == stands_in

    @pytest.mark.parametrize("shown", ["<p>SKU: Default Title</p>", '<div class="sku">Default Title</div>'])
    def test_words_are_no_code(self, shown: str) -> None:
        assert record_of(f"<h1>Blue mug</h1>{shown}", name=TEXT, sku=TEXT).value == {"name": "Blue mug"}

    def test_a_number_that_a_text_mentions_is_not_the_one_of_its_heading(self) -> None:
        notes = "Serves one. Blend in 1 cup of frozen berries, and add some honey to bear out their sweetness."
        assert record_of(soup(f"<div><h3>Notes</h3><p>{notes}</p></div>"), rating=NUMBER).value == {}

    def test_a_label_may_have_the_sites_name_in_front(self) -> None:
        shown = "<div>Site item number:</div><div id=descItemNumber>302474151804</div>"
        assert record_of(f"<h1>Blue mug</h1><div>{shown}</div>", sku=TEXT).value == {"sku": "302474151804"}

    @pytest.mark.parametrize(("code", "given"), [("pages/1", True), ("88123-4", False)])
    def test_a_code_that_the_page_does_not_show_is_borne_out_by_its_address(self, code: str, given: bool) -> None:
        assert ("sku" in record_of(soup("", **{"@type": "Product", "sku": code}), name=TEXT, sku=TEXT).value) == given

    def test_a_shown_code_is_the_value_beside_one_of_the_address(self) -> None:
        page = soup("<p>Item number: 88123-4</p>", **{"@type": "Product", "sku": "pages/1"})
        assert record_of(page, name=TEXT, sku=TEXT).value["sku"] == "88123-4"

    def test_a_makers_number_is_not_the_shops(self) -> None:
        rows = "<tr><th>Model number</th><td>QB737</td></tr><tr><th>Item number</th><td>8812-3</td></tr>"
        assert record_of(f"<h1>Blue mug</h1><table>{rows}</table>", sku=TEXT).value == {"sku": "8812-3"}

    def test_the_number_of_a_heading_is_no_text(self) -> None:
        page = "<title>Quote 12</title><h1>Quote 12</h1><p>The night train left at ten.</p>"
        assert record_of(page, quote=TEXT).value == {}
        assert record_of("<h1>Version 3.11</h1><p>The night train.</p>", version=TEXT).value == {"version": "3.11"}

    def test_the_class_of_a_hotel_in_stars_is_not_the_rating_in_figures(self) -> None:
        stars = "<div class=stars aria-label='4 stars'>★★★★</div>"
        assert record_of(f"<h1>Sun</h1>{stars}<p>Guest rating: 8.6</p>", rating=NUMBER).value == {}
        assert record_of(f"<h1>Sun</h1>{stars}<p>Rating: 4.4</p>", rating=NUMBER).value == {"rating": 4.4}
        assert record_of(f"<h1>Sun</h1>{stars}", rating=NUMBER).value == {"rating": 4}

    @pytest.mark.parametrize("number", ["<span>#123</span>", "<a href=/n/123>(#123)</a>"])
    def test_a_number_behind_a_heading_is_no_part_of_it(self, number: str) -> None:
        page = f"<h1><bdi>Wheel falls off</bdi> {number}</h1><p>Opened by Ann</p>"
        assert record_of(page, title=TEXT).value == {"title": "Wheel falls off"}
        assert record_of("<h1>Symphony #5</h1>", title=TEXT).value == {"title": "Symphony #5"}

    def test_who_is_followed_in_a_network_is_no_author(self) -> None:
        byline = "<p class=author-byline>By <a href=/ada>Ada Quill</a></p><p class=authors>Follow @adaquill</p>"
        assert record_of(f"<h1>Night trains</h1>{byline}", author=TEXT).value == {"author": "Ada Quill"}

    def test_a_price_of_nothing_in_a_control_is_none(self) -> None:
        form = '<form><input name="price" value="0"><input name="amount" value="1"></form>'
        assert record_of(f"<h1>Blue mug</h1>{form}", name=TEXT, price=NUMBER).value == {"name": "Blue mug"}

    def test_a_price_that_is_struck_out_by_its_class_is_not_the_price(self) -> None:
        node = {"@type": "Product", "name": "Blue mug", "offers": {"price": "20.00", "priceCurrency": "EUR"}}
        shown = '<p class="price"><span class="old-price">€20.00</span> <span class="new-price">€15.00</span></p>'
        page = f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Blue mug</h1>{shown}'
        found = record_of(page, name=TEXT, price=NUMBER)
        assert found.value == {"name": "Blue mug", "price": 15}
        assert not found.sources["price"].confirmed

    @pytest.mark.parametrize(("tag", "confirmed"), [("s", False), ("b", True)])
    def test_a_value_that_is_only_shown_struck_out_is_not_confirmed(self, tag: str, confirmed: bool) -> None:
        node = {"@type": "Product", "name": "Blue mug", "material": "Red clay"}
        page = f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Blue mug</h1>'
        found = record_of(f"{page}<p>Made of <{tag}>Red clay</{tag}> by hand</p>", name=TEXT, material=TEXT)
        assert found.sources["material"].confirmed is confirmed

    def test_a_list_that_the_page_does_not_show_is_not_confirmed(self) -> None:
        page = soup("<p>The recipe is loaded.</p>", recipeIngredient=["2 leeks", "1 potato", "1 egg"])
        found = record_of(page, ingredients=LINES)
        assert found.value == {"ingredients": ["2 leeks", "1 potato", "1 egg"]}
        assert not found.sources["ingredients"].confirmed

    def test_a_weight_without_a_unit_is_not_confirmed(self) -> None:
        asked = {"type": "number", "description": "in grams"}
        page = "<h1>Blue mug</h1><table><tr><th>Weight</th><td>{}</td></tr></table>"
        assert record_of(page.format("12 kg"), weight=asked).sources["weight"].confirmed
        found = record_of(page.format("12"), weight=asked)
        assert found.value == {"weight": 12}
        assert not found.sources["weight"].confirmed

    def test_a_weight_that_data_state_without_a_unit_is_not_given(self) -> None:
        node = {"@type": "Product", "name": "Blue mug", "weight": "12"}
        page = f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Blue mug</h1>'
        asked = {"type": "number", "description": "in grams"}
        assert record_of(page, name=TEXT, weight=asked).value == {"name": "Blue mug"}

    def test_the_unit_of_a_label_is_the_values(self) -> None:
        page = "<h1>Blue mug</h1><table><tr><th>Weight (kg)</th><td>1.2</td></tr></table>"
        asked = {"type": "number", "description": "in grams"}
        assert record_of(page, weight=asked).value == {"weight": 1200}


class TestASpan:
    @pytest.mark.parametrize("pay", ["£50k-60k", "£50,000 - £60,000", "50.000 – 60.000 €"])
    @pytest.mark.parametrize("line", ["<p class=salary>{}</p>", "<dl><dt>Salary<dd>{}</dl>"])
    def test_states_both_its_ends(self, line: str, pay: str) -> None:
        page = f"<h1>Engineer</h1>{line.format(pay)}"
        assert record_of(page, salary_min=NUMBER, salary_max=NUMBER).value == {"salary_min": 50000, "salary_max": 60000}

    def test_is_no_single_amount(self) -> None:
        assert record_of("<h1>Engineer</h1><p>Salary: £50,000</p>", salary_max=NUMBER).value == {}


class TestAQuotation:
    @pytest.mark.parametrize(
        ("shown", "author"),
        [
            ("<blockquote>We left at ten. <footer>— <cite>Ada Quill</cite></footer></blockquote>", "Ada Quill"),
            ("<figure><blockquote>We left.</blockquote><figcaption><cite>Ada</cite></figcaption></figure>", "Ada"),
            ("<p>We left at ten, as <cite>The Night Train</cite> says.</p>", None),
        ],
    )
    def test_names_its_author_and_a_work_is_none(self, shown: str, author: str | None) -> None:
        assert record_of(f"<h1>Trains</h1>{shown}", author=TEXT).value.get("author") == author


class TestALongText:
    LONG = " ".join(f"Sentence {number} says that the mug is blue and holds tea." for number in range(160))

    @pytest.mark.parametrize(
        "shown",
        [
            '<div class="description">{}</div>',
            "<h2>Description</h2><p>{}</p>",
            "<table><tr><th>Description</th><td>{}</td></tr><tr><th>SKU</th><td>A-1</td></tr></table>",
            '<form><label>Description <textarea name="description">{}</textarea></label><input name="x"></form>',
        ],
        ids=["class", "heading", "table", "form"],
    )
    def test_is_whole(self, shown: str) -> None:
        assert record_of(f"<h1>Blue mug</h1>{shown.format(self.LONG)}", description=TEXT).value == {
            "description": self.LONG
        }

    def test_that_is_too_long_leaves_no_part_of_a_section_as_its_value(self) -> None:
        page = f"<h1>Blue mug</h1><h2>Description</h2><p>Short.</p><p>{self.LONG * 3}</p>"
        assert record_of(page, description=TEXT).value == {}


class TestADay:
    def test_that_is_shown_beside_its_name_is_the_day_of_its_own_zone(self) -> None:
        node = {"@type": "Article", "headline": "Leek soup", "datePublished": "2024-03-02T03:10:00Z"}
        page = (
            f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Leek soup</h1>'
            '<p>Date: <time datetime="2024-03-01">March 1, 2024</time></p>'
        )
        found = record_of(page, title=TEXT, date=DAY)
        assert found.value["date"] == "2024-03-01"
        assert not found.sources["date"].confirmed


@pytest.mark.parametrize(
    ("stated", "price"), [("1.299,00 €", 1299), ("$ .99", 0.99), ("1⅛", 1.125), ("from 10 to 12", None), ("7.50", 7.5)]
)
def test_amounts_of_structured_data_are_read_as_shown_ones_are(stated: str, price: float | None) -> None:
    node = {"@type": "Product", "name": "Blue mug", "offers": {"price": stated, "priceCurrency": "EUR"}}
    page = f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Blue mug</h1>'
    assert record_of(page, name=TEXT, price=NUMBER).value.get("price") == price


def test_main_text_is_read_of_pages_for_people_and_not_of_a_thousand_levels():
    """The library that reads main texts took 13 s of a page with 1,000 nested blocks."""
    text = "".join(f"<p>{sentence} {sentence}</p>" for sentence in ("Ash trees grow by the river all year long.",) * 9)
    page = "<html><body>{}<h1>Trees</h1>" + text + "</body></html>"
    assert "body" in record_of(page.format("<div>" * 40), title=TEXT, author=TEXT, body=TEXT).value
    assert "body" in record_of(page.format("<div>" * 400), title=TEXT, author=TEXT, body=TEXT).missing
