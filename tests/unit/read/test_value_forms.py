"""Values that their form alone names: addresses, phone numbers, days of the week and opening hours."""

from __future__ import annotations

import pytest

from tests.unit.read.pages import DAY, TEXT, list_of, rows, table_of


class TestOpeningHours:
    HOURS = ("9:00 – 17:00", "9:00 – 12:30, 14:00 – 18:00", "closed", "10 am - 6 pm")

    @pytest.mark.parametrize("days", [("Monday", "Tuesday", "Wednesday", "Thursday"), ("Mo", "Di", "Mi:", "Do–Fr")])
    def test_days_of_the_week_and_hours_need_no_header(self, days: tuple[str, ...]):
        lines = "".join(f"<tr><td>{day}</td><td>{hours}</td></tr>" for day, hours in zip(days, self.HOURS, strict=True))
        found = rows(list_of(f"<table>{lines}</table>", day=TEXT, hours=TEXT))
        assert found == [{"day": day, "hours": hours} for day, hours in zip(days, self.HOURS, strict=True)]

    def test_days_of_the_week_are_no_dates(self):
        lines = "".join(f"<tr><td>{day}</td><td>{self.HOURS[0]}</td></tr>" for day in ("Monday", "Tuesday", "Friday"))
        assert not list_of(f"<table>{lines}</table>", day=DAY, hours=TEXT).records

    DATES = ("2026-03-07", "2026-03-08", "2026-03-09")

    @pytest.mark.parametrize("header", [True, False])
    def test_dates_beside_them_are_what_a_date_asks_for(self, header: bool):
        cells = [f"{day}|{date}|{self.HOURS[0]}" for day, date in zip(("Sat", "Sun", "Mon"), self.DATES, strict=True)]
        page = table_of("Day|Date|Hours", *cells)
        page = page if header else "<table>" + page.partition("<tbody>")[2]
        assert [row.get("date") for row in rows(list_of(page, date=TEXT, hours=TEXT))] == [*self.DATES]

    def test_a_column_with_the_field_s_name_is_what_it_asks_for(self):
        cells = (f"{day}|{date}|{self.HOURS[0]}" for day, date in zip(("Sat", "Sun", "Mon"), self.DATES, strict=True))
        found = rows(list_of(table_of("Day|Date|Hours", *cells), day=TEXT, hours=TEXT))
        assert [row.get("day") for row in found] == ["Sat", "Sun", "Mon"]


class TestPhoneNumbers:
    @staticmethod
    def phones(*values: str) -> list[str]:
        woods = zip(("Ash", "Birch", "Cedar"), values, strict=True)
        cards = "".join(f"<li><h3><a href=/{name}>{name} Wood</a></h3><p>{value}</p>" for name, value in woods)
        found = rows(list_of(f"<ul>{cards}</ul>", name=TEXT, phone=TEXT))
        return [row["phone"] for row in found if "phone" in row]

    @pytest.mark.parametrize(
        "number",
        ["+49 30 12345{}", "(030) 12345-{}", "030 123 45{}", "0341/12345{}", "555-010-99{}0", "1-800-555-010{}",
         "01.23.45.67.8{}", "+4930123456{}"],
    )  # fmt: skip
    def test_are_known_by_their_form(self, number: str):
        values = [number.format(n) for n in range(1, 4)]
        assert self.phones(*values) == values

    @pytest.mark.parametrize(
        "figures",
        ["978-0-306-4061{}-7", "0-306-4061{}-2", "192.168.10.10{}", "1011000{}", "2 000 10{}", "07.03.202{}",
         "2026-03-0{}", "2000-201{}", "12-3456-789{}", "000123{}", "52.5200{} 13.4050"],
    )  # fmt: skip
    def test_other_figures_are_none(self, figures: str):
        assert self.phones(*(figures.format(n) for n in range(1, 4))) == []


class TestSeveralValuesInACell:
    PEOPLE = ("Ann Ash", "Bob Birch", "Cy Cedar")

    def test_a_cell_of_an_address_and_a_number_is_no_record(self):
        cells = (f"{name}|{name[:2]}@x.example<br>+49 30 1234{n}" for n, name in enumerate(self.PEOPLE))
        found = rows(list_of(table_of("Name|Contact", *cells), name=TEXT, email=TEXT, phone=TEXT))
        assert found == [
            {"name": name, "email": f"{name[:2]}@x.example", "phone": f"+49 30 1234{n}"}
            for n, name in enumerate(self.PEOPLE)
        ]

    def test_links_to_write_or_to_call_state_an_address_and_a_number(self):
        link = "<a href='mailto:{0}%40x.example?subject=Hi'>Write</a> <a href='tel:+4930{1}'>Call</a>"
        cards = (f"<li><h3>{name}</h3>{link.format(name[:2], 12340 + n)}</li>" for n, name in enumerate(self.PEOPLE))
        found = rows(list_of(f"<ul>{''.join(cards)}</ul>", name=TEXT, email=TEXT, phone=TEXT))
        assert found == [
            {"name": name, "email": f"{name[:2]}@x.example", "phone": f"+4930{12340 + n}"}
            for n, name in enumerate(self.PEOPLE)
        ]

    @pytest.mark.parametrize("target", ["mailto:?subject={0}", "mailto:someone{0}", "mailto:"])
    def test_a_link_to_write_without_an_address_states_none(self, target: str):
        card = f"<li><h3><a href=/{{0}}>{{1}}</a></h3><a href='{target}'>Share</a>"
        page = "<ul>" + "".join(card.format(n, name) for n, name in enumerate(self.PEOPLE)) + "</ul>"
        assert not any("email" in row for row in rows(list_of(page, name=TEXT, email=TEXT)))

    def test_a_number_under_a_name_of_its_own_is_no_phone_number(self):
        cells = (f"{name}|12345{n}67" for n, name in enumerate(self.PEOPLE))
        found = rows(list_of(table_of("Name|Customer number", *cells), name=TEXT, phone=TEXT))
        assert not any("phone" in row for row in found)
