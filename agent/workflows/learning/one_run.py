"""The one run of a job without a loop: what of it holds for other runs, by where its values came from.

What came from the job's goal is the same in every run with that goal. What the model took from a page, or thought of,
may differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from shoal.agent.workflows.format.param import value_hash
from shoal.agent.workflows.format.target import Target
from shoal.agent.workflows.learning.evidence import ActionEvidence, SessionEvidence

_MOST_WORDS = 8
"""Of a given value that is looked for in a text."""
_SHORTEST = 3
"""Characters of a typed value that is looked for in a text; a shorter one is everywhere."""


def of_all_runs(run: SessionEvidence) -> SessionEvidence:
    """The run without what its pages said of this run alone: numbers, and values that were given or typed."""
    typed = [
        value.lower()
        for action in run.actions
        for value in action.args.values()
        if isinstance(value, str) and len(value) >= _SHORTEST
    ]

    def stable_texts(messages: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            text
            for text in messages
            if not any(sign.isdigit() for sign in text)
            and not any(value in text.lower() for value in typed)
            and not _find_given_path(text, run)
        )

    actions = (
        action.model_copy(update={"led_to": address_of_all_runs(action.led_to), "said": stable_texts(action.said)})
        for action in run.actions
    )
    return run.model_copy(update={"actions": tuple(actions), "said": stable_texts(run.said)})


def address_of_all_runs(url: str) -> str:
    """An address with `{}` for what may be of one run only: values of its query, and parts with numbers."""
    if not url:
        return ""
    parts = urlsplit(url)
    path = "/".join("{}" if any(sign.isdigit() for sign in part) else part for part in parts.path.split("/"))
    query = "&".join(f"{pair.partition('=')[0]}={{}}" for pair in parts.query.split("&")) if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{path}" + (f"?{query}" if query else "")


def undecided(action: ActionEvidence, run: SessionEvidence) -> str:
    """Why the run does not say what another one would do at this action; "" where it does."""
    for name, value in action.args.items():
        origin = action.origins.get(name)
        if origin is None and isinstance(value, (list, dict)) and value:
            return f"where its {name} came from is not known"
        if origin is not None and origin.kind in ("page", "model"):
            source = "from the page" if origin.kind == "page" else "from the model alone"
            return f"its {name} came {source}, and one run does not say whether it differs in others"
    for text in _names(action.target):
        if path := _find_given_path(text, run):
            return f"its element is called by a value of the job ({path}), and one run does not say how in others"
    return ""


def _names(target: Target | None) -> tuple[str, ...]:
    """Return what an element is called, by each way that goes by words."""
    if target is None:
        return ()
    named = (way.value for way in target.locators if way.family in ("role_name", "label", "text", "placeholder"))
    return tuple(dict.fromkeys((target.name, *named)))


def _find_given_path(text: str, run: SessionEvidence) -> str:
    """Source and path of a value that the run was given and that stands in the text; "" where there is none.

    Only hashes of the values are known, so it is asked for each phrase of the text.
    """
    given = {hashed: path for path, hashed in run.leaves.items()}
    if not given:
        return ""
    for phrase in _phrases(text):
        for value in (phrase, int(phrase)) if phrase.isascii() and phrase.isdecimal() else (phrase,):
            if path := given.get(value_hash(value)):
                return path
    return ""


def _phrases(text: str) -> Iterator[str]:
    words = text.split()
    for first in range(len(words)):
        for end in range(first + 1, min(len(words), first + _MOST_WORDS) + 1):
            yield " ".join(words[first:end])
