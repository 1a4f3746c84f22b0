"""Witnesses: the places of a page that state a field's value, each with its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from shoal.agent.read.field import Field
from shoal.agent.read.names import META_NAMES
from shoal.agent.read.record.casting import Casting
from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.record.main_text import MainText, read_main_text, read_stated_day
from shoal.agent.read.record.node_values import ScoredNode, scored_nodes, stated_in, total_of_durations
from shoal.agent.read.record.nodes import FoundNode, nodes_of, property_of, types_of
from shoal.agent.read.record.shown_values import ShownValues
from shoal.agent.read.values.amounts import read_currency_of
from shoal.agent.read.values.days import day_of_address, read_day
from shoal.agent.read.vocabulary import (
    STRUCTURES,
    Types,
    all_supertypes,
    fit,
    properties_of_type,
    supertypes,
    types_for,
)
from shoal.agent.read.words import entry_key, folded, same_texts, tokens
from shoal.agent.support.json_value import Json

WitnessKind = Literal[
    "node", "twin", "sum", "node-other", "meta", "main", "strict", "url", "heading", "time", "label", "named", "list"
]
"""`node`: the structured data of the record. `twin`: the same thing in another syntax. `sum`: a total of what the node
states. `node-other`: another node of the page. `meta`: a meta element. `main`, `strict`: readers of main texts and
days. The others are places of the shown page."""

_TITLES = ("name", "headline")
_MAIN_PARTS: tuple[tuple[Literal["title", "author", "day", "text"], tuple[str, ...]], ...] = (
    ("title", _TITLES),
    ("author", ("author",)),
    ("day", ("datePublished",)),
    ("text", ("articleBody",)),
)
_GOOD = 0.85
_NAMED_MOST = 12
_LONGEST_NAMED = 100
_STRUCK = frozenset({"del", "s", "strike"})


@dataclass(frozen=True, slots=True)
class Witness:
    """One place that states a value of a field."""

    value: Json
    kind: WitnessKind
    fit: float  # of the field's name and what the place is named, 0 to 1
    where: str
    prop: str = ""  # the schema.org property that it was read as
    syntax: str = ""  # of structured data


@dataclass
class Testimony:
    """All that a page states of a schema's fields."""

    witnesses: dict[str, list[Witness]]  # by field
    types: Types  # of the record
    casting: Casting
    view: MainMatter
    nodes: list[FoundNode] = field(default_factory=list)  # of the record
    crowded: bool = False  # other nodes of the same type state as much: the record is one of several
    bodies: frozenset[str] = frozenset()  # fields that ask for the main text
    main_text: MainText = field(default_factory=MainText)


def gather(view: MainMatter, fields: Sequence[Field]) -> Testimony:
    """Every place of the page that states one of the fields."""
    types = types_for(tuple(each.name for each in fields))
    nodes = nodes_of(view, types)
    casting = Casting(nodes, view.base, view.lang, frozenset(map(folded, view.titles)))
    testimony = Testimony({each.name: [] for each in fields}, types, casting, view)
    gatherer = _Gatherer(testimony, fields)
    gatherer.from_nodes(scored_nodes(fields, casting, types, nodes.typed))
    gatherer.from_metas()
    gatherer.from_main_text()
    gatherer.from_headings_and_times()
    gatherer.from_shown()
    return testimony


