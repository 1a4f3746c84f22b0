"""The JSON that a page carries: JSON-LD, JSON in scripts, or the page itself; and what a path finds in it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.browser import FetchedJson
from shoal.agent.read.by_place.place import Place
from shoal.agent.read.by_place.places_page import JsonText
from shoal.agent.support.json_paths import values_at
from shoal.agent.support.json_value import Json

_ASSIGNED = re.compile(r"^\s*(?:var |let |const )?[\w$.\[\]\"']{1,80}\s*=\s*(?=[\[{])")
_MOST_LEAVES = 5_000
_DEEPEST = 20
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value of a page."""

    where: str  # selector of its script, or the address of what a script fetched; "" for a page that is JSON itself
    value: Json


def documents_of(texts: Sequence[JsonText]) -> list[Document]:
    """The page's JSON values that parse. A script that is no JSON is the site's own fault, and common."""
    documents: list[Document] = []
    for source in texts:
        try:
            if source.kind == "state":
                start = _ASSIGNED.match(source.text)
                if start is not None:
                    value, _ = json.JSONDecoder(strict=False).raw_decode(source.text, start.end())
                    documents.append(Document(source.where, value))
            else:
                documents.append(Document(source.where, json.loads(source.text, strict=False)))
        except (ValueError, RecursionError):
            continue
    return documents


def fetched_documents(answers: Sequence[FetchedJson]) -> list[Document]:
    """Return what the answers that the page's scripts fetched say, each with its address."""
    return documents_of([JsonText("fetched", answer.text, answer.url) for answer in answers])


def places_at(path: str, documents: Sequence[Document]) -> list[Place]:
    """Return where `path` leads in the documents;
    where in none of them as a whole, in the entries of a list or a graph.

    Raises:
        JsonPathFault: the path takes too much work on this page.
    """
    places = [place for document in documents for place in _places(path, document.where, document.value)]
    if places:
        return places
    entries = [(document.where, entry) for document in documents for entry in _entries(document.value)]
    return [place for where, entry in entries for place in _places(path, where, entry)]


def _places(path: str, where: str, value: Json) -> list[Place]:
    return [
        Place(where=f"{where} {at}".strip(), how="json", kind="json", value=value)
        for at, value in values_at(path, value)
    ]


def _entries(value: Json) -> list[Json]:
    graph = value.get("@graph") if isinstance(value, Mapping) else value
    return graph[:1_000] if isinstance(graph, list) else []


def nearest_paths(path: str, documents: Sequence[Document]) -> list[str]:
    """The paths of the page's JSON that look most like `path`, with what stands there."""
    leaves = {at: value for document in documents for at, value in _leaves(document.value, "$", 0)}
    last = re.split(r"[.\[\]'\"]+", path.rstrip("]'\""))[-1]
    names = {at: re.split(r"[.\[]", at)[-1] for at in list(leaves)[:_MOST_LEAVES]}
    close = difflib.get_close_matches(last, sorted(set(names.values())), n=_NEAREST, cutoff=0.6)
    ranked = [at for name in close for at, own in names.items() if own == name]
    ranked += difflib.get_close_matches(path, list(names), n=_NEAREST, cutoff=0.5)
    shown = [f"{at} ({json.dumps(leaves[at], ensure_ascii=False)[:60]})" for at in dict.fromkeys(ranked)]
    return shown[:_NEAREST]


def _leaves(value: Json, at: str, depth: int) -> Iterator[tuple[str, Json]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for name, part in value.items():
            step = f".{name}" if re.fullmatch(r"[A-Za-z_]\w*", str(name)) else f"[{str(name)!r}]"
            yield from _leaves(part, at + step, depth + 1)
    elif isinstance(value, list):
        for index, part in enumerate(value[:3]):
            yield from _leaves(part, f"{at}[{index}]", depth + 1)
    elif value is not None:
        yield at, value
