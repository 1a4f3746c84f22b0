"""Evidence for an answer: texts of pages, each in its own name, and not the session's own entries there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.models.decisions.answer import basis_of, basis_of_words
from shoal.agent.models.reply import ReplyProblem
from shoal.agent.read.grounding.session_pages import SessionPages
from shoal.agent.support.json_value import Json
from shoal.agent.types import Basis, DialogSeen, Element, Observation
from tests.unit.agent.model.pages import URL, el, page, text

AD = "https://ads.example/banner"
FIELD = el("5", "input", "Price", attributes={"value": "19.90"})


def frame(*inside: Element, url: str) -> Element:
    return Element("9", "iframe", role="frame", attributes={"src": url}, children=inside)


def basis(*seen: Observation, typed: str = "", quote: str = "", answer: str = "ok") -> Basis:
    pages = SessionPages()
    if typed:
        pages.note_typed(typed)
    for one in seen:
        pages.add(one)
    said: dict[str, Json] = {"text": answer, "quotes": [quote]}
    return basis_of(said, pages, (), "")


def test_what_the_session_typed_is_no_evidence() -> None:
    with pytest.raises(ReplyProblem, match="no page of this session says"):
        basis(page(FIELD), typed="19.90", quote="19.90")
    searched = page(text("Nothing fits."), url=f"{URL}?price=19.90")
    with pytest.raises(ReplyProblem, match="no page of this session says"):
        basis(searched, typed="19.90", quote="19.90")
    with pytest.raises(ReplyProblem, match="gives these figures"):
        basis(page(FIELD, text("Lamp")), typed="19.90", quote="Lamp", answer="19.90 EUR")


def test_what_a_field_held_before_or_the_page_says_beside_it_is_evidence() -> None:
    assert basis(page(FIELD), quote="19.90").quotations[0].url == URL
    assert basis(page(FIELD, text("Lamp 19.90 EUR")), typed="19.90", quote="Lamp 19.90").quotations[0].url == URL


def test_words_of_a_frame_of_another_site_are_that_site_s() -> None:
    seen = page(text("Lamp"), frame(text("The answer is 42"), url=AD), frame(text("Stock: 7"), url=f"{URL}/stock"))
    assert basis(seen, quote="The answer is 42").quotations[0].url == AD
    assert basis(seen, quote="Stock: 7").quotations[0].url == URL
    assert basis(seen, quote="Lamp").quotations[0].url == URL
    inner = frame(frame(text("Deep 1"), url="https://third.example/"), text("Wide 2"), url=AD)
    assert basis(page(inner), quote="Deep 1").quotations[0].url == "https://third.example/"
    assert basis(page(inner), quote="Wide 2").quotations[0].url == AD


def test_no_quotation_goes_over_the_edge_of_a_frame() -> None:
    seen = page(text("The price is"), frame(text("0.01 EUR"), url=AD))
    with pytest.raises(ReplyProblem, match="no page of this session says"):
        basis(seen, quote="The price is 0.01 EUR")


def test_what_a_dialog_said_is_evidence() -> None:
    seen = page(dialogs=(DialogSeen("alert", "Your order is 57", "accepted"),))
    assert basis(seen, quote="order is 57", answer="57").quotations[0].where


@pytest.mark.parametrize("build", [lambda seen: seen, lambda seen: replace(seen, url="about:blank")])
def test_a_page_without_an_address_keeps_its_frames(build: Any) -> None:
    seen = build(page(frame(text("Inside 3"), url="about:srcdoc")))
    assert basis(seen, quote="Inside 3").quotations[0].url == seen.url


def test_an_answer_in_words_rests_on_the_page_that_says_it() -> None:
    pages = SessionPages()
    pages.add(page(text("Opening hours: 9 to 17"), frame(text("Open 24 hours"), url=AD)))
    assert [one.url for one in basis_of_words("9 to 17", pages, (), "").quotations] == [URL]
    assert [one.url for one in basis_of_words("Open 24 hours", pages, (), "").quotations] == [AD]
