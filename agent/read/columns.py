"""Columns of a run: values that have one place, label or link in all its records, and typed values inside of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import mean, median
from typing import Literal

from lxml.html import HtmlElement

from shoal.agent.read.list_words import FILE_TYPES, split_words
from shoal.agent.read.pieces import INLINE, Path, Piece, words_in_line
from shoal.agent.read.runs import Run, cells_of
from shoal.agent.read.text_values import Day, DayInText, days_in, identifiers_in, money_in, one_order_fits, shape

ColumnKind = Literal["text", "day", "identifier", "money", "link"]
Value = str | Day
Key = tuple[object, ...]
"""A place that values have in common."""

_PREFIX = re.compile(r"([^:]{2,32}):\s+(\S.*)$")
_FILE = re.compile(r"\.(\w{2,4})(?:$|[?#])")
_EDGE = " \t,;:|·•–—-[]"
_NAMING = ("id", "itemprop", "data-label", "data-title", "headers", "data-th")


@dataclass(frozen=True, slots=True)
class Found:
    """One record's value of a place."""

    text: str
    pieces: Sequence[Piece]  # that it is made of; empty for a heading above the record
    link: HtmlElement | None = None  # that it stands in


@dataclass(frozen=True, slots=True)
class Stretch:
    """The pieces of a value, first and last, by order."""

    first: int
    last: int

    def overlaps(self, other: Stretch) -> bool:
        """True when both hold one piece."""
        return self.first <= other.last and other.first <= self.last


@dataclass(eq=False)
class Column:
    """Values of one place in all records of a run; None where a record has none."""

    kind: ColumnKind
    source: Key  # the place, and the part of its text
    values: list[Value | None]
    label: str = ""  # what stands beside, before or above the values
    hint: str = ""  # classes and the like
    whole: bool = True  # the values are all that stands at the place
    links: list[HtmlElement | None] = field(default_factory=list)
    stretches: Mapping[int, Stretch] = field(default_factory=dict)  # by record
    first: Piece | None = None  # of the first record that has a value
    unsteady: float = 0.0  # share of the records that have another number of such places
    place: float = 0.5  # where in the records it stands, 0 to 1

    @cached_property
    def given(self) -> list[Value]:
        """The values that there are."""
        return [value for value in self.values if value not in (None, "")]

    @cached_property
    def texts(self) -> list[str]:
        """The values that are texts."""
        return [value for value in self.given if isinstance(value, str)]

    @property
    def count(self) -> int:
        """How many records have a value."""
        return len(self.given)

    @property
    def cover(self) -> float:
        """Share of the records that have a value."""
        return len(self.given) / max(1, len(self.values))

    @cached_property
    def distinct(self) -> float:
        """Share of the values that differ."""
        return len(set(map(str, self.given))) / max(1, self.count)

    @cached_property
    def distinct_letters(self) -> float:
        """Share of the texts that differ by more than figures and signs."""
        keys = {re.sub(r"[\W\d]+", "", text).casefold() for text in self.texts}
        return len(keys) / max(1, len(self.texts))

    @cached_property
    def words(self) -> float:
        """Words of a text, in the mean."""
        return mean(len(re.findall(r"[^\W\d_]{2,}", text)) for text in self.texts) if self.texts else 0.0

    @cached_property
    def length(self) -> float:
        """Characters of a text, in the mean."""
        return mean(map(len, self.texts)) if self.texts else 0.0

    @cached_property
    def with_figures(self) -> float:
        """Share of the texts with figures."""
        return sum(bool(re.search(r"\d", text)) for text in self.texts) / max(1, len(self.texts))

    @cached_property
    def figure_share(self) -> float:
        """Share of a text's words that have figures, in the mean."""
        shares = [
            sum(any(sign.isdigit() for sign in word) for word in text.split()) / max(1, len(text.split()))
            for text in self.texts
        ]
        return mean(shares) if shares else 0.0

    @cached_property
    def form(self) -> str:
        """The commonest shape of the texts."""
        return Counter(map(shape, self.texts)).most_common(1)[0][0] if self.texts else ""

    @cached_property
    def form_share(self) -> float:
        """Share of the texts that have it."""
        return sum(shape(text) == self.form for text in self.texts) / max(1, len(self.texts))

    @cached_property
    def label_words(self) -> list[str]:
        """The words of the label."""
        return split_words(self.label)

    @cached_property
    def hint_words(self) -> list[str]:
        """The words of the classes."""
        return split_words(self.hint)


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
        self._places: dict[Key, dict[int, Found]] = defaultdict(dict)
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
        self._places[key][record] = Found(text, pieces, link)
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
        found = _Link(self.page.address(link), piece, text, header)
        ordinal = sum(1 for key, cells in self._links.items() if key[:2] == ("link", path) and record in cells)
        self._links["link", path, ordinal].setdefault(record, found)
        if self._texts[text.casefold()] >= 0.2 * self.count:
            self._links["link text", text.casefold()].setdefault(record, found)
        ending = _FILE.search(found.target)
        if ending and ending[1].casefold() in FILE_TYPES:
            self._links["link file", ending[1].casefold()].setdefault(record, found)
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
            self._places["heading", "day"][record] = Found(day, ())

    def _days_between(self) -> dict[int, str]:
        """The day in a heading that governs each record; none where no heading stands between two records."""
        day, found, between = None, dict[int, str](), 0
        last = max(0, self.run.spans[0][0] - 12)
        for record, (start, end) in enumerate(self.run.spans):
            for piece in self.page.pieces[last:start]:
                if len(piece.text) < 90 and days_in(piece.text):
                    day, between = piece.text, between + (record > 0)
            if day is not None:
                found[record] = day
            last = end
        return found if between else {}

    def place_columns(self) -> list[Column]:
        """The columns of all places that enough records have."""
        columns = []
        for key, cells in self._places.items():
            if len(cells) < max(2, 0.3 * self.count):
                continue
            pieces = next(iter(cells.values())).pieces
            first = pieces[0] if pieces else None
            made = _typed_columns(self._column(key, cells, first))
            for column in made:
                column.first = first
                column.unsteady = self._unsteady(key, cells)
                if column.stretches:
                    column.place = median(self._place(record, each.first) for record, each in column.stretches.items())
            columns += made
        return columns

    def _column(self, key: Key, cells: Mapping[int, Found], first: Piece | None) -> Column:
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

    def _unsteady(self, key: Key, cells: Mapping[int, Found]) -> float:
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