@dataclass
class _Gatherer:
    testimony: Testimony
    fields: Sequence[Field]

    def add(self, asked: Field, witness: Witness) -> None:
        if witness.value not in (None, "", []):
            self.testimony.witnesses[asked.name].append(witness)

    def best_fit(self, asked: Field, props: Sequence[str]) -> float:
        return max(fit(asked.name, prop, self.testimony.types) for prop in props)

    # --- structured data ------------------------------------------------------------------------------

    def from_nodes(self, scored: Sequence[ScoredNode]) -> None:
        """The record's node and those that say the same thing again."""
        if not scored or not self._is_record(scored[0]):
            return
        main, guessed = scored[0], self.testimony.types
        types = types_of(main.source.node)
        self.testimony.crowded = not main.titled and any(_rivals(main, other) for other in scored[1:])
        loose = set(types) <= STRUCTURES and not all_supertypes(types) & set(guessed)
        for place, node in enumerate(scored):
            role = _role(place, node, main)
            if role is None:
                continue
            if role == "node" and loose:
                role = "node-other"
            if role in ("node", "twin"):
                self.testimony.nodes.append(node.source)
            self._from_node(node, role)
        self.testimony.types = tuple(dict.fromkeys((*types, *guessed)))

    def _is_record(self, node: ScoredNode) -> bool:
        types, guessed = types_of(node.source.node), self.testimony.types
        near = all_supertypes(types) & set(guessed) or (all_supertypes(guessed) & set(types)) - {"Thing"}
        return bool(near) or (node.titled and len(node.stated) >= 2) or len(node.stated) >= max(2, len(self.fields) / 2)

    def _from_node(self, scored: ScoredNode, role: WitnessKind) -> None:
        source, casting = scored.source, self.testimony.casting
        for asked in self.fields:
            stated = stated_in(source.node, asked, casting)
            for each in stated:
                where = f"{source.where} {each.path}"
                self.add(asked, Witness(each.value, role, each.fit, where, each.prop, source.syntax))
            if role == "node" and not stated:
                total = total_of_durations(source.node, asked, casting)
                where = f"{source.where}, sum of its durations"
                self.add(asked, Witness(total, "sum", 0.9, where, "totalTime", source.syntax))

    def from_metas(self) -> None:
        """Open Graph, Dublin Core and other named contents."""
        for el in self.testimony.view.page.root.iter("meta"):
            name = (el.get("property") or el.get("name") or el.get("itemprop") or "").lower().strip()
            content, props = (el.get("content") or "").strip(), META_NAMES.get(name)
            if not content or props is None:
                continue
            for asked in self.fields:
                fits = (fit(asked.name, prop, self.testimony.types) - 0.02 * at for at, prop in enumerate(props))
                fitness = max(fits)
                if fitness >= _GOOD and asked.kind != "list":
                    value = self.testimony.casting.cast(content, asked, props[0])
                    self.add(asked, Witness(value, "meta", fitness, f"meta {name}", props[0]))

    # --- main text ------------------------------------------------------------------------------------

    def from_main_text(self) -> None:
        """Title, author, day and text of a written work."""
        testimony = self.testimony
        if "CreativeWork" not in all_supertypes(testimony.types):
            return
        of_work = [each for each in self.fields if each.kind in ("text", "day") and self._of_work(each)]
        if not of_work:
            return
        testimony.main_text = main = read_main_text(testimony.view)
        testimony.bodies = frozenset(
            each.name for each in of_work if each.kind == "text" and self.best_fit(each, ("articleBody", "text")) >= 0.9
        )
        for asked in of_work:
            for part, props in _MAIN_PARTS:
                fitness, said = self.best_fit(asked, props), getattr(main, part)
                if fitness < 0.9 or (part == "text" and asked.name not in testimony.bodies):
                    continue
                value = said if part == "text" else testimony.casting.cast(said, asked, props[0])
                self.add(asked, Witness(value, "main", fitness, f"main text reader, {part}", props[0]))
                if part == "day":
                    self._from_days(asked, fitness)

    def _of_work(self, asked: Field) -> bool:
        return self.best_fit(asked, ("name", "headline", "author", "datePublished", "articleBody", "text")) >= 0.9

    def _from_days(self, asked: Field, fitness: float) -> None:
        view = self.testimony.view
        stated = self.testimony.casting.cast(read_stated_day(view), asked, "datePublished")
        self.add(asked, Witness(stated, "strict", fitness, "day reader, without guesses", "datePublished"))
        day = day_of_address(view.page.url)
        self.add(asked, Witness(day, "url", fitness, "the page's address", "datePublished"))

    # --- the shown page -------------------------------------------------------------------------------

    def from_headings_and_times(self) -> None:
        """Headings of the first level for what asks for a title, the first time element for a day of publication."""
        view = self.testimony.view
        for asked in self.fields:
            if asked.kind == "text" and self.best_fit(asked, _TITLES) >= 0.9:
                for el in view.main_elements("h1"):
                    text = view.text(el)[:300]
                    self.add(asked, Witness(text, "heading", 0.9, "h1", "name"))
            if asked.kind == "day" and self.best_fit(asked, ("datePublished",)) >= 0.9:
                moment = next((el for el in view.main_elements("time") if el.get("datetime")), None)
                day = read_day(moment.get("datetime", "")) if moment is not None else None
                self.add(asked, Witness(day, "time", 0.85, "time", "datePublished"))

    def from_shown(self) -> None:
        """Labels, headed lists and named elements."""
        shown = ShownValues(self.testimony.view)
        for asked in self.fields:
            if asked.kind in ("address", "object") or self._has_long_text(asked):
                continue
            names = _Names.of(asked, self.testimony.types)
            if asked.kind == "list":
                self._from_lists(asked, names, shown)
            else:
                self._from_labels(asked, names, shown)
                self._from_named(asked, names, shown)

    def _has_long_text(self, asked: Field) -> bool:
        given = self.testimony.witnesses[asked.name]
        return any(each.kind == "main" for each in given) and len(str(given[0].value)) > 400

    def _from_lists(self, asked: Field, names: _Names, shown: ShownValues) -> None:
        merged: dict[str, list[str]] = {}
        for each in shown.lists:
            if names.has(each.heading):
                merged.setdefault(each.heading, []).extend(each.entries)
        for heading, entries in merged.items():
            self.add(asked, Witness(entries, "list", 0.85, f"list under '{heading}'"))

    def _from_labels(self, asked: Field, names: _Names, shown: ShownValues) -> None:
        cast = self.testimony.casting.cast
        for each in shown.labelled:
            value: Json = None
            if names.has(each.label):
                value = cast(each.value, asked, names.prop)
            elif names.is_currency and tokens(each.label) == ("price",):
                value = read_currency_of(each.value)
            self.add(asked, Witness(value, "label", 0.85, f"label '{each.label}'", names.prop))

    def _from_named(self, asked: Field, names: _Names, shown: ShownValues) -> None:
        view, types = self.testimony.view, self.testimony.types
        for words in sorted(names.names | ({("price",)} if names.is_currency else set())):
            values: list[Json] = []
            for place, el in enumerate(shown.named(words, types)):
                if place == _NAMED_MOST:
                    break
                text = el.get("content") or (view.text(el) if view.text_length(el) < 4 * _LONGEST_NAMED else "")
                struck = el.tag in _STRUCK or any(above.tag in _STRUCK for above in el.iterancestors())
                if text and len(text) < _LONGEST_NAMED and not struck:
                    value = read_currency_of(text) if names.is_currency else self._cast(text, asked, names.prop)
                    if value not in (None, "", []):
                        values.append(value)
            alike = sum(same(value, values[0]) for value in values)
            if values and (alike == len(values) or (alike >= 2 and alike >= 0.6 * len(values))):
                where = f"element named {' '.join(words)}"
                self.add(asked, Witness(values[0], "named", 0.75, where, names.prop))

    def _cast(self, text: str, asked: Field, prop: str) -> Json:
        return self.testimony.casting.cast(text, asked, prop)


