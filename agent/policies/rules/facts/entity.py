"""Which of a page's structured entities is the one that the page is about, and its values by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.agent.policies.rules.facts.facts import Facts
from shoal.agent.policies.rules.facts.page_parts import Item, ItemValue
from shoal.agent.read.values.phrases import phrase, squash
from shoal.agent.read.word_lists.concepts import NOT_ENTITIES
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import canonical_address, joined

_MAX_DEPTH = 5
_SITE_TYPES = frozenset(NOT_ENTITIES)


@dataclass(frozen=True, slots=True)
class StatedByEntity:
    """One value of structured data."""

    path: str  # keys joined by dots, as schema.org names them
    text: str
    how: str  # json-ld, microdata or rdfa
    where: str
    href: str = ""
    shown: str = ""  # of microdata and RDFa: the visible text of its element
    label: str = ""  # of a PropertyValue: what it calls itself


def structured(facts: Facts) -> list[StatedByEntity]:
    """The values of the page's main entity, JSON-LD first, then microdata or RDFa."""
    stated: list[StatedByEntity] = []
    node = main_node(facts)
    if node is not None:
        stated += _walk_json(node, "", 0)
    item = main_item(facts)
    if item is not None:
        stated += _walk_item(item, "", 0)
    return stated


def block_values(block: Facts) -> list[StatedByEntity]:
    """The values of the first item of microdata or RDFa in a repeated block."""
    whole = [replace(item, in_card=False, region="") for item in block.items[:1]]
    item = _main_of(whole, Facts({}))
    return list(_walk_item(item, "", 0)) if item is not None else []


# --- JSON-LD ------------------------------------------------------------------------------------------


def nodes(facts: Facts) -> list[Mapping[str, Json]]:
    """All top-level JSON-LD nodes, graphs opened and main entities of pages pulled out."""
    return [node for document in facts.documents for node in _nodes(document, 0)]


def _nodes(value: Json, depth: int) -> Iterator[Mapping[str, Json]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for entry in value:
            yield from _nodes(entry, depth + 1)
    elif isinstance(value, Mapping):
        if "@graph" in value:
            yield from _nodes(value["@graph"], depth + 1)
        if "@type" in value:
            yield value
        main = value.get("mainEntity")
        if isinstance(main, Mapping) and "@type" in main:
            yield main


def types_of(node: Mapping[str, Json]) -> set[str]:
    """The node's types without their vocabulary's address."""
    declared = node.get("@type", node.get("type", ()))
    listed = declared if isinstance(declared, list) else str(declared).split()
    return {str(name).rstrip("/").split("/")[-1].split("#")[-1].split(":")[-1] for name in listed}


def main_node(facts: Facts) -> Mapping[str, Json] | None:
    """The JSON-LD node that the page is about: by its address, else by the page's heading, else the only one."""
    candidates = [node for node in nodes(facts) if not types_of(node) <= _SITE_TYPES]
    by_address = [node for node in candidates if _is_address(node, facts)]
    by_name = [node for node in candidates if _is_name(str(node.get("name") or node.get("headline") or ""), facts)]
    for chosen in (by_address, by_name, candidates):
        if len(chosen) == 1:
            return chosen[0]
    both = [node for node in by_address if node in by_name]
    return both[0] if both else None


def _is_address(node: Mapping[str, Json], facts: Facts) -> bool:
    here = {_page(facts.url), _page(facts.canonical)} - {""}
    said = [node.get("url"), node.get("@id"), node.get("mainEntityOfPage")]
    said += [reference.get("@id") for reference in said if isinstance(reference, Mapping)]
    offers = node.get("offers")
    said += [offers.get("url")] if isinstance(offers, Mapping) else []
    return any(isinstance(address, str) and _page(joined(facts.url, address)) in here for address in said)


def _page(url: str) -> str:
    return canonical_address(url).rstrip("/")


def _is_name(name: str, facts: Facts) -> bool:
    said, shown = squash(name), squash(facts.h1 or facts.title)
    return bool(said and shown) and (said == shown or said in shown or shown in said)


def _walk_json(value: Json, path: str, depth: int) -> Iterator[StatedByEntity]:
    if depth > _MAX_DEPTH or value is None:
        return
    if isinstance(value, Mapping):
        if "@value" in value:
            yield from _walk_json(value["@value"], path, depth + 1)
            return
        if types_of(value) == {"PropertyValue"} and "name" in value and "value" in value:
            where = f"{_JSON_LD} {path}"
            yield StatedByEntity(path, str(value["value"]), "json-ld", where, label=str(value["name"]))
            return
        for key, part in value.items():
            if key not in ("@context", "@type"):
                yield from _walk_json(part, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list):
        for entry in value[:50]:
            yield from _walk_json(entry, path, depth)
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if text.strip():
            href = text if text.startswith(("http://", "https://", "/")) and " " not in text else ""
            yield StatedByEntity(path, text, "json-ld", f"{_JSON_LD} {path}", href=href)


_JSON_LD = 'script[type="application/ld+json"]'


# --- microdata and RDFa -------------------------------------------------------------------------------


def main_item(facts: Facts) -> Item | None:
    """The item of microdata or RDFa that the page is about: outside repeated blocks and asides, not of the site."""
    return _main_of(facts.items, facts)


def _main_of(items: Sequence[Item], facts: Facts) -> Item | None:
    candidates = [
        item
        for item in _opened(items)
        if not item.in_card and not item.region and item.values and not _item_types(item) <= _SITE_TYPES
    ]
    named = [item for item in candidates if _is_name(_first_text(item, "name") or _first_text(item, "headline"), facts)]
    for chosen in (named, candidates):
        if len(chosen) == 1:
            return chosen[0]
    return named[0] if named else None


def _opened(items: Sequence[Item]) -> Iterator[Item]:
    """The items, and what page items call their main entity."""
    for item in items:
        yield item
        yield from (part for part in item.values.get("mainEntity", ()) if isinstance(part, Item))


def _item_types(item: Item) -> set[str]:
    return {address.rstrip("/").split("/")[-1].split("#")[-1] for address in item.type.split()}


def _first_text(item: Item, name: str) -> str:
    return next((part.text for part in item.values.get(name, ()) if isinstance(part, ItemValue)), "")


def _walk_item(item: Item, path: str, depth: int) -> Iterator[StatedByEntity]:
    if depth > _MAX_DEPTH:
        return
    if _item_types(item) == {"PropertyValue"} and path:
        label, value = _first_text(item, "name"), _first_text(item, "value")
        if label and value:
            yield StatedByEntity(path, value, item.kind, item.selector, label=label)
        return
    for name, parts in item.values.items():
        key = name.rstrip("/").split("/")[-1]
        inner = f"{path}.{key}" if path else key
        for part in parts:
            if isinstance(part, Item):
                yield from _walk_item(part, inner, depth + 1)
            elif part.text.strip():
                shown = part.shown if part.visible else ""
                yield StatedByEntity(inner, part.text, item.kind, part.selector, part.link, shown)


def path_phrase(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a path's last key, and of its last two."""
    keys = path.split(".")
    return phrase(keys[-1]), phrase(" ".join(keys[-2:]))