def _join(group: dict[Key, dict[int, Found]] | dict[Key, dict[int, _Link]]) -> None:
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
    found = _PREFIX.match(text)
    return found[1].casefold() if found else ""


def _cell_step(path: Path) -> str:
    return next((step for step in path if step[:3] in ("td@", "th@")), "")


def _cell_of(el: HtmlElement) -> HtmlElement:
    return next(above for above in (el, *el.iterancestors()) if above.tag in ("td", "th"))


def _beside(label: Piece, value: Piece) -> bool:
    """True where a label stands with its value in one cell, or in a row of just the two."""
    one, other = (
        next((el for el in (piece.el, *piece.el.iterancestors()) if el.tag in ("td", "th")), None)
        for piece in (label, value)
    )
    if one is other or one is None or other is None or one.tag == "th":
        return True
    row = one.getparent()
    return row is not None and row is other.getparent() and len(cells_of(row)) == 2


# --- typed values -------------------------------------------------------------------------------------


def bare(text: str) -> str:
    """`text` without signs at its edges."""
    return words_in_line(text).strip(_EDGE).strip()


def _typed_columns(place: Column) -> list[Column]:
    """The text of a place, and the days, amounts, identifiers and words that stand in it."""
    if not place.given:
        return []
    texts = [value if isinstance(value, str) else None for value in place.values]
    typed = _Typed(place, texts)
    columns = typed.days()
    if typed.mostly_day > 0.6 * len(place.given):
        return columns
    columns += typed.money()
    text = typed.make("text", "", [bare(value) if value else None for value in texts], whole=True)
    columns.append(text)
    if text.given:
        columns += typed.identifiers(text)
        columns += typed.words_between(text)
    return columns


