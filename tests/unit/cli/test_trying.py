"""The report of `shoal try`, from a gateway's answer."""

from __future__ import annotations

from typing import Any

from shoal.services.cli.commands.job.trying import cells, summary, try_exit, with_places
from shoal.services.cli.ending import Exit
from shoal.trial import Trial

SPEC = {"url": "https://shop.example/", "extract": {"schema": {"type": "object"}, "fields": {"upc": {"label": "UPC"}}}}


RECORD = {"item": None, "url": SPEC["url"], "status": "completed", "record": {"name": "Lamp"}, "error": None,
          "missing": [], "fields": {}, "candidates": {}, "seconds": 2.0}  # fmt: skip


def trial(**more: Any) -> Trial:
    """An answer in which nothing is missing."""
    estimate = {"items": 57, "exact": True, "seconds": 120.0, "pages": 60, "model_calls": 0, "prompt_tokens": 0,
                "completion_tokens": 0}  # fmt: skip
    spent = {"model_calls": 0, "prompt_tokens": 0, "completion_tokens": 0}
    answer = {"status": "completed", "reason": "", "spent": spent, "seconds": 3.0, "items": None, "listed": None,
              "error": None, "records": [RECORD], "missing": {}, "finished": True, "record_place": None,
              "fields": {"name": {"select": "h1"}, "upc": {"select": "#upc"}}, "estimate": estimate}  # fmt: skip
    return Trial.model_validate(answer | more)


def test_places_are_filled_in_and_given_ones_stay() -> None:
    placed = with_places(SPEC, trial(record_place="article.product"))
    assert placed["extract"]["fields"] == {"name": {"select": "h1"}, "upc": {"label": "UPC"}}
    assert placed["extract"]["records"] == "article.product"
    assert SPEC["extract"] == {"schema": {"type": "object"}, "fields": {"upc": {"label": "UPC"}}}


def test_a_spec_without_places_stays_as_it_is() -> None:
    assert with_places({"url": "https://shop.example/", "goal": "look"}, trial(fields={})) == {
        "url": "https://shop.example/",
        "goal": "look",
    }


def test_the_exit_code_says_whether_something_is_missing() -> None:
    error = {
        "class": "ExtractionError",
        "retryable": False,
        "code": "fields_missing",
        "message": "the page does not show: name",
    }
    bad = {**RECORD, "error": error, "record": None}
    assert try_exit(trial()) is Exit.DONE
    assert try_exit(trial(missing={"upc": 1})) is Exit.PARTIAL
    assert try_exit(trial(finished=False)) is Exit.PARTIAL
    assert try_exit(trial(records=[RECORD, bad])) is Exit.PARTIAL
    assert try_exit(trial(records=[bad])) is Exit.FAILED
    assert try_exit(trial(error=error, records=[])) is Exit.FAILED


def test_a_person_is_told_items_missing_fields_and_cost() -> None:
    first = [{"value": "https://shop.example/1", "label": "Lamp", "is_link": True}]
    items = {"found": 57, "shown": 60, "whole": False, "first": first, "doubt": ""}
    why = "several places state different values"
    weak = {"value": "12", "how": "label", "where": "#id", "sureness": "weak", "why": why, "place": None}
    record = {**RECORD, "missing": ["upc"], "candidates": {"upc": [weak]}}
    lines = list(summary(trial(items=items, missing={"upc": 1}, records=[record])))
    assert lines[0] == "items: 57 and more, the page says 60"
    assert "missing in 1 of 1: upc" in lines
    assert "  may be 12 at #id (several places state different values)" in lines
    assert lines[-1].startswith("the whole job: 57 items, about 2 min")


def test_a_person_is_told_the_word_of_the_glossary_by_which_a_value_was_found() -> None:
    plain = {"value": "12-3", "how": "table", "where": "td#x", "sureness": "likely", "why": "", "called": ""}
    fields = {"docket": {**plain, "called": "Case No."}, "own": plain}
    rows = list(cells(trial(records=[{**RECORD, "fields": fields}])))
    assert [row[-1] for row in rows] == ["table, called 'Case No.': td#x", "table: td#x"]
