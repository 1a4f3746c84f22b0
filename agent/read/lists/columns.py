"""The columns of a run: what stands at one place, beside one label or behind one link in all its records."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from statistics import median

from lxml.html import HtmlElement

from shoal.agent.read.facts.lines import labelled_parts
from shoal.agent.read.facts.tables import is_cell
from shoal.agent.read.lists.attributes import attribute_columns
from shoal.agent.read.lists.column import Column, Key, Stretch, Value
from shoal.agent.read.lists.elements import Path, block_of, cell_step, steps_of_cell, tags_of
from shoal.agent.read.lists.pieces import Piece, joined
from shoal.agent.read.lists.places import (
    addresses,
    beside,
    common_steps,
    ends_with_badge,
    first_link,
    headed,
    held_with,
    named_before,
    within_line,
    within_named,
)
from shoal.agent.read.lists.runs import Run
from shoal.agent.read.lists.typed_columns import typed_columns
from shoal.agent.read.lists.words import FILE_TYPES, MEANING_WORDS, TERM_WORDS
from shoal.agent.read.values.text_values import days_in

_LONGEST_BADGE = 40
_MOSTLY = 0.7
_MOST_ALIKE = 20
"""Pieces, lines or links of a record at one path that are places: further ones are a long text's, or a list's."""
_CONTROL_LEVELS = 4
_MEANS = re.compile(r"[-–—:]\s+(\S.*)$")
_FILE = re.compile(r"\.(\w{2,4})(?:$|[?#])")
_NAMING = ("id", "itemprop", "data-label", "data-title", "headers", "data-th")


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """One record's value of a place."""

    text: str
    pieces: Sequence[Piece]  # that it is made of; empty for a heading above the record
    link: HtmlElement | None = None  # that it stands in


def columns_of(run: Run) -> list[Column]:
    """The columns of a run, which are made once."""
    if run.columns is None:
        collector = _Collector(run)
        for place, pieces in enumerate(collector.records):
            collector.take(place, pieces)
        collector.join_places()
        columns = [*collector.place_columns(), *collector.link_columns(), *collector.columns_around()]
        run.columns = [*columns, *attribute_columns(run)] if columns else []
    return run.columns


@dataclass(slots=True)
class _Link:
    """One record's link of a place."""

    target: str
    piece: Piece
    text: str
    header: str


