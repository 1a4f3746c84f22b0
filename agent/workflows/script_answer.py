"""The answer of our own script about a page, as a mapping."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json


class NoScriptAnswer(Exception):
    """The page, which may be no document, told nothing that can be learned from or replayed on."""


def script_answer(answer: Json) -> Mapping[str, Json]:
    """Return what the script said.

    Raises:
        NoScriptAnswer: it said something else.
    """
    try:
        parsed = readable_json(answer) if isinstance(answer, str) else answer
    except ValueError as error:
        raise NoScriptAnswer(f"the page answered no JSON: {error}") from None
    if not isinstance(parsed, Mapping):
        raise NoScriptAnswer("the page, which may be no document, told nothing of itself")
    return parsed