@dataclass(frozen=True, slots=True)
class _Names:
    """What a field may be called on the page, and the property that it is."""

    names: frozenset[tuple[str, ...]]  # each as sorted stems
    prop: str  # "" where no property fits well

    @classmethod
    def of(cls, asked: Field, types: Types) -> _Names:
        own = {word for name in types for word in tokens(name)}
        fits = {
            prop: fit(asked.name, prop, types)
            for name in types
            for above in supertypes(name)
            for prop in properties_of_type(above)
        }
        best = sorted(fits.items(), key=lambda each: (-each[1], each[0]))[:3]
        names = {tuple(sorted(tokens(asked.name)))}
        names |= {tuple(sorted(tokens(prop))) for prop, fitness in best if fitness >= _GOOD}
        names |= {tuple(sorted(set(tokens(prop)) - own)) for prop, fitness in best if fitness >= 0.95}
        prop = best[0][0] if best and best[0][1] >= 0.7 else ""
        return cls(frozenset(name for name in names if name), prop)

    @property
    def is_currency(self) -> bool:
        return self.prop == "priceCurrency"

    def has(self, label: str) -> bool:
        return tuple(sorted(tokens(label))) in self.names


def _rivals(main: ScoredNode, other: ScoredNode) -> bool:
    """Another thing of the same type that states as much."""
    return (
        other.score >= 0.9 * main.score
        and set(types_of(other.source.node)) == set(types_of(main.source.node))
        and other.name != main.name
        and not other.source.parent
    )


def _role(place: int, node: ScoredNode, main: ScoredNode) -> WitnessKind | None:
    types, main_types = types_of(node.source.node), types_of(main.source.node)
    kin = (all_supertypes(types) & all_supertypes(main_types)) - {"Thing", "CreativeWork", "Intangible"}
    ident = property_of(node.source.node, "@id")
    if place == 0:
        role: WitnessKind = "node"
    elif node.source.parent:
        return None
    elif kin and ((node.name and node.name == main.name) or (ident and ident == property_of(main.source.node, "@id"))):
        role = "twin"
    elif node.titled or "WebPage" in types:
        role = "node-other"
    else:
        return None
    if node.source.syntax == "itemprop":
        return "twin" if place == 0 else "node-other"
    return role


def same(first: Json, second: Json) -> bool:
    """True when two values say the same: figures to the cent, addresses by their file, texts by their letters."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return [entry_key(str(entry)) for entry in first] == [entry_key(str(entry)) for entry in second]
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second) < 0.006
    if isinstance(first, str) and isinstance(second, str):
        return same_texts(first, second)
    return bool(first == second)
