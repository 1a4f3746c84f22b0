"""Checks that an episode's job gave the expected results. Pure, but for the one page that a check may name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx

from shoal.agent.support.json_value import Json
from shoal.services.answers import bounded_answer
from shoal.services.evaluation.episode import Check, PageCheck

_PAGE_S = 30.0
_PAGE_BYTES = 16 << 20
_SHOWN_CHARS = 200


def records_fault(records: Sequence[Json], check: Check) -> str:
    """Return what is wrong with the records, "" when nothing is."""
    if check.records is None:
        return ""
    expected = list(check.records)
    if len(records) != len(expected):
        return f"{len(records)} records instead of {len(expected)}"
    left = list(records)
    for place, example in enumerate(expected):
        candidates = left[:1] if check.ordered else left
        match = next((at for at, record in enumerate(candidates) if _fits(record, example, check.match)), None)
        if match is None:
            return f"record {place} was expected and is not there: {_short(example)}"
        del left[match]
    return ""


def _fits(actual: Json, expected: Json, match: str) -> bool:
    if match == "subset" and isinstance(expected, dict) and isinstance(actual, dict):
        return all(name in actual and _fits(actual[name], value, match) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(actual) == len(expected) and all(_fits(a, b, match) for a, b in zip(actual, expected, strict=True))
    if isinstance(expected, float) and isinstance(actual, int | float) and not isinstance(actual, bool):
        return abs(actual - expected) <= 1e-9 * max(1.0, abs(expected))
    return bool(actual == expected) and isinstance(actual, bool) == isinstance(expected, bool)


def words_fault(pattern: str | None, text: str, what: str) -> str:
    """Return what is wrong with a text that must hold `pattern`."""
    if pattern is None or re.search(pattern, text):
        return ""
    return f"{what} {_short(text)} does not hold {pattern}"


async def page_fault(http: httpx.AsyncClient, check: PageCheck, gave: Json) -> str:
    """Return what is wrong with the page that must say something now; `gave` is what it may be sent."""
    try:
        answer = await bounded_answer(
            http, check.url, _PAGE_BYTES, timeout_s=_PAGE_S, body=gave if check.send else None
        )
    except (httpx.HTTPError, TimeoutError) as error:
        return f"{check.url} cannot be fetched: {error or type(error).__name__}"
    if answer.status_code != check.status:
        return f"{check.url} answered {answer.status_code} instead of {check.status}"
    for words in check.contains:
        if words not in answer.text:
            return f"{check.url} does not say {words!r}"
    for words in check.lacks:
        if words in answer.text:
            return f"{check.url} says {words!r}"
    return _json_fault(answer, check) if check.json_ else ""


def _json_fault(answer: httpx.Response, check: PageCheck) -> str:
    try:
        body = answer.json()
    except ValueError:
        return f"{check.url} is not JSON"
    for path, expected in check.json_.items():
        actual = _at(body, path)
        if not _fits(actual, expected, "equal"):
            return f"{check.url}: {path} is {_short(actual)} instead of {_short(expected)}"
    return ""


def _at(value: Json, path: str) -> Json:
    """The value at `a.0.b`, None where there is none."""
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + " …"
