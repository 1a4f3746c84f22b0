"""The columns of a run: what stands at one place, beside one label or behind one link in all its records."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from lxml.html import HtmlElement

from shoal.agent.read.lists.column import Column, Key, Stretch, Value
from shoal.agent.read.lists.pieces import INLINE, Path, Piece, words_in_line
from shoal.agent.read.lists.runs import Run, cells_of
from shoal.agent.read.lists.typed_columns import typed_columns
from shoal.agent.read.lists.words import FILE_TYPES
from shoal.agent.read.values.text_values import days_in

_PREFIX = re.compile(r"([^:]{2,32}):\s+(\S.*)$")
_FILE = re.compile(r"\.(\w{2,4})(?:$|[?#])")
_NAMING = ("id", "itemprop", "data-label", "data-title", "headers", "data-th")


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """One record's value of a place."""

    text: str
    pieces: Sequence[Piece]  # that it is made of; empty for a heading above the record
    link: HtmlElement | None = None  # that it stands in


def columns_of(run: Run) -> list[Column]:
    """The columns of a run."""
    collector = _Collector(run)
    for place, pieces in enumerate(collector.records):
        collector.take(place, pieces)
    collector.join_places()
    return [*collector.place_columns(), *collector.link_columns(), *collector.columns_around()]


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
        self._several: Counter[tuple[str, int]] = Counter()  # links to one kind of file, by record
        self._numbers: dict[str, dict[int, Counter[Path]]] = {"piece": {}, "line": {}}
        self._texts = Counter(text for pieces in self.records for text in {piece.text.casefold() for piece in pieces})
        self._prefixes = Counter(
            prefix for pieces in self.records for prefix in {_prefix_of(piece.text) for piece in pieces} if prefix
        )

    # --- one record -----------------------------------------------------------------------------------

    def take(self, record: int, pieces: Sequence[Piece]) -> None:
        """Note the places of one record's pieces."""
        numbers: Counter[Path] = Counter()
        lines: dict[int, list[Piece]] = defaultdict(list)
        cells: dict[HtmlElement, list[Piece]] = defaultdict(list)
        label: Piece | None = None
        seen: set[HtmlElement] = set()
        for piece in pieces:
            path = piece.path[self.run.depth :]
            header = self._header(path)
            self._put(("piece", path, numbers[path]), record, piece.text, [piece], header, piece.link)
            numbers[path] += 1
            self._take_labelled(record, piece, label)
            label = piece if self._is_label(piece) else None
            lines[piece.line].append(piece)
            if _cell_step(path):
                cells[_cell_of(piece.el)].append(piece)
            if piece.link is not None and piece.link not in seen:
                seen.add(piece.link)
                self._take_link(record, piece, header)
        self._numbers["piece"][record] = numbers
        self._take_lines(record, lines)
        self._take_cells(record, cells)

    def _put(
        self, key: Key, record: int, text: str, pieces: Sequence[Piece], label: str, link: HtmlElement | None
    ) -> None:
        if record in self._places[key]:
            return
        self._places[key][record] = PlacedValue(text, pieces, link)
        if label:
            self._labels.setdefault(key, label)

    def _header(self, path: Path) -> str:
        cell = _cell_step(path)
        return self.run.headers.get(cell, "") if cell else ""

    def _take_labelled(self, record: int, piece: Piece, label: Piece | None) -> None:
        prefixed = _PREFIX.match(piece.text)
        if prefixed and self._prefixes[prefixed[1].casefold()] >= max(2, 0.3 * self.count):
            key = ("label", prefixed[1].casefold())
            self._put(key, record, prefixed[2], [piece], prefixed[1], piece.link)
        if label is not None and not self._is_constant(piece) and _beside(label, piece):
            self._put(("label", label.text.casefold()), record, piece.text, [piece], label.text, piece.link)

    def _is_constant(self, piece: Piece) -> bool:
        """True for a short text that half of the records have."""
        often = self._texts[piece.text.casefold()] >= max(3, 0.5 * self.count)
        return self.count > 2 and often and 1 < len(piece.text) < 45 and not re.search(r"\d", piece.text)

    def _is_label(self, piece: Piece) -> bool:
        if self._is_constant(piece) and piece.link is None:
            return True
        return piece.text.endswith(":") and len(piece.text) < 40

    def _take_link(self, record: int, piece: Piece, header: str) -> None:
        link = piece.link
        assert link is not None
        path = piece.path[self.run.depth :]
        text = words_in_line(str(link.text_content())) or piece.text
        record_link = _Link(self.page.address(link), piece, text, header)
        ordinal = sum(1 for key, cells in self._links.items() if key[:2] == ("link", path) and record in cells)
        self._links["link", path, ordinal].setdefault(record, record_link)
        if self._texts[text.casefold()] >= 0.2 * self.count:
            self._links["link text", text.casefold()].setdefault(record, record_link)
        ending = _FILE.search(record_link.target)
        if ending and ending[1].casefold() in FILE_TYPES:
            self._links["link file", ending[1].casefold()].setdefault(record, record_link)
            self._several[ending[1].casefold(), record] += 1

    def _take_lines(self, record: int, lines: Mapping[int, Sequence[Piece]]) -> None:
        numbers: Counter[Path] = Counter()
        for line in lines.values():
            path = line[0].path[self.run.depth :]
            inline = (at for at, step in enumerate(path) if re.split(r"[.@]", step)[0] in INLINE)
            path = path[: next(inline, len(path))]
            key = ("line", path, numbers[path])
            numbers[path] += 1
            if len(line) > 1:
                links = {piece.link for piece in line}
                link = line[0].link if len(links) == 1 else None
                text = words_in_line(" ".join(piece.text for piece in line))
                self._put(key, record, text, line, self._header(path), link)
        self._numbers["line"][record] = numbers

    def _take_cells(self, record: int, cells: Mapping[HtmlElement, Sequence[Piece]]) -> None:
        numbers: Counter[str] = Counter()
        for pieces in cells.values():
            step = _cell_step(pieces[0].path[self.run.depth :])
            numbers[step] += 1
            if len({piece.line for piece in pieces}) > 1:
                text = words_in_line(" ".join(piece.text for piece in pieces))
                header = self.run.headers.get(step, "")
                self._put(("cell", step, numbers[step]), record, text, pieces, header, pieces[0].link)

    # --- all records ----------------------------------------------------------------------------------

    def join_places(self) -> None:
        """Join places that differ in classes alone, where no record has both; add the days between records."""
        _join(self._places)
        _join(self._links)
        for record, day in self._days_between().items():
            self._places["heading", "day"][record] = PlacedValue(day, ())

    def _days_between(self) -> dict[int, str]:
        """The day in a heading that governs each record; none where no heading stands between two records."""
        day, by_record, between = None, dict[int, str](), 0
        last = max(0, self.run.spans[0][0] - 12)
        for record, (start, end) in enumerate(self.run.spans):
            for piece in self.page.pieces[last:start]:
                if len(piece.text) < 90 and days_in(piece.text):
                    day, between = piece.text, between + (record > 0)
            if day is not None:
                by_record[record] = day
            last = end
        return by_record if between else {}

    def place_columns(self) -> list[Column]:
        """The columns of all places that enough records have."""
        columns = []
        for key, cells in self._places.items():
            if len(cells) < max(2, 0.3 * self.count):
                continue
            pieces = next(iter(cells.values())).pieces
            first = pieces[0] if pieces else None
            made = typed_columns(self._column(key, cells, first))
            for column in made:
                column.first = first
                column.unsteady = self._unsteady(key, cells)
                if column.stretches:
                    column.place = median(self._place(record, each.first) for record, each in column.stretches.items())
            columns += made
        return columns

    def _column(self, key: Key, cells: Mapping[int, PlacedValue], first: Piece | None) -> Column:
        path = key[1] if key[0] in ("piece", "line") and isinstance(key[1], tuple) else ()
        hints = [str(step) for step in path if "." in str(step)]
        label = self._labels.get(key, "")
        if first is not None:
            hints += [first.el.get(name) or "" for name in _NAMING]
            label = label or first.el.get("data-label") or first.el.get("data-title") or ""
        return Column(
            "text",
            key,
            [cells[record].text if record in cells else None for record in range(self.count)],
            label,
            " ".join(hints),
            links=[cells[record].link if record in cells else None for record in range(self.count)],
            stretches={
                record: Stretch(cell.pieces[0].order, cell.pieces[-1].order)
                for record, cell in cells.items()
                if cell.pieces
            },
        )

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
        steps = [
            set(re.split(r"[/._-]", re.sub(r"^\w+://[^/]*|[?#].*", "", cell.target))[:-1]) for cell in cells.values()
        ]
        piece = next(iter(cells.values())).piece
        classes = [step for step in piece.path[self.run.depth :] if "." in step]
        own = [piece.link.get(name) or "" for name in ("title", "class")] if piece.link is not None else []
        return " ".join(part for part in (*set.intersection(*steps), *own, *classes) if part)

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
            alike[key[0], tuple(str(step).split(".")[0] for step in key[1]), key[2]].append(key)
    for keys in alike.values():
        keys.sort(key=lambda key: -len(group[key]))
        for key in keys[1:]:
            if not set(group[key]) & set(group[keys[0]]):
                group[keys[0]].update(group.pop(key))  # type: ignore[arg-type]


def _prefix_of(text: str) -> str:
    match = _PREFIX.match(text)
    return match[1].casefold() if match else ""


def _cell_step(path: Path) -> str:
    return next((step for step in path if step[:3] in ("td@", "th@")), "")


def _cell_of(el: HtmlElement) -> HtmlElement:
    return next(above for above in (el, *el.iterancestors()) if above.tag in ("td", "th"))


def _beside(label: Piece, value: Piece) -> bool:
    """True where a label stands with its value in one cell, or in a row of just the two."""
    label_cell, value_cell = (
        next((el for el in (piece.el, *piece.el.iterancestors()) if el.tag in ("td", "th")), None)
        for piece in (label, value)
    )
    if label_cell is value_cell or label_cell is None or value_cell is None or label_cell.tag == "th":
        return True
    row = label_cell.getparent()
    return row is not None and row is value_cell.getparent() and len(cells_of(row)) == 2
