"""Values beside their names: labels in one line, in a cell, in other words than the field's, and what is no name."""

from __future__ import annotations

import pytest

from tests.unit.read.pages import DAY, NUMBER, TEXT, list_of, record_of, rows

CARDS = (("Nurse", "Low", "Oslo"), ("Cook", "High", "Leeds"), ("Pilot", "Low", "Porto"), ("Judge", "High", "Lyon"))


def cards(written: str) -> str:
    """A list of four vacancies; `written` has places for the title, the priority and the city."""
    return f"<main>{''.join(f'<div class=card>{written.format(*each)}</div>' for each in CARDS)}</main>"


class TestARecord:
    CELL = (
        "<h1>Doe v. Roe</h1><table><tr><td>Doe v. Roe</td><td><b>No. 12<br>(Traffic)</b><br><br>"
        "Filed: 07/13/2021<br><br>Judge: Lee, Ann<br></td></tr></table>"
    )

    def test_has_the_labelled_lines_of_a_cell(self) -> None:
        assert record_of(self.CELL, filed=DAY, judge=TEXT).value == {"filed": "2021-07-13", "judge": "Lee, Ann"}

    @pytest.mark.parametrize("name", ["date_filed", "filing_date", "file_date", "filed", "filedOn"])
    @pytest.mark.parametrize("label", ["File Date", "Filing date:", "Filed", "Date filed", "Filed on"])
    def test_has_a_day_by_any_form_of_its_verb(self, name: str, label: str) -> None:
        page = f"<h1>Doe v. Roe</h1><dl><dt>{label}</dt><dd>July 13, 2021</dd></dl>"
        assert record_of(page, **{name: DAY}).value == {name: "2021-07-13"}

    @pytest.mark.parametrize(("name", "label"), [("date_filed", "Closed"), ("due_date", "Date"), ("filed", "Fined")])
    def test_has_no_day_of_another_verb(self, name: str, label: str) -> None:
        page = f"<h1>Doe v. Roe</h1><dl><dt>{label}</dt><dd>July 13, 2021</dd></dl>"
        assert record_of(page, **{name: DAY}).value == {}

    def test_is_what_the_heading_and_several_labels_call_it(self) -> None:
        page = "<h1>{}</h1><p>Case number: 12-A</p><p>Case status: Closed</p><p>Judge: Lee</p>"
        found = record_of(page.format("Case Information"), number=TEXT, status=TEXT)
        assert found.value == {"number": "12-A", "status": "Closed"}
        assert record_of(page.format("Doe v. Roe"), number=TEXT, status=TEXT).value == {}

    def test_is_not_what_a_qualifier_says_of_it(self) -> None:
        page = "<h1>Shipping</h1><p>Shipping method: by air</p><p>Shipping weight: 5 kg</p>"
        assert record_of(page, method=TEXT).value == {}

    @pytest.mark.parametrize(
        ("heading", "title"),
        [
            ("Meeting Details", None),
            ("Case information", None),
            ("Release date and all details", "Release date and all details"),
            ("Details", "Details"),
        ],
    )
    def test_is_not_called_what_its_kind_of_page_is(self, heading: str, title: str | None) -> None:
        page = f"<title>{heading} | Town</title><main><h1>{heading}</h1><p>We meet in the hall at ten.</p></main>"
        assert record_of(page, title=TEXT).value.get("title") == title


class TestAList:
    @pytest.mark.parametrize(
        "written",
        [
            "<h3>{}</h3><div><span>Priority: {}</span> <span class=city>{}</span></div>",
            "<h3>{}</h3><div><span><b>Priority:</b> {}</span> <span class=city>{}</span></div>",
            "<h3>{}</h3><div>Priority: {} <br> <span class=city>{}</span></div>",
        ],
    )
    def test_has_no_value_that_reaches_beyond_the_labels_element(self, written: str) -> None:
        found = rows(list_of(cards(written), title=TEXT, priority=TEXT))
        assert found == [{"title": title, "priority": priority} for title, priority, _ in CARDS]

    @pytest.mark.parametrize("sign", ["|", "·", "•"])
    def test_has_each_labelled_value_of_a_line(self, sign: str) -> None:
        written = f"<b>{{}}</b><br>Priority: {{}} {sign} Ships from: {{}}"
        found = rows(list_of(cards(written), title=TEXT, priority=TEXT, ships_from=TEXT))
        assert found == [dict(zip(("title", "priority", "ships_from"), each, strict=True)) for each in CARDS]

    def test_keeps_a_sign_in_a_value_that_no_label_follows(self) -> None:
        found = rows(list_of(cards("<b>{}</b><br>Priority: {} | {}"), title=TEXT, priority=TEXT))
        assert [row["priority"] for row in found] == [f"{priority} | {city}" for _, priority, city in CARDS]

    def test_has_the_parts_of_a_value_that_its_label_stands_around(self) -> None:
        written = "<h3>{}</h3><p>Sold by: {} <a href=/c>of {}</a></p><p>Price: 5 EUR</p>"
        found = rows(list_of(cards(written), title=TEXT, sold_by=TEXT, price=NUMBER))
        assert [row["sold_by"] for row in found] == [f"{first} of {city}" for _, first, city in CARDS]
