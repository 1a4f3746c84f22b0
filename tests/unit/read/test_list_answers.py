"""Lists that people ask for by names of their own: one page for each kind of answer."""

from __future__ import annotations

import json
from typing import Any

from shoal.agent.page.from_html import page_from_html
from shoal.agent.policies.policy import Extraction
from shoal.agent.policies.rules.fields.list_reading import page_list
from shoal.agent.read.schema import properties_of
from tests.unit.read.pages import ADDRESS, DAY, NUMBER, TEXT, URL, list_of, rows, table_of
from tests.unit.read.test_list_kinds import NAMES

PARTIES = {**TEXT, "description": "the parties, such as Smith v. Jones"}
QUESTIONS = [{"question": f"Who is {name}?", "answer": f"{name} is a tree."} for name in NAMES]


def answer(html: str, **fields: Any) -> Extraction:
    """The records as a job gives them."""
    page = page_from_html(html.encode(), URL, charset="utf-8")
    return page_list(page, properties_of({"type": "object", "properties": fields}), "", "now")


def test_events_that_only_structured_data_state():
    nodes = [
        {"@type": "Event", "name": f"{name} fair", "startDate": f"2026-05-0{n}"} for n, name in enumerate(NAMES, 1)
    ]
    page = f"<script type='application/ld+json'>{json.dumps(nodes)}</script><p>Come and see us</p>"
    found = answer(page, name=TEXT, date=DAY)
    assert [record.value["date"] for record in found.records] == [f"2026-05-0{n}" for n in range(1, 6)]


def test_the_day_that_is_meant_beside_another_one():
    page = table_of(
        "Case|Posted|Decided", *(f"{name} v. Oak|0{n}/15/2026|0{n}/11/2026" for n, name in enumerate(NAMES, 2))
    )
    asked = {**DAY, "description": "day the opinion was decided"}
    found = rows(list_of(page, case_name=TEXT, date_filed=asked))
    assert [row["date_filed"] for row in found] == [f"2026-0{n}-11" for n in range(2, 7)]


def test_a_number_of_a_case_is_not_its_name():
    page = table_of("Case #|Parties", *(f"26-{n + 100}|{name} v. Oak" for n, name in enumerate(NAMES)))
    found = rows(list_of(page, case_name=PARTIES, docket_number=TEXT))
    assert found[0] == {"case_name": "Ash v. Oak", "docket_number": "26-100"}


def test_two_values_in_a_cell():
    page = table_of("Case|Date", *(f"26-{n + 100}<br>{name} v. Oak|2026-02-1{n}" for n, name in enumerate(NAMES)))
    found = rows(list_of(page, case_name=PARTIES, docket_number=TEXT, date=DAY))
    assert found[0] == {"case_name": "Ash v. Oak", "docket_number": "26-100", "date": "2026-02-10"}


def test_several_links_in_a_cell():
    links = "<a href='/o/{0}.doc'>Word</a> <a href='/o/{0}.pdf'>PDF</a>"
    page = table_of("Case|Opinion", *(f"{name} v. Oak|{links.format(name)}" for name in NAMES))
    asked = {**ADDRESS, "description": "link to the opinion (PDF)"}
    assert rows(list_of(page, case_name=TEXT, url=asked))[0]["url"] == "https://site.example/o/Ash.pdf"


def test_a_bare_link_is_an_entry_s_name():
    page = "".join(
        f"<li><a href='/p/{n}'>{name} lamp</a> <span class=price>€ {n}.50</span>" for n, name in enumerate(NAMES, 1)
    )
    found = rows(list_of(f"<ul>{page}</ul>", name=TEXT, price=NUMBER, url=ADDRESS))
    assert found[0] == {"name": "Ash lamp", "price": "€ 1.50", "url": "https://site.example/p/1"}


def test_answers_that_details_fold_away():
    page = "".join(
        f"<details><summary>{each['question']}</summary><p>{each['answer']}</p></details>" for each in QUESTIONS
    )
    assert rows(list_of(page, question=TEXT, answer=TEXT)) == QUESTIONS


def test_answers_that_an_accordion_folds_away():
    page = "".join(
        f"<div><h3><button aria-expanded=false>{each['question']}</button></h3><div hidden>{each['answer']}</div></div>"
        for each in QUESTIONS
    )
    assert rows(list_of(page, question=TEXT, answer=TEXT)) == QUESTIONS


def test_a_menu_that_states_a_third_of_the_fields_is_no_list():
    menu = "<ul>" + "".join(f"<li><a href='/m/{name}'>{name} page</a>" for name in NAMES) + "</ul>"
    real = table_of("Name|Price|Stock", *(f"{name} lamp|{n}.50 €|{n}" for n, name in enumerate(NAMES)))
    fields = {"name": TEXT, "price": NUMBER, "stock": NUMBER}
    assert not answer(menu, **fields).records
    found = answer(menu + real, **fields)
    assert [record.value["name"] for record in found.records] == [f"{name} lamp" for name in NAMES]


def test_a_sentence_about_another_empty_list_takes_no_record_away():
    page = "<p>No active jobs found</p>" + table_of("Name|Price", *(f"{name} lamp|1.50 €" for name in NAMES))
    assert len(answer(page, name=TEXT, price=NUMBER).records) == len(NAMES)
