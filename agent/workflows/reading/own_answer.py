"""The answer to a request that a page makes itself: what it is, what makes it the item's, and what it is like."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping

from shoal.agent.browser import FetchedJson
from shoal.agent.read.by_place.page_json import Document
from shoal.agent.read.by_place.place import Place
from shoal.agent.support.json_paths import JsonPathFault, values_at
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import address_parts
from shoal.agent.types import LoopItem
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.format.branch import OwnRequest
from shoal.agent.workflows.format.page_parts import page_parts, same_origin
from shoal.agent.workflows.reading.channels import holds_text

MOST_CHARS = 128 * 1024
"""Of an answer."""
_LONGEST_URL = 1_000
_MOST_VALUES = 2_000
_MOST_WORDS = 200
_DEEPEST = 12
_LONGEST_NAME = 100
_NAMED = re.compile(r"\$(?:\.[A-Za-z_]\w*)+")
_PROOF = re.compile(r"token|csrf|xsrf|auth|secret|passw|pwd|sess|sid|sign?(?:ature)?$|nonce|key|jwt", re.IGNORECASE)
"""In names of a query: their values may say who asks."""


class NoAnswer(Exception):
    """The answer is none that can be read in a page's stead; the message says why."""


def is_repeatable(page_url: str, answer: FetchedJson) -> bool:
    """Return whether the page's own request may be made again:
    of the page's origin, and with nothing that says who asks.
    """
    address = address_parts(answer.url)
    names = (pair.partition("=")[0] for pair in address.query.split("&"))
    plain = len(answer.url) <= _LONGEST_URL and not set("{}") & set(answer.url)
    open_ = answer.headers is not None and "@" not in address.netloc and not any(map(_PROOF.search, names))
    return plain and open_ and same_origin(page_url, answer.url)


def answer_of(url: str, text: str) -> Document:
    """The answer.

    Raises:
        NoAnswer: it is no JSON as browsers read it, no object, or a very large or deep one.
    """
    if len(text) > MOST_CHARS:
        raise NoAnswer("the answer is very long")
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise NoAnswer("the answer is no JSON") from None
    if not isinstance(value, dict):
        raise NoAnswer("the answer is no object")
    number = sum(1 for _ in zip(range(_MOST_VALUES + 1), _parts(value, "$", 0), strict=False))
    if number > _MOST_VALUES:
        raise NoAnswer("the answer has very many values")
    return Document(url, value)


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def named_leaves(document: Document) -> dict[str, Json]:
    """The values behind names alone, by path: what stands in a list is found by its order, which may change."""
    return {path: value for path, value in _parts(document.value, "$", 0) if _NAMED.fullmatch(path) and is_leaf(value)}


def is_leaf(value: Json) -> bool:
    """Return whether it is a text, a number or a boolean."""
    return value is not None and not isinstance(value, (dict, list))


def parent_of(path: str) -> str:
    """The object in which a named value stands."""
    return path.rpartition(".")[0]


def identifier(value: Json) -> str:
    """The value as an address spells it; "" for one that identifies nothing."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def contains_label(document: Document, label: str) -> bool:
    """Return whether some text holds what the list calls the item."""
    return any(isinstance(value, str) and holds_text(value, label) for _, value in _parts(document.value, "$", 0))


def places_in(path: str, document: Document) -> tuple[Place, ...]:
    """Return what stands at `path`, as a page's JSON is read. The answer is taken as a whole, never by its entries."""
    try:
        values = values_at(path, document.value)
    except JsonPathFault:
        return ()
    return tuple(Place(where=f"{document.where} {at}", how="json", kind="json", value=value) for at, value in values)


def answer_misses(document: Document, request: OwnRequest, page_url: str, item: LoopItem) -> Iterator[Divergence]:
    """Yield what keeps the answer from being the item's."""
    parts = page_parts(page_url)
    for path, name in request.identity.items():
        identifiers = [identifier(place.value) for place in places_in(path, document)]
        if identifiers != [parts.get(name)]:
            reason = (
                f"{path} of the page's own request says {', '.join(identifiers) or 'nothing'}, not {parts.get(name)}"
            )
            yield Divergence(DivergenceReason.NOT_THE_ITEM, path, reason)
    if request.says_label and not contains_label(document, item.label):
        yield Divergence(DivergenceReason.NOT_THE_ITEM, "label", f"the page's own request does not say {item.label!r}")


def outline_of(document: Document, read: Collection[str]) -> str:
    """Return what the answer is made of, as a hash:
    its names and kinds of values, and each boolean beside the record.

    Args:
        read: the paths whose values the record has: those may be any.
    """
    outline = {
        f"{_without_order(path)} {_kind(value, read=path in read)}" for path, value in _parts(document.value, "$", 0)
    }
    return hashlib.sha256("\n".join(sorted(outline)).encode("utf-8", "replace")).hexdigest()


def words_of(document: Document, read: Collection[str]) -> Mapping[str, str]:
    """The values beside the record, as hashes, by path.

    Raises:
        NoAnswer: there are very many.
    """
    words = {
        path: hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
        for path, value in named_leaves(document).items()
        if path not in read and not isinstance(value, bool)
    }
    if len(words) > _MOST_WORDS:
        raise NoAnswer("the answer has very many values beside the record")
    return words


def _without_order(path: str) -> str:
    return re.sub(r"\[\d+\]", "[]", path)


def _kind(value: Json, *, read: bool) -> str:
    if value is None or (isinstance(value, bool) and not read):
        return str(value)
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def _parts(value: Json, at: str, depth: int) -> Iterator[tuple[str, Json]]:
    """Every part of a document with its path, itself first.

    Raises:
        NoAnswer: it is nested very deeply, or has very long names.
    """
    if depth > _DEEPEST:
        raise NoAnswer("the answer is nested very deeply")
    yield at, value
    if isinstance(value, dict):
        for name, part in value.items():
            if len(name) > _LONGEST_NAME:
                raise NoAnswer("the answer has very long names")
            step = f".{name}" if re.fullmatch(r"[A-Za-z_]\w*", name) else f"[{json.dumps(name)}]"
            yield from _parts(part, at + step, depth + 1)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _parts(part, f"{at}[{index}]", depth + 1)
