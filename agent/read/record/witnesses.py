"""Witnesses of a field's value beside the shown places: structured data, meta elements, main text, the address."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shoal.agent.read.field import Field
from shoal.agent.read.names import META_NAMES
from shoal.agent.read.record.casting import Casting
from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.record.main_text import MainTexts, read_stated_day
from shoal.agent.read.record.node_values import STOCK, ScoredNode, scored_nodes, stated_in, total_of_durations
from shoal.agent.read.record.nodes import FoundNode, nodes_of, property_of, types_of, values_of
from shoal.agent.read.record.shown_rows import ShownRows
from shoal.agent.read.values.days import day_of_address
from shoal.agent.read.values.phrases import names_page
from shoal.agent.read.vocabulary import STRUCTURES, Types, all_supertypes, fit, known_property, types_for
from shoal.agent.read.words import entry_key, folded, same_texts
from shoal.agent.support.json_value import Json

WitnessKind = Literal["node", "twin", "sum", "node-other", "meta", "main", "strict", "url"]
"""`node`: the structured data of the record. `twin`: the same thing in another syntax. `sum`: a total of what the node
states. `node-other`: another node of the page. `meta`: a meta element. `main`, `strict`: readers of main texts and
days. `url`: the page's address."""

_TITLES = ("name", "headline")
_MAIN_PARTS: tuple[tuple[Literal["title", "author", "day", "text"], tuple[str, ...]], ...] = (
    ("title", _TITLES),
    ("author", ("author",)),
    ("day", ("datePublished",)),
    ("text", ("articleBody",)),
)
_GOOD = 0.85


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
    """All that a page states of a schema's fields beside what stands in its shown places."""

    witnesses: defaultdict[str, list[Witness]]  # by field; of an object by its name, a dot, and the part's name
    types: Types  # of the record
    casting: Casting
    view: MainMatter
    rows: ShownRows
    texts: MainTexts
    crowded: bool = False  # other nodes of the same type state as much: the record is one of several
    bodies: frozenset[str] = frozenset()  # fields that ask for the main text


def gather(view: MainMatter, fields: Sequence[Field]) -> Testimony:
    """All that the page states of the fields beside what stands in its shown places."""
    types = types_for(tuple(each.requested_name for each in fields))
    nodes = nodes_of(view, types)
    casting = Casting(nodes, view.base, view.lang, frozenset(map(folded, view.titles)))
    testimony = Testimony(defaultdict(list), types, casting, view, ShownRows(view), MainTexts(view))
    gatherer = _Gatherer(testimony, fields)
    gatherer.from_nodes(scored_nodes(fields, casting, types, nodes.typed))
    gatherer.from_metas()
    gatherer.from_title()
    gatherer.from_main_text()
    return testimony


