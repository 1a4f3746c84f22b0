"""Whether an episode's job gave what was expected. Pure, but for the one page that a check may name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx

from shoal.agent.support.json_value import Json
from shoal.services.answers import bounded_get
from shoal.services.evaluation.episode import Check, PageCheck

_PAGE_S = 30.0
_PAGE_BYTES = 16 << 20
_SHOWN_CHARS = 200


def records_fault(found: Sequence[Json], check: Check) -> str:
    """What is wrong with the records, "" when nothing is."""
    if check.records is None:
        return ""
    wanted = list(check.records)
    if len(found) != len(wanted):
        return f"{len(found)} records instead of {len(wanted)}"
    left = list(found)
    for place, one in enumerate(wanted):
        candidates = left[:1] if check.ordered else left
        match = next((at for at, record in enumerate(candidates) if _fits(record, one, check.match)), None)
        if match is None:
            return f"record {place} was expected and is not there: {_short(one)}"
        del left[match]
    return ""


def _fits(found: Json, wanted: Json, match: str) -> bool:
    if match == "subset" and isinstance(wanted, dict) and isinstance(found, dict):
        return all(name in found and _fits(found[name], value, match) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(_fits(a, b, match) for a, b in zip(found, wanted, strict=True))
    if isinstance(wanted, float) and isinstance(found, int | float) and not isinstance(found, bool):
        return abs(found - wanted) <= 1e-9 * max(1.0, abs(wanted))
    return bool(found == wanted) and isinstance(found, bool) == isinstance(wanted, bool)


def words_fault(pattern: str | None, text: str, what: str) -> str:
    """What is wrong with a text that must hold `pattern`."""
    if pattern is None or re.search(pattern, text):
        return ""
    return f"{what} {_short(text)} does not hold {pattern}"


async def page_fault(http: httpx.AsyncClient, check: PageCheck) -> str:
    """What is wrong with the page that must say something now."""
    try:
        answer = await bounded_get(http, check.url, _PAGE_BYTES, timeout_s=_PAGE_S)
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
    for path, wanted in check.json_.items():
        found = _at(body, path)
        if not _fits(found, wanted, "equal"):
            return f"{check.url}: {path} is {_short(found)} instead of {_short(wanted)}"
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
