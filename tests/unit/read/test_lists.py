"""The records of a list: runs of alike parts, whatever their tags, and values by type and words."""

from __future__ import annotations

import time

import pytest

from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, list_of, rows

NAMES = ("Ash v. Birch", "Cedar v. Elm", "Fir v. Hazel", "Larch v. Maple", "Oak v. Pine")
CASE = {"type": "string", "description": "the parties, such as Smith v. Jones"}
DOCKET = {"type": "string", "description": "the court's number of the case"}
FILED = {**DAY, "description": "day the opinion was filed"}
PDF = {**ADDRESS, "description": "link to the opinion (PDF)"}
FIELDS = {"case_name": CASE, "date_filed": FILED, "docket_number": DOCKET, "url": PDF}


def truth(days: list[str]) -> list[dict[str, str]]:
    return [
        {
            "case_name": name,
            "date_filed": days[place],
            "docket_number": f"24-{1000 + place}",
            "url": f"https://site.example/o/{place}.pdf",
        }
        for place, name in enumerate(NAMES)
    ]


class TestForms:
    DAYS = ("January 5, 2024", "January 9, 2024", "February 1, 2024", "February 13, 2024", "March 2, 2024")
    ISO = ("2024-01-05", "2024-01-09", "2024-02-01", "2024-02-13", "2024-03-02")

    def test_a_table_whose_columns_are_called_otherwise(self):
        cells = "".join(
            f"<tr><td>{self.DAYS[n]}</td><td>24-{1000 + n}</td><td><a href='/o/{n}.pdf'>{name}</a></td></tr>"
            for n, name in enumerate(NAMES)
        )
        page = f"<table><tr><th>Decided</th><th>Case Number</th><th>Caption</th></tr>{cells}</table>"
        assert rows(list_of(page, **FIELDS)) == truth(list(self.ISO))

    def test_a_table_without_a_header(self):
        cells = "".join(
            f"<tr><td>{self.DAYS[n]}</td><td>24-{1000 + n}</td><td><a href='/o/{n}.pdf'>{name}</a></td></tr>"
            for n, name in enumerate(NAMES)
        )
        assert rows(list_of(f"<table>{cells}</table>", **FIELDS)) == truth(list(self.ISO))

    def test_cards(self):
        cards = "".join(
            f"<div class=card><h3><a href='/o/{n}.pdf'>{name}</a></h3>"
            f"<p>No. 24-{1000 + n}</p><p>{self.DAYS[n]}</p></div>"
            for n, name in enumerate(NAMES)
        )
        assert rows(list_of(f"<main>{cards}</main>", **FIELDS)) == truth(list(self.ISO))

    def test_lines_of_text_between_links(self):
        lines = "<br>".join(
            f"<a href='/o/{n}.pdf'>{name}</a>, 24-{1000 + n} ({self.DAYS[n]})" for n, name in enumerate(NAMES)
        )
        assert rows(list_of(f"<p>{lines}</p>", **FIELDS)) == truth(list(self.ISO))

    def test_days_in_headings_govern_the_records_below(self):
        parts = "".join(
            f"<h3>{self.DAYS[n]}</h3><ul><li><a href='/o/{n}.pdf'>{name}</a> 24-{1000 + n}</li></ul>"
            for n, name in enumerate(NAMES)
        )
        assert [row["date_filed"] for row in rows(list_of(parts, **FIELDS))] == list(self.ISO)

    def test_a_cell_over_several_rows_stands_in_each(self):
        page = "<table><tr><th>Filed</th><th>Number</th><th>Name</th></tr>"
        page += (
            "<tr><td rowspan=3>January 5, 2024</td><td>24-1000</td><td><a href='/o/0.pdf'>Ash v. Birch</a></td></tr>"
        )
        page += "<tr><td>24-1001</td><td><a href='/o/1.pdf'>Cedar v. Elm</a></td></tr>"
        page += "<tr><td>24-1002</td><td><a href='/o/2.pdf'>Fir v. Hazel</a></td></tr></table>"
        assert [row["date_filed"] for row in rows(list_of(page, **FIELDS))] == ["2024-01-05"] * 3

    def test_names_with_prices(self):
        items = "".join(
            f"<li><a href='/p/{n}'>{word} mug</a> <span class=price>{n + 3}.50 €</span></li>"
            for n, word in enumerate(("Blue", "Green", "Grey", "Red", "White"))
        )
        found = rows(list_of(f"<ul>{items}</ul>", name=TEXT, price=NUMBER))
        assert [row["name"] for row in found] == ["Blue mug", "Green mug", "Grey mug", "Red mug", "White mug"]
        assert [row["price"] for row in found] == ["3.50 €", "4.50 €", "5.50 €", "6.50 €", "7.50 €"]


