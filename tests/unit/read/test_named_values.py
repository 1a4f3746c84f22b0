"""Values beside their names: labels in one line, in a cell, in other words than the field's, and what is no name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, list_of, record_of, rows

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

    @pytest.mark.parametrize(
        "row",
        [
            "<td>{}:</td><td>{}</td><td>{}:</td><td>{}</td>",
            "<td><b>{}</b></td><td>{}</td><td><b>{}</b></td><td>{}</td>",
            "<th>{}</th><td>{}</td><th>{}</th><td>{}</td>",
        ],
        ids=["colons", "bold", "heads"],
    )
    def test_has_the_pairs_of_a_row(self, row: str) -> None:
        rows = row.format("Case No.", "24-CV-8", "Judge", "Lee"), row.format("Plaintiff", "Doe", "Defendant", "Roe")
        page = f"<h2>Doe v. Roe</h2><table><tr>{rows[0]}</tr><tr>{rows[1]}</tr></table>"
        found = record_of(page, case_number=TEXT, judge=TEXT, plaintiff=TEXT, defendant=TEXT)
        assert found.value == {"case_number": "24-CV-8", "judge": "Lee", "plaintiff": "Doe", "defendant": "Roe"}

    @pytest.mark.parametrize(
        "pair",
        ["<label>{}</label><div>{}</div>", "<b>{}</b><span>{}</span>", "<div class=k>{}</div><div class=v>{}</div>"],
    )
    def test_has_names_and_values_in_turns(self, pair: str) -> None:
        page = f"<h1>Printer</h1><div>{pair.format('Status', 'Open')}{pair.format('Priority', 'High')}</div>"
        assert record_of(page, status=TEXT, priority=TEXT).value == {"status": "Open", "priority": "High"}

    def test_has_no_value_where_the_turns_are_not_clear(self) -> None:
        page = "<h1>Printer</h1><div><b>Status</b><b>Open</b><b>Priority</b><b>High</b></div>"
        assert record_of(page, status=TEXT, priority=TEXT).value == {}

    @pytest.mark.parametrize("text", ["ann@site.example", "Write to us"])
    def test_has_the_address_that_a_link_writes_to(self, text: str) -> None:
        page = f'<h1>Ann Lee</h1><p>Room 4. <a href="mailto:ann@site.example?subject=Hi">{text}</a></p>'
        assert record_of(page, email=TEXT).value == {"email": "ann@site.example"}

    def test_has_the_number_that_a_link_calls(self) -> None:
        page = '<h1>Ann Lee</h1><p>Room 4. <a href="tel:+351555001">+351 555 001</a></p>'
        assert record_of(page, phone=TEXT).value == {"phone": "+351 555 001"}

    def test_has_no_address_that_a_sentence_mentions(self) -> None:
        sentence = "In the form you might write an address that does not exist, such as {} for a test of your own."
        page = f"<h1>On forms</h1><p>{sentence.format('<a href=mailto:you@site.example>you@site.example</a>')}</p>"
        assert record_of(page, email=TEXT).value == {}

    @pytest.mark.parametrize("to", ["mailto:?subject=Ann", "mailto:ann"])
    def test_has_no_address_that_is_to_be_filled_in(self, to: str) -> None:
        assert record_of(f'<h1>Ann Lee</h1><p><a href="{to}">Tell a friend</a></p>', email=TEXT).value == {}

    def test_has_days_and_an_author_without_a_colon(self) -> None:
        page = (
            "<h1>Leek soup</h1><p>By <a href=/u>Eve Adams</a> · Updated March 2, 2026</p><p>Served on May 1, 2026</p>"
        )
        found = record_of(page, title=TEXT, author=TEXT, updated=DAY, served=DAY)
        assert found.value == {
            "title": "Leek soup", "author": "Eve Adams", "updated": "2026-03-02", "served": "2026-05-01"
        }  # fmt: skip

    @pytest.mark.parametrize("line", ["By Category", "By 2030", "By the river", "By Ann"])
    def test_has_no_author_where_a_line_says_how_or_where(self, line: str) -> None:
        assert record_of(f"<h1>Leek soup</h1><p>{line}</p>", author=TEXT).value == {}

    @pytest.mark.parametrize(
        ("text", "author"),
        [
            ("Ann Lee | Porto | 4 March 2024", "Ann Lee"),
            ("By Ann Lee · 10:40", "Ann Lee"),
            ("Ann Lee | Bob Stone", "Ann Lee | Bob Stone"),
        ],
    )
    def test_has_the_author_without_place_and_day(self, text: str, author: str) -> None:
        assert record_of(f"<h1>Leek soup</h1><p class=author>{text}</p>", author=TEXT).value == {"author": author}

    def test_has_each_labelled_day_of_a_line(self) -> None:
        page = "<h1>On lamps</h1><p>Received: 12 May 2023 / Accepted: 3 February 2024 / Published: 20 March 2024</p>"
        found = record_of(page, received=DAY, accepted=DAY, published=DAY)
        assert found.value == {"received": "2023-05-12", "accepted": "2024-02-03", "published": "2024-03-20"}

    def test_has_the_picture_that_is_called_as_it_is(self) -> None:
        logo, lamp = "<img src=/logo.png alt=Shop>", '<img src=/lamp.jpg alt="Oak desk lamp">'
        page = f"<h1>Oak desk lamp</h1><div>{logo}{{}}<img src=/other.jpg alt='A lamp of oak'></div>"
        assert record_of(page.format(lamp), image=ADDRESS).value == {"image": "https://site.example/lamp.jpg"}
        assert record_of(page.format(""), image=ADDRESS).value == {}
        assert record_of("<h1>Shop</h1><img src=/logo.png alt=Shop>", image=ADDRESS).value == {}

    def test_ends_a_section_before_a_link_of_its_own(self) -> None:
        page = "<h1>House</h1><div><h3>Agent</h3><p>Bob Stone</p><a href=/contact>Contact</a></div>"
        assert record_of(page, agent=TEXT).value == {"agent": "Bob Stone"}

    def test_is_what_the_heading_and_several_labels_call_it(self) -> None:
        page = "<h1>{}</h1><p>Case number: 12-A</p><p>Case status: Closed</p><p>Judge: Lee</p>"
        found = record_of(page.format("Case Information"), number=TEXT, status=TEXT)
        assert found.value == {"number": "12-A", "status": "Closed"}
        assert record_of(page.format("Doe v. Roe"), number=TEXT, status=TEXT).value == {}

    @pytest.mark.parametrize(
        ("page", "name"),
        [
            ("<h1>Shipping</h1><p>Shipping method: by air</p><p>Shipping weight: 5 kg</p>", "method"),
            ("<h1>Comments</h1><p>Comment author: Bob</p><p>Comment status: open</p>", "author"),
            ("<h1>Opinions</h1><p>Opinions by year: 2,024</p><p>Opinions by court: 12</p>", "by"),
            ("<h1>Case Information</h1><p>Case status: Closed</p><p>Judge: Lee</p>", "status"),
        ],
        ids=["qualifier", "around", "more words", "one label"],
    )
    def test_is_not_what_other_words_than_its_kind_say(self, page: str, name: str) -> None:
        assert record_of(page, **{name: TEXT}).value == {}

    @pytest.mark.parametrize(
        ("label", "value", "name", "schema", "read"),
        [
            ("When", "Sunday, 15 November 2026", "date", DAY, "2026-11-15"),
            ("Where", "Main Hall", "venue", TEXT, "Main Hall"),
            ("Serves", "4", "servings", {"type": "integer"}, 4),
        ],
    )
    def test_has_what_everyday_words_name(self, label: str, value: str, name: str, schema: Any, read: object) -> None:
        page = f"<h1>Jazz brunch</h1><p><b>{label}:</b> {value}</p>"
        assert record_of(page, **{name: schema}).value == {name: read}

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
        text = "<p>We meet in the hall at ten, and speak of the new road, the bridge and the school.</p>" * 5
        found = record_of(f"<main><h1>{heading}</h1>{text}</main>", title=TEXT, author=TEXT, body=TEXT)
        assert found.value.get("title") == title


class TestAList:
    @pytest.mark.parametrize("labels", [10, 40])
    def test_has_columns_of_a_line_that_has_few_labels(self, labels: int) -> None:
        """A page could name thousands, and each column is held against each field."""
        line = " | ".join(f"Part {number}: {number}" for number in range(labels))
        found = rows(list_of(cards(f"<h3>{{}}</h3><p>Priority: {{}} | {line}</p>"), title=TEXT, priority=TEXT))
        few = [priority for _, priority, _ in CARDS]
        assert [row.get("priority") for row in found] == (few if labels == 10 else [f"{each} | {line}" for each in few])

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
