"""Judgement of results as right, wrong, invented, missing and honest, beside a truth from a registry's site."""

from __future__ import annotations

import pytest

from shoal.agent.support.json_value import Json
from tests.sites.registry.case import Case, either
from tests.sites.registry.judging import Answer, judged, same

TRUTH = [{"name": "Saw", "price": 3, "note": None}, {"name": "Axe", "price": 5, "note": "old"}]
LIST = Case("tools", "table", {}, TRUTH, key="name")


def answer(*records: Json, status: str = "completed", **job: Json) -> Answer:
    return Answer({"status": status, **job}, [{"record": record, "url": "u", "sources": {}} for record in records])


def test_a_complete_list_is_right() -> None:
    verdict = judged(LIST, answer({"name": "Axe", "price": 5, "note": "old"}, {"name": "Saw", "price": 3.0}))
    assert (verdict.stated, verdict.given, verdict.right, verdict.missing) == (5, 5, 5, 0)
    assert (verdict.wrong, verdict.invented, verdict.lists_honest) == ([], [], 1)


def test_a_value_that_the_site_does_not_state_is_wrong() -> None:
    verdict = judged(LIST, answer({"name": "Saw", "price": 3, "note": "sharp"}, {"name": "Axe", "price": 4}))
    assert [(w.field, w.said, w.truth) for w in verdict.wrong] == [("note", "sharp", None), ("price", 4, 5)]
    assert verdict.missing == 1, "the axe's note; its price is wrong, not missing"


def test_a_record_of_nothing_is_invented() -> None:
    verdict = judged(LIST, answer({"name": "Tools"}, {"name": "Saw", "price": 3}, {"name": "Axe"}, {"name": "Axe"}))
    assert verdict.invented == [{"name": "Tools"}, {"name": "Axe"}]


@pytest.mark.parametrize(
    ("job", "honest"),
    [({}, 0), ({"incomplete": {"given": 1, "stated": 2}}, 1), ({"status": "failed"}, 1)],
)
def test_half_a_list_is_honest_only_where_the_job_says_so(job: Json, honest: int) -> None:
    verdict = judged(LIST, Answer({"status": "completed", **job}, [{"record": {"name": "Saw"}, "url": "u"}]))
    assert (verdict.missing_records, verdict.lists, verdict.lists_honest) == (1, 1, honest)


def test_items_are_known_by_their_address() -> None:
    case = Case(
        "pages", "loop", {}, [{"page": "http://x/1", "title": "One"}, {"page": "http://x/2", "title": "Two"}], at="page"
    )
    rows = [{"record": {"title": "Two"}, "url": "http://x/2#top"}, {"record": {"title": "No"}, "url": "http://x/9"}]
    verdict = judged(case, Answer({"status": "completed"}, rows))
    assert (verdict.right, len(verdict.invented), verdict.missing_records) == (1, 1, 1)


@pytest.mark.parametrize(
    ("status", "succeeds", "stored", "right"),
    [
        ("completed", True, "", 1),
        ("completed", True, "two accounts", 0),
        ("failed", True, "", 0),
        ("terminated", False, "", 1),
        ("unsure", False, "", 0),
    ],
)
def test_an_outcome_is_right_where_the_site_agrees(status: str, succeeds: bool, stored: str, right: int) -> None:
    case = Case("log in", "login", {}, succeeds=succeeds, check=lambda: stored)
    assert judged(case, answer(status=status)).outcomes_right == right


def test_white_space_and_ways_to_say_it() -> None:
    assert same("a\u00a0 b\n", "a b")
    assert not same("ab", "a b")
    assert same("7", either("#7", "7"))
    assert same(2, 2.0)
    assert not same(True, 1)
    assert not same(None, "")
