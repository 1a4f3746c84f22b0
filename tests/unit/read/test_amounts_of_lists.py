"""Amounts, codes and names that were given and were wrong: one page for each kind."""

from __future__ import annotations

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.policies.rules.fields.list_reading import page_list
from shoal.agent.read.schema import properties_of
from shoal.agent.support.json_value import Json
from tests.unit.read.pages import DAY, NUMBER, TEXT, URL, record_of, table_of

INTEGER = {"type": "integer"}
WOODS = ("Ash", "Birch", "Cedar", "Elm", "Fir")


def records(body: str, lang: str = "en", **fields: Json) -> list[Json]:
    """The records of a list page, as the schema asks for them."""
    page = page_from_html(f"<html lang={lang}><body>{body}".encode(), URL, charset="utf-8")
    schema = {"properties": fields, "required": [next(iter(fields))]}
    return [record.value for record in page_list(page, properties_of(schema), "", "2026-01-01T00:00:00Z").records]


def cards(*parts: str) -> str:
    return "".join(f"<div class=card><h3>{name} job</h3>{part}</div>" for name, part in zip(WOODS, parts, strict=False))


class TestAmountsOfMoney:
    PAY = ("£35,392 - £42,618 a year", "£12.40 an hour", "£28,000 a year", "Up to £55,000 a year")

    def test_a_text_has_the_whole_span_and_what_it_is_for(self):
        found = records(cards(*(f"<p class=salary>{pay}</p>" for pay in self.PAY)), title=TEXT, salary=TEXT)
        assert [record["salary"] for record in found] == list(self.PAY)

    def test_a_number_is_no_end_of_a_span_and_none_of_several(self):
        pay = ("£30 - £40", "£12 -5%", "£5 / £3", "£28")
        found = records(cards(*(f"<p class=price>{each}</p>" for each in pay)), title=TEXT, price=NUMBER)
        assert [record.get("price") for record in found] == [None, 12, None, 28]

    def test_an_end_of_a_span_is_only_what_the_page_calls_so(self):
        body = cards(*(f"<p class=salary>{pay}</p>" for pay in (*self.PAY[:1], *self.PAY)))
        found = records(body, title=TEXT, salary_min=NUMBER, salary_max=NUMBER)
        ends = [(record.get("salary_min"), record.get("salary_max")) for record in found]
        assert ends == [(35392, 42618), (35392, 42618), (None, 55000)]

    def test_the_estimate_is_no_bid(self):
        bids = ("£950", "No bids", "£520")
        body = cards(*(f"<span>Current bid</span> <b>{bid}</b> <i>Est. £150 - £250</i>" for bid in bids))
        found = records(body, title=TEXT, current_bid=NUMBER)
        assert [record.get("current_bid") for record in found] == [950, None, 520]

    def test_another_price_is_not_the_old_one(self):
        rows = (f"<p class=price>£{n}9.00</p><span>or £{n}.90/month</span>" for n in range(1, 6))
        found = records(cards(*rows), name=TEXT, price=NUMBER, old_price=NUMBER)
        assert [(record["price"], record.get("old_price")) for record in found] == [
            (n * 10 + 9, None) for n in range(1, 6)
        ]

    @pytest.mark.parametrize(("shown", "value"), [("£12.00", None), ("€12.00", 12)])
    def test_an_amount_of_another_currency_is_not_given(self, shown: str, value: Json):
        page = table_of("Name|Price", *(f"{name}|{shown}" for name in WOODS))
        assert [record.get("price_eur") for record in records(page, name=TEXT, price_eur=NUMBER)] == [value] * 5


@pytest.mark.parametrize(
    ("field", "shown", "value"),
    [
        ("wind_mph", "20 km/h", 12.4274238),
        ("speed_kmh", "30 mph", 48.28032),
        ("area_sqft", "92 m²", 990.279758),
        ("area_m2", "990 sq ft", 91.9740096),
        ("temp_c", "52 °F", 11.1111111),
        ("temp_c", "52°", None),
        ("age_years", "18 months", 1.5),
        ("model_year", "2004", 2004),
        ("rain_mm", "80%", None),
    ],
)
def test_a_unit_of_the_name_is_not_guessed(field: str, shown: str, value: Json):
    header = field.partition("_")[0].title()
    page = table_of(f"Name|{header}", *(f"{name}|{shown}" for name in WOODS))
    found = records(page, name=TEXT, **{field: NUMBER})
    assert [record.get(field) for record in found] == ([] if value is None and not found else [value] * 5)


