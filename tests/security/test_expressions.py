"""Our own expressions meet texts of pages and callers: the time that each takes grows with the text, not its square."""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator

import pytest

from shoal import agent, prompts, services
from shoal.agent.documents.document import _DOCTYPE

_CHARS = 5_000
_MOST_S = 0.1
"""Of processor time. The square takes 0.15 s and more here, and an hour for a megabyte; what is linear 0.005 s."""
_FEW_CHARS = 1_000
_FAST_S = 0.001
"""Of processor time. What takes no longer for a fifth of the text is not the square, which takes 0.006 s."""
_AGAIN = 5
"""Measurements of a text that took longer: a machine with much to do needs more of that time for the same, now and
then.
"""
_PIECES = (
    *("a", "A", "1", "0", " ", "-", ".", ",", "@", "/", "(", "((", "[", "{", '"', "'", "“", "<", "&", "#", "*", "\\"),
    *("a.", "a ", "a-", "a@", "a/", "a1", "1a", "1.", "1,", "1 ", " 000", ".000", ",000", "1-", "ab ", "in ", "x@y."),
    *("http://", "a=", "a:", "5/", "1 of ", "2020-01-01T", "é", "\u00a0", "a\n", " \n", "\n", "```", "{{"),
)
_ENDS = (("", ""), ('"', "\x01"))
# Only ever matched at a text's first character, by `match` or `fullmatch`; or meets no text of others.
_AT_START = {
    *("shoal.agent.actions.dialects.seeact._LETTER", "shoal.agent.actions.primitives.navigation._ABSOLUTE"),
    *("shoal.agent.actions.primitives.navigation._HOST_AND_PORT", "shoal.agent.chromium.process.find._VERSION"),
    *(
        "shoal.agent.chromium.landing._PASSWORD",
        "shoal.agent.chromium.acting.playwright_actions._BID",
        "shoal.agent.redaction.redactor._PREFIX",
        "shoal.agent.support.web_addresses._SCHEME",
    ),
    *(
        "shoal.services.addresses._HOST_AND_PORT",
        "shoal.services.web.api.sessions._MEDIA_TYPE",
        "shoal.services.store.read.reading._CURSOR",
        "shoal.services.store.database.queries._LOCK",
    ),
    *("shoal.agent.actions.dialects.browsergym._NEXT_CALL", "shoal.agent.documents.html.elements._NONE"),
    *("shoal.agent.documents.document._DOCTYPE", "shoal.agent.read.shown.fetched._CODE"),
    *(
        "shoal.agent.page.media._FROM",
        "shoal.agent.read.lists.pieces._NO_TARGET",
        "shoal.agent.read.record.casting._LINKED",
        "shoal.agent.read.values.text_values._JOINING",
        "shoal.agent.read.values.text_values._MEASURE",
        "shoal.agent.read.values.typed_values._WEEK",
        "shoal.agent.sessions.traces.drawing._WITHIN",
        "shoal.agent.support.sites.sites._WITH_PORT",
        "shoal.agent.support.web_addresses._TOKEN",
    ),
}


def expressions() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every expression that a module of the product holds, alone or in a tuple."""
    for room in (agent, services, prompts):
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if ".migrations" in found.name or found.name.endswith("__main__"):
                continue
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                parts = [value, *(value if isinstance(value, tuple | list) else ())]
                parts += [inner for part in parts[1:] if isinstance(part, tuple) for inner in part]
                for part in parts:
                    if isinstance(part, re.Pattern) and isinstance(part.pattern, str):
                        yield f"{found.name}.{name}", part


def _is_fast(expression: re.Pattern[str], text: str) -> bool:
    """Tell whether a short text takes next to nothing. Three of four expressions and texts need no other look."""
    began = time.process_time()
    return not _is_slow(expression, text) and time.process_time() - began < _FAST_S


def _is_slow(expression: re.Pattern[str], text: str) -> bool:
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_S)
        for _ in expression.finditer(text):
            pass
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)  # it may go off here, too
    except TimeoutError:
        return True
    return False


@pytest.mark.timeout(600)
def test_no_expression_takes_the_square_of_a_text() -> None:
    def too_long(*_: object) -> None:
        raise TimeoutError

    slow: list[str] = []
    known = dict(reversed([(one.pattern, (name, one)) for name, one in expressions()]))
    before = signal.signal(signal.SIGVTALRM, too_long)
    try:
        for name, expression in known.values():
            if name in _AT_START:
                continue
            for piece in _PIECES:
                for start, end in _ENDS:
                    few, text = (start + piece * (chars // len(piece)) + end for chars in (_FEW_CHARS, _CHARS))
                    if not _is_fast(expression, few) and all(_is_slow(expression, text) for _ in range(_AGAIN)):
                        slow.append(f"{name}: {start!r} {piece!r} {end!r}")
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert not slow, "\n".join(slow)
    assert len(known) > 100


def test_a_row_of_comments_before_a_doctype_is_read_in_one_way() -> None:
    def seconds() -> float:
        began = time.process_time()
        assert _DOCTYPE.match("<!---->" * _CHARS + "x") is None
        return time.process_time() - began

    assert min(seconds() for _ in range(_AGAIN)) < _MOST_S
    assert _DOCTYPE.match("<!-- a --> <!-- b -->\n<!DOCTYPE html>")
