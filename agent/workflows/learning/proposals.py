"""Proposed places of a record's values on a page: those worth learning, before the extractor has read them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from pydantic import ValidationError

from shoal.agent.read.schema import Property
from shoal.agent.read.values.conversion import Raw, ValueHints, convert
from shoal.agent.read.word_lists.concepts import CONCEPTS
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import ChannelFamily
from shoal.agent.workflows.learning.leaves import Leaf, LeafWays, PageLeaves

_MOST: Mapping[ChannelFamily, int] = {
    "json_ld": 4,
    "json": 4,
    "microdata": 2,
    "meta": 3,
    "label": 3,
    "column": 1,
    "attribute": 3,
    "css": 8,
    "structure": 6,
}
"""Places of one family that are kept for one field: those beyond say the same in other words."""
_MOST_STATED = 600
"""Elements of a page that may state some of the values."""
_LONGEST_BOOLEAN = 60
_BOOLEAN = Property(
    "available",
    frozenset({"boolean"}),
    nullable=False,
    required=False,
    phrases=(),
    hints=(),
    concept=next(concept for concept in CONCEPTS if concept.kind == "availability"),
)
_BARE = re.compile(r"[^\w]|_")
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Proposal:
    """One place that may state a field's value."""

    family: ChannelFamily
    place: FieldPlace
    numbers: tuple[int, ...] = ()  # of the elements that its selector finds on the page

    @property
    def key(self) -> str:
        """The same for the same place on another page."""
        return f"{self.family} {self.place.model_dump_json(by_alias=True, exclude_none=True)}"


def bare(text: str) -> str:
    """`text` without anything but letters and digits, in lower case."""
    return _BARE.sub("", unicodedata.normalize("NFKC", text).lower())


def looks_of(value: Json) -> tuple[str, ...]:
    """Return what a page may write for `value`, bare; of a boolean `*true` or `*false`;
    () where nothing could be it.
    """
    if isinstance(value, bool):
        return ("*true" if value else "*false",)
    if isinstance(value, (int, float)):
        text = format(value, "f").rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        return (bare(text),)
    if isinstance(value, str):
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}.*", value):
            return (value[:4],)
        if value.startswith(("http://", "https://", "/")):
            return (bare(value),)
        return (bare(value),) if bare(value) else ()
    return ()


def proposed(
    leaves: PageLeaves, values: Mapping[str, Json], documents: Sequence[tuple[str, Json]]
) -> Mapping[str, tuple[Proposal, ...]]:
    """The places of a page that may state `values`, by field.

    Args:
        documents: the page's JSON values, each with the selector of its script.
    """
    looks = {name: looks_of(value) for name, value in values.items()}
    asked = sorted({look for several in looks.values() for look in several})
    stated = list(islice((leaf for leaf in leaves.leaves() if _may_state(leaf, asked)), _MOST_STATED))
    return {name: _limited(_of_field(leaves, stated, documents, look)) for name, look in looks.items() if look}


def _may_state(leaf: Leaf, looks: Sequence[str]) -> bool:
    """Return whether a leaf may state a value of these looks; of a boolean any short text may."""
    for text in (leaf.text, *(value for _, value in leaf.attributes)):
        bare_text = bare(text)
        if bare_text and any(
            len(bare_text) <= _LONGEST_BOOLEAN if look.startswith("*") else look in bare_text for look in looks
        ):
            return True
    return False


def _limited(proposals: Iterator[Proposal]) -> tuple[Proposal, ...]:
    kept: dict[str, Proposal] = {}
    counts: dict[ChannelFamily, int] = {}
    for proposal in proposals:
        if proposal.key in kept or counts.get(proposal.family, 0) >= _MOST[proposal.family]:
            continue
        counts[proposal.family] = counts.get(proposal.family, 0) + 1
        kept[proposal.key] = proposal
    return tuple(kept.values())


def _of_field(
    page: PageLeaves, leaves: Sequence[Leaf], documents: Sequence[tuple[str, Json]], looks: Sequence[str]
) -> Iterator[Proposal]:
    for script, document in documents:
        family: ChannelFamily = "json_ld" if script == "json-ld" else "json"
        for path, value in json_leaves(document):
            if value is not None and holds_look(json_text(value), looks):
                yield from _made(family, {"json": path})
    for named, text, micro in page.metas():
        if holds_look(text, looks):
            place = {"select": named.css, "attribute": "content"}
            yield from _made("microdata" if micro else "meta", place, tuple(named.numbers))
    for leaf in leaves:
        yield from places_of_leaf(leaf, partial(page.ways, leaf), partial(holds_look, looks=looks))


def places_of_leaf(leaf: Leaf, ways: Callable[[], LeafWays], holds: Callable[[str], bool] = bool) -> Iterator[Proposal]:
    """Every way to read one element, where what it reads there is what is looked for."""
    at = (leaf.number,)
    if leaf.text and holds(leaf.text):
        known = ways()
        for label in known.labels:
            yield from _made("label", {"label": label})
        if known.column:
            yield from _made("column", {"column": known.column})
        for css in known.css:
            yield from _made("microdata" if _by_microdata(css) else "css", {"select": css}, at)
        for position in known.positions:
            yield from _made("structure", {"select": position}, at)
    for name, value in leaf.attributes:
        if not holds(value):
            continue
        known = ways()
        for css in known.css[:3]:
            family: ChannelFamily = "microdata" if _by_microdata(css) else "attribute"
            yield from _made(family, {"select": css, "attribute": name}, at)
        for position in known.positions:
            yield from _made("structure", {"select": position, "attribute": name}, at)


def _by_microdata(css: str) -> bool:
    return "[itemprop=" in css.split(" ")[-1]


def holds_look(text: str, looks: Sequence[str]) -> bool:
    """Return whether a text may state a value of these looks (`looks_of`)."""
    bare_text = bare(text)
    return any(_reads(text) == look if look.startswith("*") else look in bare_text for look in looks)


def json_text(value: Json) -> str:
    """A text, a number or a boolean as JSON has it, without quotes."""
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _reads(text: str) -> str:
    """The look of the boolean that `text` reads as; "" for none."""
    if len(text) > _LONGEST_BOOLEAN:
        return ""
    value = convert(_BOOLEAN, Raw(text, structured=True), ValueHints())
    return "" if value is None else f"*{str(value).lower()}"


def _made(family: ChannelFamily, place: dict[str, Json], numbers: tuple[int, ...] = ()) -> Iterator[Proposal]:
    """The proposal, where it is a place that a job could spell: the path of an odd key may be none."""
    try:
        yield Proposal(family, FieldPlace.model_validate(place), numbers)
    except ValidationError:
        return


def json_leaves(value: Json, at: str = "$", depth: int = 0) -> Iterator[tuple[str, Json]]:
    """Each value of a JSON document with its path, without what lies behind long lists."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for name, part in value.items():
            step = f".{name}" if re.fullmatch(r"[A-Za-z_]\w*", str(name)) else f"[{json.dumps(str(name))}]"
            yield from json_leaves(part, at + step, depth + 1)
    elif isinstance(value, list):
        for index, part in enumerate(value[:5]):
            yield from json_leaves(part, f"{at}[{index}]", depth + 1)
    elif value is not None:
        yield at, value