class TestNamesAndCodes:
    def test_a_number_that_begins_a_title_is_counted_and_stays(self):
        body = "".join(
            f"<div class=home><h2>{n} bedroom flat in {name}ton</h2><p class=price>£{n}50,000</p></div>"
            for n, name in enumerate(WOODS, 1)
        )
        found = records(body, title=TEXT, price=NUMBER, bedrooms=INTEGER)
        assert found == [
            {"title": f"{n} bedroom flat in {name}ton", "price": n * 100_000 + 50_000, "bedrooms": n}
            for n, name in enumerate(WOODS, 1)
        ]

    def test_an_inverted_name_is_not_cut_at_its_comma(self):
        names = ("Woolf, Virginia, 1882-1941", "Lee, Hermione", "Bell, Quentin")
        body = "".join(f"<li><a href=/b/{n}>Book {name[:4]}</a><br>by {name}" for n, name in enumerate(names))
        found = records(f"<ul>{body}</ul>", title=TEXT, author=TEXT)
        assert [record["author"] for record in found] == ["Woolf, Virginia", "Lee, Hermione", "Bell, Quentin"]

    def test_the_number_of_a_row_is_no_code(self):
        body = "".join(
            f"<tr><td>{n}.<td><a href=/{n}>{name} song</a><br>Call number: 82{n % 2} {name}"
            for n, name in enumerate(WOODS, 1)
        )
        found = records(f"<table>{body}</table>", title=TEXT, call_number=TEXT)
        assert [record["call_number"] for record in found] == [f"82{n % 2} {name}" for n, name in enumerate(WOODS, 1)]

    def test_the_mark_of_a_note_is_no_part_of_a_value(self):
        body = (f"{name}<sup>[{n}]</sup>|{n}00<sup><a href=#n>a</a></sup>" for n, name in enumerate(WOODS, 1))
        found = records(table_of("City|People", *body), city=TEXT, people=INTEGER)
        assert found == [{"city": name, "people": n * 100} for n, name in enumerate(WOODS, 1)]

    def test_what_each_input_holds_at_first_is_no_value(self):
        page = table_of("Size|Price|Qty", *(f"{n} cm|£{n}|<input type=number value=1>" for n in (3, 4, 5)))
        found = records(page, size=TEXT, price=NUMBER, quantity=INTEGER)
        assert found == [{"size": f"{n} cm", "price": n} for n in (3, 4, 5)]

    def test_a_price_behind_a_dish_is_no_description(self):
        body = "".join(
            f"<p><strong>{name} pie</strong> ...... £{n}.00<br><em>With peas</em>" for n, name in enumerate(WOODS, 3)
        )
        found = records(body, dish=TEXT, price=NUMBER, description=TEXT)
        assert all("£" not in str(record.get("description")) for record in found)


class TestOneRecord:
    @pytest.mark.parametrize(
        ("shown", "value"),
        [
            ("£35,392 - £42,618 a year", {"salary_min": 35392}),
            ("£50k–60k", {"salary_min": 50000}),
            ("Up to £55,000", {}),
            ("From £30,000", {"salary_min": 30000, "salary": 30000}),
            ("€ 40.000 – 50.000", {"salary_min": 40000}),
            ("Competitive", {}),
        ],
    )
    def test_has_the_end_of_a_span_that_it_asks_for(self, shown: str, value: dict[str, Json]):
        page = f"<h1>Nurse</h1><dl><dt>Salary</dt><dd>{shown}</dd><dt>Place</dt><dd>Ayton</dd></dl>"
        assert record_of(page, salary_min=NUMBER, salary=NUMBER).value == value

    def test_has_no_end_of_a_span_that_structured_data_state(self):
        pay = '{"@type": "QuantitativeValue", "minValue": 30000, "maxValue": 40000, "unitText": "YEAR"}'
        node = (
            f'{{"@type": "JobPosting", "title": "Nurse", "baseSalary": {{"@type": "MonetaryAmount", "value": {pay}}}}}'
        )
        page = f'<script type="application/ld+json">{node}</script><h1>Nurse</h1>'
        assert record_of(page, title=TEXT, salary=NUMBER).value == {"title": "Nurse"}

    def test_has_not_the_day_of_another_event(self):
        page = "<title>On leeks</title><h1>On leeks</h1><p>Received 1 March 2025; accepted 2 June 2025</p><p>" + (
            "Leeks are long, and this is what they are studied for. " * 20
        )
        assert "published" not in record_of(page, title=TEXT, published=DAY).value

    def test_has_no_words_for_nobody(self):
        page = "<h1>Crash</h1><h3>Assignee</h3><p>No one assigned</p>"
        assert record_of(page, title=TEXT, assignee=TEXT).value == {"title": "Crash"}
