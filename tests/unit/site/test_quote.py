"""The quote request over two pages: what it refuses and why, and what it records."""

from __future__ import annotations

import hashlib
import re
from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from lxml import html
from shop.quote import check_date
from starlette.testclient import TestClient

TODAY = date(2026, 3, 16)

CONTACT = {
    "contact_name": "Ada Brunner",
    "company": "",
    "email": "ada@example.org",
    "tel": "+41 44 555 01 20",
    "street": "Seeweg 4",
    "city": "Zug",
    "postcode": "6300",
    "country": "Switzerland",
    "region": "Lucerne",
    "contact_by": "email",
}
PROJECT = {
    "project": "Reading room",
    "department": "office",
    "quantity": "24",
    "delivery_date": (TODAY + timedelta(days=40)).isoformat(),
    "budget": "5,000 to 20,000",
    "message": "Twenty-four desks with lamps.",
    "terms": "yes",
}
PDF = b"%PDF-1.4 a floor plan"


def first_page_done(client: TestClient) -> str:
    """Fill in page one; returns the draft's id."""
    answer = client.post("/quote", data=CONTACT)
    assert answer.url.path == "/quote/project"
    return parse_qs(urlsplit(str(answer.url)).query)["draft"][0]


def wrong_fields(page: str) -> dict[str, str]:
    """The fields marked as wrong, with the reason shown beside them."""
    tree = html.fromstring(page)
    marked = {
        field.get("name") or field.get("aria-describedby").removesuffix("-error")
        for field in tree.xpath("//*[@aria-invalid='true']")
    }
    return {name: tree.get_element_by_id(f"{name}-error").text_content() for name in marked}


def test_a_request_with_a_file_ends_on_a_page_with_its_reference(client: TestClient) -> None:
    draft = first_page_done(client)
    answer = client.post("/quote/project", data={**PROJECT, "draft": draft}, files={"attachment": ("plan.pdf", PDF)})
    assert answer.status_code == 200
    found = re.search(r"Thank you, your request (Q-[0-9A-Z]{6}) was received", answer.text)
    assert found is not None
    log = client.get("/_log/forms?form=quote").json()
    assert log["count"] == 1
    submission: dict[str, Any] = log["submissions"][0]
    assert submission["reference"] == found[1]
    assert submission["fields"] == {**CONTACT, **PROJECT, "newsletter": ""}
    digest = hashlib.sha256(PDF).hexdigest()
    expected = {"name": "plan.pdf", "content_type": "application/pdf", "size": len(PDF), "sha256": digest}
    assert submission["file"] == expected


def test_a_request_sent_twice_is_counted_twice_under_two_numbers(client: TestClient) -> None:
    draft = first_page_done(client)
    for _ in range(2):
        assert "was received" in client.post("/quote/project", data={**PROJECT, "draft": draft}).text
    log = client.get("/_log/forms").json()
    assert log["count"] == 2
    assert len({submission["reference"] for submission in log["submissions"]}) == 2
    assert [submission["file"] for submission in log["submissions"]] == [None, None]


def test_loading_the_confirmation_again_sends_nothing_again(client: TestClient) -> None:
    answer = client.post("/quote/project", data={**PROJECT, "draft": first_page_done(client)})
    client.get(str(answer.url))
    assert client.get("/_log/forms").json()["count"] == 1


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"contact_name": "  "}, "contact_name", "your name"),
        ({"email": "ada at example"}, "email", "e-mail address"),
        ({"tel": "call me"}, "tel", "phone number"),
        ({"contact_by": "phone", "tel": ""}, "tel", "called back"),
        ({"country": "Atlantis"}, "country", "choose a country"),
        ({"region": "Bavaria"}, "region", "region of Switzerland"),
        ({"contact_by": ""}, "contact_by", "reach you"),
        ({"postcode": ""}, "postcode", "postcode"),
    ],
)
def test_page_one_says_what_is_wrong_beside_the_field(
    client: TestClient, change: dict[str, str], field: str, reason: str
) -> None:
    answer = client.post("/quote", data={**CONTACT, **change})
    assert answer.status_code == 422
    errors = wrong_fields(answer.text)
    assert list(errors) == [field]
    assert reason in errors[field]


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"delivery_date": (TODAY - timedelta(days=1)).isoformat()}, "delivery_date", "in the past"),
        ({"delivery_date": (TODAY + timedelta(days=366)).isoformat()}, "delivery_date", "one year ahead"),
        ({"delivery_date": "soon"}, "delivery_date", "enter a delivery date"),
        ({"quantity": "-3"}, "quantity", "whole number"),
        ({"quantity": "0"}, "quantity", "between 1 and"),
        ({"department": "boats"}, "department", "product group"),
        ({"message": "Desks"}, "message", "ten characters"),
        ({"terms": ""}, "terms", "accept the terms"),
    ],
)
def test_page_two_says_what_is_wrong_and_keeps_what_was_entered(
    client: TestClient, change: dict[str, str], field: str, reason: str
) -> None:
    answer = client.post("/quote/project", data={**PROJECT, **change, "draft": first_page_done(client)})
    assert answer.status_code == 422
    errors = wrong_fields(answer.text)
    assert list(errors) == [field]
    assert reason in errors[field]
    assert html.fromstring(answer.text).get_element_by_id("project").get("value") == PROJECT["project"]
    assert client.get("/_log/forms").json()["count"] == 0


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("plan.exe", b"MZ", "Only PDF, PNG and TXT"),
        ("plan.png", PDF, "not a PNG file"),
        ("plan.txt", b"", "empty"),
        ("plan.txt", b"x" * (5 * 1024 * 1024 + 1), "larger than 5 MB"),
    ],
)
def test_a_file_that_cannot_be_taken_is_refused(client: TestClient, name: str, body: bytes, reason: str) -> None:
    fields = {**PROJECT, "draft": first_page_done(client)}
    answer = client.post("/quote/project", data=fields, files={"attachment": (name, body)})
    assert answer.status_code == 422
    assert reason in wrong_fields(answer.text)["attachment"]


@pytest.mark.parametrize(("days", "accepted"), [(-1, False), (0, True), (365, True), (366, False)])
def test_a_delivery_date_from_today_to_a_year_ahead_is_accepted(days: int, accepted: bool) -> None:
    assert (check_date((TODAY + timedelta(days=days)).isoformat(), TODAY) is None) is accepted


def test_page_two_without_page_one_leads_back(client: TestClient) -> None:
    assert client.get("/quote/project?draft=unknown").url.path == "/quote"
    assert client.post("/quote/project", data={**PROJECT, "draft": "unknown"}).url.path == "/quote"
    assert client.get("/_log/forms").json()["count"] == 0


def test_page_one_remembers_what_was_entered(client: TestClient) -> None:
    page = html.fromstring(client.get(f"/quote?draft={first_page_done(client)}").text)
    assert page.get_element_by_id("contact_name").get("value") == CONTACT["contact_name"]
    assert page.xpath("//select[@name='region']/option[@selected]/text()") == ["Lucerne"]


def test_regions_follow_the_country(client: TestClient) -> None:
    assert "Tyrol" in client.get("/quote/regions?country=Austria").json()
    assert client.get("/quote/regions?country=").json() == []
