"""The origin of a typed or chosen value: looked up at execution, because afterwards it is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.param import Transform
from shoal.agent.workflows.format.part import WorkflowPart
from shoal.agent.workflows.learning.proposals import json_leaves

OriginKind = Literal["loop", "data", "secret", "otp", "earlier", "goal", "page", "model"]
_SHORTEST = 3
"""Characters of a value that is looked for inside of other texts; a shorter one is everywhere."""
_SECRET = re.compile(r"secret:([\w./-]+)")


class Origin(WorkflowPart):
    """The origin of one value."""

    kind: OriginKind = Field(description="`model`: from nowhere that is known, so it stays the model's decision")
    path: str = Field(
        "", description="JSONPath in the data or the row, name of the secret, field of the earlier record"
    )
    transform: Transform | None = Field(None, description="what was done to it")
    answer: bool = Field(False, description="the model named it as `user_detail_answer`")


@dataclass(frozen=True, slots=True)
class Sources:
    """The possible origins of a session's values."""

    data: Json = None
    item: str = ""  # the loop's value, words or JSON
    earlier: Sequence[Mapping[str, Json]] = field(default_factory=tuple)  # records and results of the same run
    goal: str = ""
    page: str = ""  # what the page shows

    @property
    def row(self) -> Json:
        """The loop's value as JSON; the text itself where it is none."""
        if self.item.lstrip().startswith(("{", "[")):
            try:
                return json.loads(self.item)
            except ValueError:
                return self.item
        return self.item


def origin_of(value: Json, sources: Sources, *, answer: Json = None) -> Origin:
    """Return where `value` came from,
    the most certain source first.

    Args:
        answer: what the model said that it took from the job (`user_detail_answer`).
    """
    from_answer = isinstance(answer, str) and _same(answer, value)
    if isinstance(value, str) and (secret := _SECRET.fullmatch(value)):
        return Origin(kind="secret", path=secret.group(1))
    if sources.item and (at := _path_of(value, sources.row)) is not None:
        return Origin(kind="loop", path=at[0], transform=at[1], answer=from_answer)
    if (at := _path_of(value, sources.data)) is not None:
        return Origin(kind="data", path=at[0], transform=at[1], answer=from_answer)
    for record in reversed(sources.earlier):
        if (at := _path_of(value, record)) is not None:
            return Origin(kind="earlier", path=at[0].removeprefix("$."), transform=at[1], answer=from_answer)
    text = str(value)
    if _inside(text, sources.goal):
        return Origin(kind="goal", answer=from_answer)
    return Origin(kind="page" if _inside(text, sources.page) else "model", answer=from_answer)


def _path_of(value: Json, document: Json) -> tuple[str, Transform | None] | None:
    """The one path in `document` that gives `value`, as it is or transformed; None where none or several do."""
    if document is None or document == "":
        return None
    if not isinstance(document, (dict, list)):
        transform = _made_of(document, value)
        return None if transform == "no" else ("", transform)
    exact = [at for at, leaf in json_leaves(document) if _same(leaf, value)]
    if exact:
        return (exact[0], None) if len(exact) == 1 else None
    changed = [(at, how) for at, leaf in json_leaves(document) if (how := _made_of(leaf, value)) not in ("no", None)]
    if len(changed) != 1:
        return None
    return changed[0][0], _transform(changed[0][1])


def _transform(name: str | None) -> Transform | None:
    return next((known for known in _TRANSFORMS if known == name), None)


_TRANSFORMS: tuple[Transform, ...] = ("trim", "lower", "upper", "digits", "first_word", "last_word")


def transformed(value: Json, transform: Transform | None) -> Json:
    """`value` with `transform` done to it."""
    if transform is None:
        return value
    text = str(value)
    words = text.split()
    match transform:
        case "trim":
            return text.strip()
        case "lower":
            return text.lower()
        case "upper":
            return text.upper()
        case "digits":
            return "".join(sign for sign in text if sign.isdigit())
        case "first_word":
            return words[0] if words else ""
        case "last_word":
            return words[-1] if words else ""


def _same(value: Json, other: Json) -> bool:
    return _text(value) == _text(other) and _text(value) != ""


def _text(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _made_of(leaf: Json, value: Json) -> Transform | Literal["no"] | None:
    """By which transform `value` is `leaf`; None: as it is; "no": by none."""
    if _same(leaf, value):
        return None
    if len(_text(value)) < _SHORTEST:
        return "no"
    return next((transform for transform in _TRANSFORMS if str(transformed(leaf, transform)) == _text(value)), "no")


def _inside(value: str, text: str) -> bool:
    phrase = " ".join(value.split()).lower()
    return len(phrase) >= _SHORTEST and phrase in " ".join(text.split()).lower()
