"""Texts of pages in a form that every program can read."""

from __future__ import annotations

import json

from shoal.agent.support.json_value import Json


def readable(text: str) -> str:
    """`text` with U+FFFD for halves of characters, which JavaScript's strings may hold and UTF-8 cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def readable_json(text: str) -> Json:
    """Return what a page's own JSON says, its strings readable."""
    parsed = json.loads(text)
    if "\\ud" not in text:  # the only way in which JSON.stringify writes such a half
        return parsed
    return json.loads(readable(json.dumps(parsed, ensure_ascii=False)))