@dataclass
class _Gatherer:
    testimony: Testimony
    fields: Sequence[Field]

    def add(self, name: str, witness: Witness) -> None:
        if witness.value not in (None, "", []):
            self.testimony.witnesses[name].append(witness)

    def best_fit(self, asked: Field, props: Sequence[str]) -> float:
        return max(fit(asked.requested_name, prop, self.testimony.types) for prop in props)

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
            self._from_node(node, role)
        self._take_variants_together(main.source.syntax)
        self.testimony.types = tuple(dict.fromkeys((*types, *guessed)))

    def _take_variants_together(self, syntax: str) -> None:
        """Several nodes of one name are variants of one thing, which is as available as the best of them."""
        for stated in self.testimony.witnesses.values():
            of_variants = [
                place
                for place, each in enumerate(stated)
                if each.kind in ("node", "twin") and each.syntax == syntax and each.value in STOCK
            ]
            best = min((str(stated[place].value) for place in of_variants), key=STOCK.index, default="")
            for place in of_variants:
                stated[place] = replace(stated[place], value=best)

    def _is_record(self, node: ScoredNode) -> bool:
        types, guessed = types_of(node.source.node), self.testimony.types
        near = all_supertypes(types) & set(guessed) or (all_supertypes(guessed) & set(types)) - {"Thing"}
        return bool(near) or (node.titled and len(node.stated) >= 2) or len(node.stated) >= max(2, len(self.fields) / 2)

    def _from_node(self, scored: ScoredNode, role: WitnessKind) -> None:
        source, casting = scored.source, self.testimony.casting
        for asked in self.fields:
            if asked.kind == "object":
                self._from_structure(source, asked, role)
                continue
            stated = stated_in(source.node, asked, casting)
            for each in stated:
                where = f"{source.where} {each.path}"
                self.add(asked.name, Witness(each.value, role, each.fit, where, each.prop, source.syntax))
            if role == "node" and not stated:
                total = total_of_durations(source.node, asked, casting)
                where = f"{source.where}, sum of its durations"
                self.add(asked.name, Witness(total, "sum", 0.9, where, "totalTime", source.syntax))

    def _from_structure(self, source: FoundNode, asked: Field, role: WitnessKind) -> None:
        """The parts of an object, from the structure that hangs from the node under the object's name."""
        casting = self.testimony.casting
        for key, raw in source.node.items():
            name = known_property(key)
            joined = casting.nodes.join(next(iter(values_of(raw)), None))
            if fit(asked.requested_name, name, types_of(source.node)) < _GOOD or not isinstance(joined, Mapping):
                continue
            for part in map(Field, asked.prop.properties):
                for each in stated_in(joined, part, casting):
                    where = f"{source.where} {name}.{each.path}"
                    witness = Witness(each.value, role, each.fit, where, each.prop, source.syntax)
                    self.add(f"{asked.name}.{part.name}", witness)

    def from_metas(self) -> None:
        """Open Graph, Dublin Core and other named contents."""
        for el in self.testimony.view.page.root.iter("meta"):
            name = (el.get("property") or el.get("name") or el.get("itemprop") or "").lower().strip()
            content, props = (el.get("content") or "").strip(), META_NAMES.get(name)
            if not content or props is None:
                continue
            for asked in self.fields:
                fits = (
                    fit(asked.requested_name, prop, self.testimony.types) - 0.02 * at for at, prop in enumerate(props)
                )
                fitness = max(fits)
                if fitness >= _GOOD and asked.kind != "list":
                    value = self.testimony.casting.cast(content, asked, props[0])
                    self.add(asked.name, Witness(value, "meta", fitness, f"meta {name}", props[0]))

    def from_title(self) -> None:
        """The document's title, where the page shows it as a line."""
        for asked in self.fields:
            fitness = self.best_fit(asked, _TITLES)
            if fitness >= _GOOD and asked.kind == "text":
                title = self.testimony.view.title_line
                self.add(asked.name, Witness("" if names_page(title) else title, "meta", fitness, "title", "name"))

    # --- main text ------------------------------------------------------------------------------------

    def from_main_text(self) -> None:
        """Title, author, day and text of a written work."""
        testimony = self.testimony
        if "CreativeWork" not in all_supertypes(testimony.types):
            return
        of_work = [each for each in self.fields if each.kind in ("text", "day") and self._of_work(each)]
        testimony.bodies = frozenset(
            each.name for each in of_work if each.kind == "text" and self.best_fit(each, ("articleBody", "text")) >= 0.9
        )
        if testimony.bodies or not all(each.kind == "text" and self._is_stated(each) for each in of_work):
            self._from_reader(of_work)

    def _is_stated(self, asked: Field) -> bool:
        """True where the record's own node states a text: what the reader guesses of it does not count against that."""
        witnesses = self.testimony.witnesses[asked.name]
        return not self.testimony.crowded and any(witness.kind == "node" for witness in witnesses)

    def _from_reader(self, of_work: Sequence[Field]) -> None:
        testimony = self.testimony
        main = testimony.texts.main
        for asked in of_work:
            for part, props in _MAIN_PARTS:
                fitness, text = self.best_fit(asked, props), getattr(main, part)
                if fitness < 0.9 or (part == "text" and asked.name not in testimony.bodies):
                    continue
                value = testimony.texts.text if part == "text" else testimony.casting.cast(text, asked, props[0])
                if part == "title" and (testimony.view.title_line or names_page(text)):
                    continue  # the reader guesses, and mostly takes the first heading
                if part == "day" and isinstance(value, str) and testimony.view.dates_another_event(value):
                    continue
                self.add(asked.name, Witness(value, "main", fitness, f"main text reader, {part}", props[0]))
                if part == "day":
                    self._from_days(asked, fitness)

    def _of_work(self, asked: Field) -> bool:
        return self.best_fit(asked, ("name", "headline", "author", "datePublished", "articleBody", "text")) >= 0.9

    def _from_days(self, asked: Field, fitness: float) -> None:
        view = self.testimony.view
        stated = self.testimony.casting.cast(read_stated_day(view), asked, "datePublished")
        self.add(asked.name, Witness(stated, "strict", fitness, "day reader, without guesses", "datePublished"))
        day = day_of_address(view.page.url)
        self.add(asked.name, Witness(day, "url", fitness, "the page's address", "datePublished"))


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