class _Collector:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.page = run.page
        self.records = run.records()
        self.count = len(self.records)
        self._places: dict[Key, dict[int, PlacedValue]] = defaultdict(dict)
        self._labels: dict[Key, str] = {}
        self._links: dict[Key, dict[int, _Link]] = defaultdict(dict)
        self._cell_sizes: Counter[tuple[int, str]] = Counter()  # characters
        terms = [
            piece.text for pieces in self.records for piece in pieces[:1] if piece.path[run.depth :][:1] == ("dt@0",)
        ]
        self._labelled = bool(terms) and all(term.endswith((":", "：")) for term in terms)  # its terms are labels
        self._columns: set[str] = set()  # steps of all cells
        self._first_links = [first_link(pieces) for pieces in self.records]
        self._several: Counter[tuple[str, int]] = Counter()  # links to one kind of file, by record
        self._numbers: dict[str, dict[int, Counter[Path]]] = {"piece": {}, "line": {}}
        self._texts = Counter(text for pieces in self.records for text in {piece.text.casefold() for piece in pieces})
        firsts = (
            {parts[0][0].casefold() for each in pieces if (parts := labelled_parts(each.text))}
            for pieces in self.records
        )
        self._prefixes = Counter(chain.from_iterable(firsts))

    # --- one record -----------------------------------------------------------------------------------

    def take(self, record: int, pieces: Sequence[Piece]) -> None:
        """Note the places of one record's pieces."""
        numbers: Counter[Path] = Counter()
        lines: dict[int, list[Piece]] = defaultdict(list)
        cells: dict[str, list[Piece]] = defaultdict(list)
        seen: set[HtmlElement] = set()
        linked: Counter[Path] = Counter()
        for place, piece in enumerate(pieces):
            path = piece.path[self.run.depth :]
            step = cell_step(path)
            header = self.run.headers.get(step, "")
            if numbers[path] < _MOST_ALIKE and not self.page.mentioned(piece):
                within = within_named(pieces, place)
                named = header or named_before(pieces, place)
                self._put(("piece", path, numbers[path]), record, joined(within), within, named, piece.link)
            numbers[path] += 1
            lines[piece.line].append(piece)
            if step:
                cells[step].append(piece)
            if piece.link is not None and piece.link not in seen:
                seen.add(piece.link)
                if linked[path] < _MOST_ALIKE:
                    self._take_link(record, piece, path, linked[path], header)
                linked[path] += 1
        self._numbers["piece"][record] = numbers
        self._take_labelled(record, list(lines.values()))
        self._columns |= cells.keys()
        self._take_pair(record, pieces)
        self._take_lines(record, lines, cells)
        self._take_cells(record, cells)

    def _take_pair(self, record: int, pieces: Sequence[Piece]) -> None:
        """Note the parts of a record that says what its first words mean, or that unfolds under them."""
        head = self._unfolding(pieces) or headed(pieces, self.run.depth)
        if head and len(head) < len(pieces):
            self._put(("pair", "td@0"), record, joined(head), head, "", head[0].link)
            self._put(("pair", "td@1"), record, joined(pieces[len(head) :]), pieces[len(head) :], "", None)
            return
        match = _MEANS.match(pieces[1].text) if len(pieces) > 1 and pieces[0].line == pieces[1].line else None
        if match is not None and pieces[0].path != pieces[1].path:
            self._put(("pair", "td@0"), record, pieces[0].text, pieces[:1], "", pieces[0].link)
            meaning = joined([replace(pieces[1], text=match[1]), *pieces[2:]])
            self._put(("pair", "td@1"), record, meaning, pieces[1:], "", None)

    def _unfolding(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        """The first pieces of a record, where they are the control that shows the rest."""
        around = islice((pieces[0].el, *pieces[0].el.iterancestors()), _CONTROL_LEVELS) if pieces else ()
        control = next((el for el in around if el.tag == "summary" or el.get("aria-expanded")), None)
        start, end = self.page.span.get(control, (0, 0)) if control is not None else (0, 0)
        return pieces[: end - start] if end > start and pieces[0].order == start else ()

    def _put(
        self, key: Key, record: int, text: str, pieces: Sequence[Piece], label: str, link: HtmlElement | None
    ) -> None:
        if record in self._places[key]:
            return
        self._places[key][record] = PlacedValue(text, pieces, link)
        if label:
            self._labels.setdefault(key, label)

    def _header(self, path: Path) -> str:
        cell = cell_step(path)
        return self.run.headers.get(cell, "") if cell else ""

    def _take_labelled(self, record: int, lines: Sequence[Sequence[Piece]]) -> None:
        """Note what stands behind a label in its line, else the line below it."""
        for place, line in enumerate(lines):
            starts = [
                at
                for at, piece in enumerate(line)
                if (self._is_label(piece) and not (at and line[at - 1].text.endswith(":") and piece.text[-1:] != ":"))
                or self._labels_in(piece)
            ]
            for start, end in pairwise([*starts, len(line)]):
                if parts := self._labels_in(line[start]):
                    held = held_with(line[start], line[start:end])
                    for at, (label, text) in enumerate(parts, 1):
                        value = [replace(held[0], text=text), *(held[1:] if at == len(parts) else ())]
                        self._put(("label", label.casefold()), record, joined(value), held, label, line[start].link)
                    continue
                values = held_with(line[start], line[start + 1 : end])
                if not values and start == len(line) - 1 and place + 1 < len(lines):
                    below = lines[place + 1]
                    ends = (at for at, piece in enumerate(below) if piece.text.endswith(":"))
                    values = below[: next(ends, len(below))]
                named = line[start].text.endswith(":") or line[start].path[-1].startswith("th@")
                has_value = bool(values) and (named or values[0].link is not None or not self._is_constant(values[0]))
                if has_value and beside(line[start], values[0]):
                    label = line[start].text
                    link = values[0].link if len({piece.link for piece in values}) == 1 else None
                    self._put(("label", label.casefold()), record, joined(values), values, label, link)

    def _labels_in(self, piece: Piece) -> Sequence[tuple[str, str]]:
        """The label that a piece begins with, and what follows it, where several records have it; each further one."""
        parts = labelled_parts(piece.text)
        return parts if parts and self._prefixes[parts[0][0].casefold()] >= max(2, 0.3 * self.count) else ()

    def _is_constant(self, piece: Piece) -> bool:
        """True for a short text that half of the records have."""
        often = self._texts[piece.text.casefold()] >= max(3, 0.5 * self.count)
        return self.count > 2 and often and 1 < len(piece.text) < 45 and not re.search(r"\d", piece.text)

    def _is_label(self, piece: Piece) -> bool:
        if self._is_constant(piece) and piece.link is None:
            return True
        return piece.text.endswith(":") and len(piece.text) < 40

    def _take_link(self, record: int, piece: Piece, path: Path, ordinal: int, header: str) -> None:
        link = piece.link
        assert link is not None
        text = self.page.text_of(link) or piece.text
        record_link = _Link(self.page.address(link), piece, text, header)
        self._links["link", path, ordinal].setdefault(record, record_link)
        if self._texts[text.casefold()] >= 0.2 * self.count:
            self._links["link text", text.casefold()].setdefault(record, record_link)
        ending = _FILE.search(record_link.target)
        if ending and ending[1].casefold() in FILE_TYPES:
            self._links["link file", ending[1].casefold()].setdefault(record, record_link)
            self._several[ending[1].casefold(), record] += 1

    def _take_lines(
        self, record: int, lines: Mapping[int, Sequence[Piece]], cells: Mapping[str, Sequence[Piece]]
    ) -> None:
        numbers: Counter[Path] = Counter()
        for line in lines.values():
            path = block_of(line[0].path[self.run.depth :])
            key = ("line", path, numbers[path])
            numbers[path] += 1
            if key[2] >= _MOST_ALIKE or (self.page.mentioned(line[0]) and len(line) == 1) or ends_with_badge(line):
                continue
            step = cell_step(path)
            if not step or len(line) < len(cells[step]):
                links = {piece.link for piece in line}
                link = line[0].link if len(links) == 1 else None
                text = joined(line)
                self._put(key, record, text, line, self._header(path), link)
        self._numbers["line"][record] = numbers

    def _take_cells(self, record: int, cells: Mapping[str, Sequence[Piece]]) -> None:
        for step, pieces in cells.items():
            if step[:3] in ("td@", "th@") and len({self._cell_of(piece.el) for piece in pieces}) > 1:
                continue  # a record of several rows
            if step[1] in "td" and step[0] == "d" and len({self._definitions_of(piece.el) for piece in pieces}) > 1:
                continue
            pieces = self._without_badges(pieces) if step[:3] in ("td@", "th@") else pieces
            text = _text_of_cell(step, pieces)
            self._cell_sizes[record, step] = len(text)
            link = pieces[0].link if len({piece.link for piece in pieces}) == 1 else None
            for each in steps_of_cell(self._cell_of(pieces[0].el), step):
                self._put(("cell", each), record, text, pieces, self.run.headers.get(each, ""), link)

    def _without_badges(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        """A cell's pieces without the badges at its end; all of them where it begins with one, or is a label."""
        main = pieces[0]
        within = set(within_line(main.el))
        if len(pieces) == 1 or any(map(self.page.page.boxed, within)):
            return pieces
        strong = main.link is not None or any(el.tag in ("b", "strong") for el in within)

        def is_badge(piece: Piece) -> bool:
            own = [el for el in within_line(piece.el) if el not in within]
            led = strong or piece.line != main.line
            small = led and any(el.tag == "small" or self.page.page.smaller(el) for el in own)
            set_apart = small or any(map(self.page.page.boxed, own))
            return set_apart and len(piece.text) <= _LONGEST_BADGE

        left = len(pieces)
        while left > 1 and is_badge(pieces[left - 1]):
            left -= 1
        return pieces if joined(pieces[:left]).endswith((":", "：")) else pieces[:left]

    @staticmethod
    def _definitions_of(el: HtmlElement) -> HtmlElement | None:
        """The outermost list of definitions that an element stands in, within its record."""
        return next((above.getparent() for above in (el, *el.iterancestors()) if above.tag in ("dt", "dd")), None)

    def _cell_of(self, el: HtmlElement) -> HtmlElement:
        within = (el, *el.iterancestors())
        return next((above for above in within if is_cell(above) or above.getparent() in self.page.laid), el)

    # --- all records ----------------------------------------------------------------------------------

    def join_places(self) -> None:
        """Join places that differ in classes alone, where no record has both; add the days between records."""
        _join(self._places)
        _join(self._links)
        for record, day in self._days_between().items():
            self._places["heading", "day"][record] = PlacedValue(day, ())

    def _days_between(self) -> dict[int, str]:
        """The day in a heading that governs each record.

        None where no heading stands between two records, or none above the first one: the days end records then.
        """
        day, by_record, between = None, dict[int, str](), 0
        last = max(0, self.run.spans[0][0] - 12)
        for record, (start, end) in enumerate(self.run.spans):
            for piece in self.page.pieces[last:start]:
                if len(piece.text) < 90 and days_in(piece.text):
                    day, between = piece.text, between + (record > 0)
            if day is not None:
                by_record[record] = day
            last = end
        return by_record if between and 0 in by_record else {}

    def place_columns(self) -> list[Column]:
        """The columns of all places that enough records have."""
        columns = []
        for key, cells in self._places.items():
            if len(cells) < max(1 if self.run.headers else 2, 0.3 * self.count) or _is_one_piece(key, cells):
                continue
            pieces = next(iter(cells.values())).pieces
            first = pieces[0] if pieces else None
            place = self._column(key, cells, first)
            place.in_cells = first is not None and bool(cell_step(first.path[self.run.depth :]))
            place.first, place.unsteady = first, self._unsteady(key, cells)
            if place.stretches:
                place.place = median(self._place(record, each.first) for record, each in place.stretches.items())
            sizes = self._sizes_of_cells(place)
            place.part = place.share_of(sizes)
            made = [*typed_columns(place), *addresses(place)]
            for column in made:
                column.part = column.share_of(sizes)
            columns += made
        return columns

    def _names(self, key: Key) -> frozenset[str]:
        """Return what a term or its meaning may be called, where the place is one."""
        step = key[1] if key[0] == "cell" else next(iter(key[1]), "") if isinstance(key[1], tuple) else ""
        names = {"dt@0": TERM_WORDS, "dd@0": MEANING_WORDS}.get(str(step), frozenset())
        return names if names and not self._labelled else frozenset()

    def _loose_names(self, key: Key) -> frozenset[str]:
        """The same for "term: meaning" in a line, and for the two cells of rows that no header names."""
        if key[0] == "pair":
            return TERM_WORDS if key[1] == "td@0" else MEANING_WORDS
        if self.run.headers or self._columns != {"td@0", "td@1"}:
            return frozenset()
        step = key[1] if key[0] == "cell" else next(iter(key[1]), "") if isinstance(key[1], tuple) else ""
        return {"td@0": TERM_WORDS, "td@1": MEANING_WORDS}.get(str(step), frozenset())

    def _column(self, key: Key, cells: Mapping[int, PlacedValue], first: Piece | None) -> Column:
        path = key[1] if key[0] in ("piece", "line") and isinstance(key[1], tuple) else ()
        hints = [str(step) for step in path if "." in str(step)]
        label = self._labels.get(key, "")
        if first is not None and key[0] != "pair":
            hints += ["address"] if any(el.tag == "address" for el in within_line(first.el)) else []
            if key[0] != "line" or all(len(cell.pieces) == 1 for cell in cells.values()):
                hints += [first.el.get(name) or "" for name in _NAMING]
            hints += self._names_around(first, cells)
            label = label or first.el.get("data-label") or first.el.get("data-title") or ""
        return Column(
            "text",
            key,
            [cells[record].text if record in cells else None for record in range(self.count)],
            label,
            " ".join(hints),
            names=self._names(key),
            loose_names=self._loose_names(key),
            leads=not label and self._leads(cells),
            links=[cells[record].link if record in cells else None for record in range(self.count)],
            stretches={
                record: Stretch(cell.pieces[0].order, cell.pieces[-1].order)
                for record, cell in cells.items()
                if cell.pieces
            },
        )

    def _names_around(self, first: Piece, cells: Mapping[int, PlacedValue]) -> list[str]:
        """The class of a value's cell, and the steps that the addresses of its links have in common."""
        cell = self._cell_of(first.el)
        names = [cell.get("class") or ""] if is_cell(cell) else []
        links = [cell.link for cell in cells.values() if cell.link is not None]
        if len(links) == len(cells) > 1:
            names += [first.link.get("rel") or ""] if first.link is not None else []
            names += common_steps([self.page.address(link) for link in links])
        return names

    def _leads(self, cells: Mapping[int, PlacedValue]) -> bool:
        """True where most values begin their records, or are the first link in them."""
        begun = sum(
            bool(cell.pieces) and cell.pieces[0].order == self.run.spans[record][0] for record, cell in cells.items()
        )
        linked = sum(cell.link is not None and cell.link is self._first_links[record] for record, cell in cells.items())
        return max(begun, linked) > _MOSTLY * len(cells)

    def _sizes_of_cells(self, column: Column) -> dict[int, int]:
        """The characters of the cell that each value stands in, by record."""
        if not self._columns:
            return {}
        steps = {
            record: cell_step(self.page.pieces[stretch.first].path[self.run.depth :])
            for record, stretch in column.stretches.items()
        }
        return {record: self._cell_sizes.get((record, step), 0) for record, step in steps.items() if step}

    def _unsteady(self, key: Key, cells: Mapping[int, PlacedValue]) -> float:
        counted = self._numbers.get(str(key[0]))
        if counted is None or not isinstance(key[1], tuple):
            return 0.0
        numbers = Counter(counted[record].get(key[1], 0) for record in cells)
        often = numbers.most_common(1)[0][1] / len(cells)
        return (1 - often) * (1.0 if key[2] else 0.3)

    def _place(self, record: int, order: int) -> float:
        start, end = self.run.spans[record]
        return (order - start) / max(1, end - start)

    def link_columns(self) -> list[Column]:
        """The columns of links: by place, by text, by kind of file."""
        columns = []
        for key, cells in self._links.items():
            if len(cells) < max(2, (0.2 if key[0] == "link text" else 0.3) * self.count):
                continue
            column = Column(
                "link",
                key,
                [cells[record].target if record in cells else None for record in range(self.count)],
                self._link_label(cells),
                self._link_hint(cells),
                links=[cells[record].piece.link if record in cells else None for record in range(self.count)],
            )
            if key[0] == "link file":
                column.unsteady = sum(self._several[str(key[1]), record] > 1 for record in cells) / len(cells)
            columns.append(column)
        return columns

    @staticmethod
    def _link_label(cells: Mapping[int, _Link]) -> str:
        text, often = Counter(cell.text for cell in cells.values()).most_common(1)[0]
        header = next(iter(cells.values())).header
        return " ".join(part for part in (header, text if often > 0.5 * len(cells) else "") if part)

    def _link_hint(self, cells: Mapping[int, _Link]) -> str:
        piece = next(iter(cells.values())).piece
        classes = [step for step in piece.path[self.run.depth :] if "." in step]
        own = [piece.link.get(name) or "" for name in ("title", "class")] if piece.link is not None else []
        steps = common_steps([cell.target for cell in cells.values()])
        return " ".join(part for part in (*steps, *own, *classes) if part)

    def columns_around(self) -> list[Column]:
        """The column of links in which whole records stand."""
        links = [self._link_around(pieces) for pieces in self.records]
        if sum(link is not None for link in links) <= 0.5 * self.count:
            return []
        targets: list[Value | None] = [self.page.address(link) if link is not None else None for link in links]
        return [Column("link", ("link", "around"), targets, links=links)]

    @staticmethod
    def _link_around(pieces: Sequence[Piece]) -> HtmlElement | None:
        if not pieces or pieces[0].link is not None:
            return None
        return next((el for el in pieces[0].el.iterancestors("a") if el.get("href")), None)


def _join(group: dict[Key, dict[int, PlacedValue]] | dict[Key, dict[int, _Link]]) -> None:
    alike: dict[Key, list[Key]] = defaultdict(list)
    for key in group:
        if key[0] in ("piece", "link") and len(key) == 3 and isinstance(key[1], tuple):
            alike[key[0], tags_of(key[1]), key[2]].append(key)
    for keys in alike.values():
        keys.sort(key=lambda key: -len(group[key]))
        for key in keys[1:]:
            if group[keys[0]].keys().isdisjoint(group[key]):
                group[keys[0]].update(group.pop(key))  # type: ignore[arg-type]


def _text_of_cell(step: str, pieces: Sequence[Piece]) -> str:
    """A cell's text; of several terms that are explained together all."""
    if not step.startswith("dt@"):
        return joined(pieces)
    terms: dict[HtmlElement, list[Piece]] = defaultdict(list)
    for piece in pieces:
        terms[next(el for el in (piece.el, *piece.el.iterancestors()) if el.tag == "dt")].append(piece)
    return ", ".join(map(joined, terms.values()))


def _is_one_piece(key: Key, cells: Mapping[int, PlacedValue]) -> bool:
    """True for lines and cells that are one piece each, at one place: the piece's own column says the same.

    A cell may reach into columns beside its own.
    """
    if key[0] not in ("line", "cell") or any(len(cell.pieces) > 1 for cell in cells.values()):
        return False
    places = {cell.pieces[0].path for cell in cells.values()}
    return len(places) == 1 and (key[0] == "line" or str(key[1]) in next(iter(places)))
