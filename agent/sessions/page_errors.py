"""Errors of a session's pages as they are stored: few, short, and without secrets."""

from __future__ import annotations

from dataclasses import replace

from shoal.agent.redaction.masking import Hide, redacted_address, redacted_sentence
from shoal.agent.types import PageErrors

MOST_ERRORS = 200
"""Of one attempt: a page that tells an error a second makes no session's record large."""
_MOST_AT_ONCE = 20
"""Of one step."""
_LONGEST = 300
"""Characters of a text, and of an address."""


def redacted_errors(came: PageErrors, hide: Hide, most: int) -> PageErrors:
    """The first `most` of them at most, clipped once `hide` has taken the secrets out."""
    kept = came.told[: min(_MOST_AT_ONCE, most)]
    left_out = came.left_out + sum(error.times for error in came.told[len(kept) :])
    redacted = (
        replace(
            error,
            text=_clipped(redacted_sentence(error.text, hide)),
            where=_clipped(redacted_address(error.where, hide)),
        )
        for error in kept
    )
    return PageErrors(tuple(redacted), left_out)


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