class _Typed:
    def __init__(self, place: Column, texts: Sequence[str | None]) -> None:
        self.place = place
        self.texts = texts
        self.count = len(place.given)
        self._days = [days_in(text) if text else () for text in texts]
        if not one_order_fits([days[0].day for days in self._days if days], self.count):
            self._days = [() for _ in texts]
        self.mostly_day = sum(
            bool(days) and days[0].end - days[0].start > 0.6 * len(text or "")
            for days, text in zip(self._days, texts, strict=True)
        )
        blanked = [_blanked(text, days) if text else "" for text, days in zip(texts, self._days, strict=True)]
        self._found = [identifiers_in(text) for text in blanked]

    def make(
        self, kind: ColumnKind, part: str, values: Sequence[Value | None], before: str = "", *, whole: bool = False
    ) -> Column:
        place = self.place
        source = (*place.source, part) if part else place.source
        label = f"{place.label} {before}".strip()
        return Column(kind, source, list(values), label, place.hint, whole, place.links, place.stretches)

    def days(self) -> list[Column]:
        """Up to three days in each text."""
        columns = []
        for nth in range(3):
            at = [days[nth] if len(days) > nth else None for days in self._days]
            enough = sum(day is not None for day in at) >= max(2, 0.4 * self.count)
            if enough or (nth == 0 and len(self.texts) == 2 and any(at)):
                ends = [days[nth - 1].end if nth and len(days) >= nth else 0 for days in self._days]
                before = self._words_before([day.start if day else None for day in at], ends)
                days = [day.day if day else None for day in at]
                whole = self.mostly_day > 0.7 * self.count
                columns.append(self.make("day", f"day {nth}", days, before, whole=whole))
        return columns

    def _words_before(self, starts: Sequence[int | None], ends: Sequence[int]) -> str:
        return _common_words(
            [
                text[end:start]
                for text, start, end in zip(self.texts, starts, ends, strict=True)
                if text is not None and start is not None
            ]
        )

    def money(self) -> list[Column]:
        amounts = [money_in(text) if text else None for text in self.texts]
        enough = sum(map(bool, amounts)) > 0.5 * self.count
        return [self.make("money", "money", amounts)] if enough else []

    def identifiers(self, text: Column) -> list[Column]:
        """The text as an identifier, and up to two identifiers in it."""
        columns = []
        dated = any(self._days)
        links = any("//" in value for value in text.texts[:5])
        coded = text.with_figures > 0.8 and sum(map(bool, self._found)) > 0.8 * self.count
        if coded and not links and not dated and text.length < 45 and text.words <= 3.5:
            columns.append(self.make("identifier", "all", text.values, whole=True))
        for nth in range(2):
            at = [found[nth] if len(found) > nth else None for found in self._found]
            if sum(map(bool, at)) < max(2, 0.6 * self.count) or text.length >= 400:
                continue
            values = [
                each[span[0] : span[1]] if each and span else None for each, span in zip(self.texts, at, strict=True)
            ]
            if nth == 0 and text.with_figures > 0.8 and [value for value in values if value] == text.given:
                continue
            ends = [found[nth - 1][1] if nth and len(found) >= nth else 0 for found in self._found]
            before = self._words_before([span[0] if span else None for span in at], ends)
            columns.append(self.make("identifier", f"identifier {nth}", values, before))
        return columns

    def words_between(self, text: Column) -> list[Column]:
        """The words before the first day or number, and the longest words between two of them."""
        marks = [
            sorted([*((day.start, day.end) for day in days), *found])
            for days, found in zip(self._days, self._found, strict=True)
        ]
        if sum(map(bool, marks)) <= 0.7 * self.count or text.length >= 400:
            return []
        pieces = [_between(each, spans) if each else [] for each, spans in zip(self.texts, marks, strict=True)]
        heads = _without_common_end([_unbracketed(parts[0]) if parts else None for parts in pieces])
        longest = _without_common_end([_unbracketed(max(parts, key=len)) if parts else None for parts in pieces])
        columns: list[Column] = []
        for part, values in (("head", heads), ("rest", longest)):
            long_enough = sum(bool(value) and len(value or "") > 3 for value in values) > 0.7 * self.count
            if long_enough and not (columns and values == columns[0].values):
                columns.append(self.make("text", part, values))
        return columns


def _blanked(text: str, days: Sequence[DayInText]) -> str:
    for day in days:
        text = text[: day.start] + "\x01" * (day.end - day.start) + text[day.end :]
    return text


def _between(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    edges = [(0, 0), *spans, (len(text), len(text))]
    return [text[before[1] : after[0]] for before, after in pairwise(edges)]


def _unbracketed(text: str) -> str:
    return bare(re.sub(r"[(\[][^)\]]*$", "", text))


def _without_common_end(texts: Sequence[str | None]) -> list[str | None]:
    """Texts without the last words that most of them share, as "No." before a number that was cut off."""
    shortened = list(texts)
    for _ in range(3):
        last = Counter(
            found[0].casefold()
            for text in shortened
            if text and (found := re.search(r"[^\W\d]+\W*$", text)) and found.start() > 0
        )
        if not last or last.most_common(1)[0][1] < 0.6 * sum(map(bool, shortened)):
            break
        word = last.most_common(1)[0][0]
        shortened = [
            bare(text[: -len(word)]) if text and text.casefold().endswith(word) else text for text in shortened
        ]
    return shortened


def _common_words(before: Sequence[str]) -> str:
    """The words that stand before most values, up to three."""
    last = [split_words(text)[-3:] for text in before]
    counted = Counter(word for words in last for word in set(words))
    common = (word for words in last for word in words if counted[word] >= 0.6 * len(before))
    return " ".join(dict.fromkeys(common))
