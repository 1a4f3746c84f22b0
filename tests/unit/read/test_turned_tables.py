"""Tables whose records are no rows: columns, or parts of rows under headers that come again."""

from __future__ import annotations

import pytest

from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, list_of, rows, table_of

PLANS = ("Basic", "Team", "Business")
ROWS = ("Price|$9|$29|$99", "Users|1|10|50", "Support|Email|Chat|Phone")


class TestColumns:
    @pytest.mark.parametrize("corner", ["", "Plan", "Feature"])
    def test_that_rows_call_as_the_fields_are_records(self, corner: str):
        reading = list_of(table_of("|".join((corner, *PLANS)), *ROWS), plan=TEXT, price=NUMBER, support=TEXT)
        assert rows(reading) == [
            {"plan": plan, "price": price, "support": support}
            for plan, price, support in zip(PLANS, ("$9", "$29", "$99"), ("Email", "Chat", "Phone"), strict=True)
        ]
        assert reading.left_out == ""

    def test_without_a_header_need_an_empty_corner(self):
        body = ("|Ash fair|Elm fair", "Date|1 March 2026|2 April 2026", "Venue|Hall|Barn")
        page = "<table>" + "".join("<tr><td>" + row.replace("|", "<td>") for row in body) + "</table>"
        assert rows(list_of(page, event=TEXT, date=DAY, venue=TEXT)) == [
            {"event": "Ash fair", "date": "2026-03-01", "venue": "Hall"},
            {"event": "Elm fair", "date": "2026-04-02", "venue": "Barn"},
        ]

    def test_of_notes_beside_values_are_none(self):
        body = ("Price|$9|a month", "Users|1|at most", "Support|Email|in 3 days")
        page = "<table>" + "".join("<tr><td>" + row.replace("|", "<td>") for row in body) + "</table>"
        assert not list_of(page, plan=TEXT, price=NUMBER, users=NUMBER, support=TEXT).records

    def test_of_a_table_that_explains_fields_are_none(self):
        body = ("name|string|The whole of it", "type|enum|The kind of it", "price|number|All that it costs")
        page = table_of("Field|Type|Description", *body)
        assert not list_of(page, name=TEXT, price=NUMBER).records
        assert [row["field"] for row in rows(list_of(page, field=TEXT, type=TEXT))] == ["name", "type", "price"]


class TestPartsOfRows:
    PAGE = table_of(
        "Name|Price|Name|Price",
        *(f"<a href=/{a}>{a}</a>|£{n}|{b and f'<a href=/{b}>{b}</a>'}|{b and f'£1{n}'}" for n, (a, b) in
          enumerate((("Ash", "Elm"), ("Birch", "Fir"), ("Cedar", "")), 1)),
    )  # fmt: skip

    def test_under_headers_that_come_again_are_records(self):
        reading = list_of(self.PAGE, name=TEXT, price=NUMBER, url=ADDRESS)
        assert rows(reading) == [
            {"name": name, "price": price, "url": f"https://site.example/{name}"}
            for name, price in (("Ash", "£1"), ("Elm", "£11"), ("Birch", "£2"), ("Fir", "£12"), ("Cedar", "£3"))
        ]
        assert reading.left_out == ""

    def test_are_none_where_the_fields_ask_for_both_parts(self):
        page = table_of("Team|Goals|Team|Goals", "Leeds|2|York|1", "Hull|0|Selby|0", "Deal|3|Bexley|1")
        assert not list_of(page, home_team=TEXT, away_team=TEXT).records
