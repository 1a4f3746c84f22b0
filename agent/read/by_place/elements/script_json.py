"""The JSON that a document carries in its scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.agent.read.by_place.elements.elements import Elements

_LARGE = 1_000_000
_STATE_HEAD = 400
_NO_JSON = re.compile(r"importmap|speculation")
_ASSIGNS = re.compile(r"^\s*(?:var |let |const |window\.|self\.)?[\w$.\[\]\"']{1,80}\s*=\s*[\[{]", re.ASCII)


def json_scripts(elements: Elements) -> Iterator[tuple[str, str, str]]:
    """Of each script that should be JSON the kind (json-ld, script or state), the text, and its selector.

    Raises:
        BeyondDocument: a script is very long.
    """
    for script in elements.below(elements.root, ("script",)):
        kind, text = (elements.attribute(script, "type") or "").lower(), script.text_lexbor()
        if "json" in kind and _NO_JSON.search(kind) is None:
            yield "json-ld" if "ld+json" in kind else "script", text, elements.selector(script)
        elif (not kind or "javascript" in kind) and _ASSIGNS.match(text[:_STATE_HEAD]):
            yield "state", text, elements.selector(script)
        if len(text) > _LARGE:
            elements.only_in_browser("a script is very long")