class TestTheListAsAWhole:
    @staticmethod
    def page(days: tuple[str, ...], lang: str = "") -> str:
        cells = "".join(
            f"<tr><td>{day}</td><td>24-{1000 + n}</td><td><a href='/o/{n}.pdf'>{NAMES[n]}</a></td></tr>"
            for n, day in enumerate(days)
        )
        return f"<html lang='{lang}'><body><table>{cells}</table></body></html>"

    def test_one_day_tells_the_order_of_day_and_month_of_all(self):
        found = rows(list_of(self.page(("03/04/2024", "03/05/2024", "03/21/2024", "04/02/2024")), **FIELDS))
        assert [row["date_filed"] for row in found] == ["2024-03-04", "2024-03-05", "2024-03-21", "2024-04-02"]

    def test_days_stay_out_where_nothing_tells_their_order(self):
        found = rows(list_of(self.page(("03/04/2024", "05/01/2024", "02/09/2024")), **FIELDS))
        assert not any("date_filed" in row for row in found)

    def test_a_value_is_withheld_where_another_column_fits_as_well(self):
        cells = "".join(
            f"<tr><td>January {n + 1}, 2024</td><td>March {n + 9}, 2024</td><td><a href='/o/{n}'>{name}</a></td></tr>"
            for n, name in enumerate(NAMES)
        )
        found = rows(list_of(f"<table>{cells}</table>", case_name=CASE, day=DAY))
        assert len(found) == len(NAMES)
        assert not any("day" in row for row in found)

    def test_a_menu_is_no_list_of_records(self):
        menu = "".join(f"<li><a href='/m/{n}'>Section {n}</a></li>" for n in range(12))
        page = f"<nav><ul>{menu}</ul></nav>" + self.page(TestForms.DAYS)
        assert [row["case_name"] for row in rows(list_of(page, **FIELDS))] == list(NAMES)


class TestCompleteness:
    def test_of_a_list_that_is_all_there_nothing_is_left_out(self):
        assert list_of(TestTheListAsAWhole.page(TestForms.DAYS), **FIELDS).left_out == ""

    @pytest.mark.parametrize("item", ["<div class=card>{}</div>", "<li>{}</li>"])
    def test_an_entry_that_states_too_little_is_told(self, item: str):
        entries = [
            f"<a href=/o/{n}>{name}</a><p>January {n + 2}, 2024</p><b>24-{n}</b>" for n, name in enumerate(NAMES)
        ]
        entries[2] = "<a href=/o/2>Lonely</a>"
        page = "<div>" + "".join(item.format(entry) for entry in entries) + "</div>"
        reading = list_of(page, **FIELDS)
        assert len(reading.records) == len(NAMES) - 1
        assert reading.left_out == "1 part like the records states too little to be read"

    @pytest.mark.parametrize("item", ["item", "comment"])
    def test_entries_with_a_class_more_are_told(self, item: str):
        text = "<b class=author>{0}</b><p>Words of {0}.</p>"
        kinds = [(f"{item} member", "Ann"), (f"{item} member", "Bob"), *((item, name) for name in ("Cy", "Di", "Eve"))]
        page = "".join(f"<li class='{classes}'>{text.format(name)}</li>" for classes, name in kinds)
        reading = list_of(f"<ul>{page}</ul>", author=CASE, text=CASE)
        assert reading.left_out.startswith("the page shows another list of such records, with 2 entries")

    def test_an_entry_without_its_name_is_told(self):
        names = [f"<a href=/o/{n}>{name}</a>" for n, name in enumerate(NAMES)]
        names[2] = "<a href=/o/2><img src=/new.png></a>"
        page = "<div>" + "".join(
            f"<div class=card>{name}<p>January {n + 2}, 2024</p></div>" for n, name in enumerate(names)
        )
        reading = list_of(page + "</div>", case_name=FIELDS["case_name"], url=FIELDS["url"])
        assert len(reading.records) == len(NAMES) - 1
        assert reading.left_out == "1 part like the records states too little to be read"

    def test_a_long_list_takes_a_time_that_grows_with_it_alone(self):
        spent = []
        for count in (250, 2000):
            cards = (f"<li><h3><a href=/o/{n}>{NAMES[n % 3]} {n}</a></h3><p>24-{n}</p></li>" for n in range(count))
            began = time.process_time()
            assert len(list_of(f"<h1>Cases</h1><ul>{''.join(cards)}</ul>", case_name=CASE, url=PDF).records) == count
            spent.append(time.process_time() - began)
        assert spent[1] < 20 * spent[0], spent

    def test_a_required_field_that_no_column_states_is_told(self):
        assert list_of("<ul><li>Ash v. Birch<li>Cedar v. Elm<li>Fir v. Hazel</ul>", **FIELDS).left_out
