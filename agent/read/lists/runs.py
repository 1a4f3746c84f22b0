"""Runs: stretches of a page that are alike and follow each other. The records of a list are one of them."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, pairwise
from statistics import median

from lxml.html import HtmlElement

from shoal.agent.read.facts.tables import is_row, is_table
from shoal.agent.read.lists.column import Column, Stretch, Value
from shoal.agent.read.lists.elements import LOOKS, Path, line_of, without_columns
from shoal.agent.read.lists.pieces import HeadingSpan, PagePieces, Part, Piece, joined
from shoal.agent.read.lists.tables import cells_of, cells_of_records, header_above, is_section, is_sum, table_header
from shoal.agent.read.lists.typed_columns import typed_columns
from shoal.agent.read.lists.words import is_named, words_in_line
from shoal.agent.read.values.text_values import days_in
from shoal.agent.read.word_lists.labels import AROUND
from shoal.agent.read.words import word_set

_MOST_RUNS = 24
"""Runs of the page's own content, and as many in its menus: on real pages the records were among the first 14."""
_LONGEST_COUNTED = 400
"""Characters of one part that count for a run's size."""
_FEW = 4
"""Elements with stretches of one kind below which each is a run of its own, too."""
_LEAST_STRIPED = 4
"""Siblings from which classes that take turns are known as such."""
_MOST_TURNED = 120
"""Records that are columns or parts of rows: tables of more are read by their rows."""
_COLOURS = word_set("light dark white gray grey alternate striped")
"""Words in classes of rows that take turns, and say how they look."""
_SET_APART = frozenset(AROUND)
_LEAST_NAMED = 3
"""Classes with one stem from which they name records, and not kinds of them."""
_STEM = re.compile(r".{2,40}?[-_](?=[^-_]{1,40}$)")

Span = tuple[int, int]
"""First piece, and the one after the last."""


@dataclass(eq=False)
class Run:
    """Records as stretches of pieces."""

    page: PagePieces
    how: str  # how the stretches were found
    spans: list[Span]
    depth: int  # steps of the path above the records
    roots: list[HtmlElement]  # the elements that the stretches are, or that hold them
    size: int = 0  # characters
    headers: dict[str, str] = field(default_factory=dict)  # texts of a table's header by the step of the cells below
    whole: Run | None = None  # of a sample: the run that it is taken of
    samples: dict[int, Run] = field(default_factory=dict)  # by the most records that they may have
    columns: list[Column] | None = None  # once they were asked for
    dropped: Sequence[Span] = ()  # stretches of the run that state too little to be records
    headings: Sequence[HeadingSpan] | None = None  # those of the page that stand in no record, once they were asked for

    def records(self) -> list[list[Piece]]:
        """The pieces of each record."""
        return [self.page.pieces[start:end] for start, end in self.spans]

    @property
    def characters(self) -> int:
        """Characters of the records' texts; of cells that stand apart those of their columns."""
        if self.how == "cells" and self.columns is not None:
            return sum(len(text) for column in self.columns for text in column.texts)
        return sum(len(piece.text) for pieces in self.records() for piece in pieces)

    def sample(self, most: int) -> Run:
        """The run, or its first records where it has more."""
        if len(self.spans) <= most:
            return self
        if self.columns is not None and self.how == "cells":
            return self
        if most not in self.samples:
            spans, roots = self.spans[:most], self.roots[:most]
            self.samples[most] = Run(self.page, self.how, spans, self.depth, roots, self.size, self.headers, self)
        return self.samples[most]

    def of(self, spans: Sequence[Span]) -> Run:
        """A run of other stretches of the same page."""
        return replace(self, spans=list(spans), whole=None, samples={}, columns=None, headings=None)

    def without(self, dropped: Sequence[Span]) -> Run:
        """The run without stretches that state too little to be records; it remembers them."""
        left = set(dropped)
        return replace(self.of([span for span in self.spans if span not in left]), dropped=dropped)

    @cached_property
    def in_menu(self) -> bool:
        """True where most of its first records stand in blocks that are named as navigation."""
        first = [self.page.pieces[start] for start, _ in self.spans[:20]]
        return sum(map(self.page.in_menu, first)) > 0.5 * len(first)

    def heading_over(self, span: Span) -> HeadingSpan | None:
        """The last heading before a record that stands in no record; None without one."""
        if self.headings is None:
            self.headings = [heading for heading in self.page.headings if not self._holds(heading)]
        before = bisect_right(self.headings, span[0], key=lambda heading: heading.end)
        return self.headings[before - 1] if before else None

    def _holds(self, heading: HeadingSpan) -> bool:
        place = bisect_right(self.spans, (heading.start, math.inf)) - 1
        return place >= 0 and self.spans[place][1] > heading.start


def find_runs(page: PagePieces, names: Collection[Sequence[str]] = ()) -> list[Run]:
    """The runs of a page, those with most different text first; whose headers are `names`, as words, count for more."""
    finder = _Finder(page, names)
    finder.of_elements()
    finder.of_siblings()
    finder.of_cells()
    weighed = [(_worth(run) * (1 + 10 * _named(run, names)), -place, run) for place, run in enumerate(finder.runs)]
    ranked = sorted((each for each in weighed if each[0] > 0), key=lambda each: each[:2], reverse=True)
    places: Counter[bool] = Counter()
    best = []
    for _, _, run in ranked:
        places[run.in_menu] += 1
        if places[run.in_menu] <= _MOST_RUNS:
            best.append(run)
    return best


def _named(run: Run, names: Collection[Sequence[str]]) -> int:
    return sum(is_named(text, names) for text in set(run.headers.values()))


class _Finder:
    def __init__(self, page: PagePieces, names: Collection[Sequence[str]]) -> None:
        self.page = page
        self.names = names
        self.runs: list[Run] = []
        self._seen: set[tuple[Span, ...]] = set()
        self._headers: dict[HtmlElement, tuple[dict[str, str], list[HtmlElement]]] = {}  # by table
        self._header_over: dict[HtmlElement, tuple[dict[str, str], list[HtmlElement]]] = {}  # by record

    def of_elements(self) -> None:
        """Elements with one path; with one path but for their own classes; with one parent and tag."""
        page = self.page
        groups: dict[tuple[object, ...], list[HtmlElement]] = defaultdict(list)
        own, striped = _classes_of_records(page), _striped(page)
        for el, (start, end) in page.span.items():
            if end <= start or el.tag in LOOKS or el in page.between:  # looks have the path of what they stand in
                continue
            path = without_columns(page.path[el])
            named = own.get((path[:-1], el.tag), set()) | striped.get(id(el.getparent()), set())
            shared = (*path[:-1], _without(path[-1], named))
            groups["alike", shared].append(el)
            loose = (*path[:-1], str(el.tag))
            if loose != path or is_row(el):
                groups["loose", loose].append(el)
            if el.getparent() is not None and len(path) > 1:
                groups["siblings", id(el.getparent()), el.tag].append(el)
        for (how, *_), members in groups.items():
            members.sort(key=lambda el: page.span[el])
            self._offer(str(how), [page.span[el] for el in members], len(page.path[members[0]]), members)

    def of_siblings(self) -> None:
        """Stretches of siblings, from each part of one kind to the next, or between separators."""
        page = self.page
        stretches: dict[tuple[str, Path], list[tuple[HtmlElement, list[Span]]]] = defaultdict(list)
        for el in page.parts:
            for how, spans in _stretches(page, el):
                stretches[how, page.path[el]].append((el, spans))
        for (how, path), cuts in stretches.items():
            whole = [cuts, *([each] for each in cuts)] if 1 < len(cuts) < _FEW else [cuts]
            for each in whole:
                spans = sorted(span for _, cut in each for span in cut if span[1] > span[0])
                self._offer(how, spans, len(path), [el for el, _ in each])

    def of_cells(self) -> None:
        """Tables whose records are columns, or parts of rows: their columns are the cells with one label."""
        page = self.page
        for table in (el for el in page.span if el.tag == "table"):
            labels, records = cells_of_records(table, self.names, page.page.is_visible)
            if not 1 < len(records) <= _MOST_TURNED:
                continue
            spans = [page.span_of(cells if cells[0].getparent() is cells[1].getparent() else cells[:1])
                     for cells in records]  # fmt: skip
            headers = {f"td@{place}": label for place, label in enumerate(labels)}
            run = Run(page, "cells", spans, len(page.path[table]), [cells[0] for cells in records], headers=headers)
            run.columns = [
                column for place, label in enumerate(labels) for column in self._columns_of(place, label, records)
            ]
            self.runs.append(run)

    def _columns_of(self, place: int, label: str, records: Sequence[Sequence[HtmlElement]]) -> list[Column]:
        page = self.page
        pieces = [page.pieces[slice(*page.span.get(cells[place], (0, 0)))] for cells in records]
        stretches = {at: Stretch(own[0].order, own[-1].order) for at, own in enumerate(pieces) if own}
        links = [own[0].link if len({piece.link for piece in own}) == 1 else None for own in pieces]
        first = next((own[0] for own in pieces if own), None)
        texts: list[Value | None] = [joined(own) or None for own in pieces]
        column = Column("text", ("cell", f"td@{place}"), texts, label, links=links, stretches=stretches, first=first,
                        leads=not label, in_cells=True)  # fmt: skip
        columns = typed_columns(column)
        if any(link is not None for link in links):
            targets: list[Value | None] = [None if link is None else page.address(link) for link in links]
            columns.append(Column("link", ("link", f"td@{place}"), targets, label, links=links, in_cells=True))
        return columns

    def _offer(self, how: str, spans: list[Span], depth: int, roots: list[HtmlElement]) -> None:
        keep = [place for place, span in enumerate(spans) if not self._is_header(span, depth)]
        if len(roots) == len(spans):
            keep = [place for place in keep if not is_sum(roots[place])]
        if len(keep) < len(spans):
            roots = [roots[place] for place in keep] if len(roots) == len(spans) else roots
            spans = [spans[place] for place in keep]
        alone = len(spans) == 1 and len(roots) == 1 and is_row(roots[0])  # the one row of a list's last page
        if (
            (len(spans) < 2 and not alone)
            or tuple(spans) in self._seen
            or any(span[1] > other[0] for span, other in pairwise(spans))
        ):
            return
        self._seen.add(tuple(spans))
        if len(roots) != len(spans):
            if roots:
                self._add(how, spans, depth, roots)
            return
        by_header: dict[tuple[tuple[str, str], ...], list[int]] = defaultdict(list)
        for place, root in enumerate(roots):
            by_header[tuple(self._header_of(root)[0].items())].append(place)
        for places in by_header.values():  # tables with other columns are other lists
            self._add(how, [spans[place] for place in places], depth, [roots[place] for place in places])

    def _add(self, how: str, spans: list[Span], depth: int, roots: list[HtmlElement]) -> None:
        headers, rows = self._header_of(roots[0])
        if len(headers) > 1 and len(roots) == len(spans) and all(map(is_section, roots)):
            return  # "No results", in a cell over all columns
        if headers and (how.startswith("from") or all(_has_rows(root, len(rows)) for root in roots)):
            return  # the rows of a table with a header are its records
        if rows and len(spans) > 1:
            heads = {self._texts(self.page.span[row]) for row in rows if row in self.page.span}
            spans = [span for span in spans if self._texts(span) not in heads]  # a header may come again
        if len(roots) >= len(spans) and any(map(is_section, roots)) and not all(map(is_section, roots)):
            sections = {self.page.span[root] for root in roots if is_section(root)}
            spans = [span for span in spans if span not in sections]
        if len(spans) > 1 or (headers and spans):
            self.runs.append(Run(self.page, how, spans, depth, roots, headers=headers))

    def _texts(self, span: Span) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.page.pieces[span[0] : span[1]])

    def _is_header(self, span: Span, depth: int) -> bool:
        pieces = self.page.pieces[span[0] : span[1]]
        return all(any(step.startswith("th@") for step in piece.path[max(0, depth - 1) :]) for piece in pieces)

    def _header_of(self, root: HtmlElement) -> tuple[dict[str, str], list[HtmlElement]]:
        """The header over a record; an element stands in several groups, and is looked at once."""
        if root not in self._header_over:
            self._header_over[root] = self._find_header(root)
        return self._header_over[root]

    def _find_header(self, root: HtmlElement) -> tuple[dict[str, str], list[HtmlElement]]:
        if root in self.page.laid:
            heads = enumerate(root[: self.page.laid[root]])
            return {f"td@{place}": line_of(head) for place, head in heads}, []
        if (head_row := self.page.laid_rows.get(root)) is not None:
            return {f"td@{place}": line_of(head) for place, head in enumerate(head_row)}, [head_row]
        table = next(filter(is_table, (root, *root.iterancestors())), None)
        if table is None or (table is root and root.tag != "table"):
            return {}, []
        if table not in self._headers:
            texts, rows = table_header(table, self.names, self.page.page.is_visible)
            self._headers[table] = (texts, rows) if rows else (header_above(table), [])
        return self._headers[table]


def _has_rows(root: HtmlElement, heads: int) -> bool:
    """True for a table with several rows below those that head it."""
    return root.tag == "table" and len(list(islice(root.iter("tr"), heads + 2))) > heads + 1


def _stretches(page: PagePieces, el: HtmlElement) -> Iterator[tuple[str, list[Span]]]:
    parts = page.parts[el]
    if el in page.laid:
        width, cells = page.laid[el], [part for part in parts if part.el is not None]
        rows = range(width, len(cells), width)
        yield "laid", [(cells[first].start, cells[first + width - 1].end) for first in rows]
        return
    if el.tag == "table":
        parts = [inner for part in parts for inner in _opened(page, part)]
    if len(parts) < (2 if el.tag == "dl" else 4):
        return
    kinds = [_kind_of(part) for part in parts]
    yield from _from_each(el, parts, kinds)
    shapes = [kind.rpartition("|")[0] or kind for kind in kinds]
    if shapes != kinds:
        yield from _from_each(el, parts, shapes)
    lines = [(part, part.el) for part in parts if part.el is not None and is_row(part.el)]
    trs = [row for _, row in lines]
    if _take_turns([part.step for part, _ in lines]) and not _say_the_same(page, trs[::2], trs[1::2]):
        pairs = zip(lines[::2], [*lines[1::2], lines[-1]], strict=False)
        yield f"from {lines[0][0].step}", [(first.start, last.end) for (first, _), (last, _) in pairs]
    for name, at in _separators(parts, kinds).items():
        if at:
            edges = [-1, *at, len(parts)]
            cuts = [(parts[start + 1].start, parts[end - 1].end) for start, end in pairwise(edges) if end - start > 1]
            yield name, [cut for cut in cuts if cut[1] > cut[0]]


def _from_each(el: HtmlElement, parts: Sequence[Part], kinds: Sequence[str]) -> Iterator[tuple[str, list[Span]]]:
    """Stretches from each part of one kind to the next."""
    for kind, count in Counter(kinds).items():
        if (1 if el.tag == "dl" else 2) <= count < len(parts) and not kind.startswith(("br", "hr", "dd")):
            starts = [place for place, other in enumerate(kinds) if other == kind]
            if el.tag == "dl":  # several terms may be explained together
                starts = [place for place in starts if not place or kinds[place - 1] != kind]
            ends = [*starts[1:], len(parts)]
            yield (
                f"from {kind}",
                [(parts[start].start, parts[end - 1].end) for start, end in zip(starts, ends, strict=True)],
            )


def _opened(page: PagePieces, part: Part) -> list[Part]:
    return page.parts[part.el] if part.el is not None and part.el.tag in ("tbody", "thead") else [part]


def _separators(parts: Sequence[Part], kinds: Sequence[str]) -> dict[str, list[int]]:
    blank = [
        place
        for place, (part, kind) in enumerate(zip(parts, kinds, strict=True))
        if part.start == part.end and (kind == "p" or (kind == "br" and place > 0 and kinds[place - 1] == "br"))
    ]
    return {
        "hr": [place for place, kind in enumerate(kinds) if kind.startswith("hr")],
        "br": [place for place, kind in enumerate(kinds) if kind == "br"],
        "blank": blank,
    }


def _kind_of(part: Part) -> str:
    """A part's step; of a row also its cells, and its label where it is one of two cells."""
    if part.el is None or not is_row(part.el):
        return part.step
    cells = cells_of(part.el)
    first = words_in_line(str(cells[0].text_content()))[:30] if cells else ""
    label = first.casefold() if len(cells) == 2 and first and not re.search(r"\d", first) else ""
    return f"tr|{len(cells)}|{','.join(cell.get('colspan') or '' for cell in cells)}|{label}"


def _worth(run: Run) -> float:
    """Different text that a run holds; parts with links and figures count more. 0: no list. Sets the run's size."""
    records = run.records()
    texts = ["".join(piece.text for piece in record) for record in records]
    marked = sum(
        bool(re.search(r"\d", text)) or any(piece.link is not None for piece in record)
        for text, record in zip(texts, records, strict=True)
    )
    run.size = sum(min(len(text), _LONGEST_COUNTED) for text in texts)
    distinct = len(set(texts))
    if not run.headers and (median(map(len, texts)) < 4 or distinct < 2):
        return 0.0
    return run.size * distinct / len(texts) * (0.3 + marked / len(texts))


def _classes_of_records(page: PagePieces) -> dict[tuple[Path, object], set[str]]:
    """Classes by which elements of one tag and class name what each of them is about, by path above and tag.

    A shop's rows have `product category-lamps`, `product category-chairs`, `product category-rugs`. A manual's have
    `entry function` and `entry class`: those are two kinds.
    """
    classes: dict[tuple[Path, object], list[set[str]]] = defaultdict(list)
    for el, (start, end) in page.span.items():
        if end > start and page.path[el]:
            path = without_columns(page.path[el])
            classes[path[:-1], el.tag].append(set(path[-1].split(".")[1:]))
    own: dict[tuple[Path, object], set[str]] = {}
    for siblings, sets in classes.items():
        if len(sets) < _LEAST_NAMED or not (common := set.intersection(*sets)):
            continue
        stems: dict[str, set[str]] = defaultdict(set)
        for name in set.union(*sets) - common:
            if match := _STEM.match(name):
                stems[match[0]].add(name)
        if named := {name for names in stems.values() if len(names) >= _LEAST_NAMED for name in names}:
            own[siblings] = named
    return own


def _striped(page: PagePieces) -> dict[int, set[str]]:
    """Classes by which children of one tag only take turns, by the number of their parent."""
    children: dict[tuple[int, object], list[HtmlElement]] = defaultdict(list)
    for el, (start, end) in page.span.items():
        if end > start and page.path[el]:
            children[id(el.getparent()), el.tag].append(el)
    return {parent: names for (parent, _), rows in children.items() if (names := _stripes(page, rows))}


def _stripes(page: PagePieces, rows: Sequence[HtmlElement]) -> set[str]:
    """Classes by which siblings only take turns, as rows in two colours do; none where they do not.

    They are called as colours, or one kind has an extra class or both a letter: then both kinds must say the same.
    """
    sets = [set(page.path[row][-1].split(".")[1:]) for row in rows]
    first = next((place for place, names in enumerate(sets) if names), len(sets))
    rows, sets = rows[first:], sets[first:]
    if not _take_turns(sets):
        return set()
    stripes = sets[0] ^ sets[1]
    called = _words_of(sets[0] - sets[1]) ^ _words_of(sets[1] - sets[0])
    if called <= _COLOURS:
        return stripes
    may_be = not called & _SET_APART and (sets[0] <= sets[1] or sets[1] <= sets[0] or max(map(len, called)) < 2)
    return stripes if may_be and _say_the_same(page, rows[::2], rows[1::2]) else set()


def _take_turns(kinds: Sequence[object]) -> bool:
    """True where the first two are different, and all others follow in turn."""
    enough = len(kinds) >= _LEAST_STRIPED and kinds[0] != kinds[1]
    return enough and all(kind == kinds[place % 2] for place, kind in enumerate(kinds))


def _words_of(classes: Collection[str]) -> set[str]:
    """The words and numbers that classes are made of."""
    return {word for name in classes for word in re.split(r"[-_]|(?=\d)", name)}


def _say_the_same(page: PagePieces, rows: Sequence[HtmlElement], others: Sequence[HtmlElement]) -> bool:
    """True where most rows of both kinds have the same inner paths, and values of one kind there."""
    mine, its = (
        {path: kinds for path, kinds in _kinds_in(page, each).items() if sum(kinds.values()) > 0.5 * len(each)}
        for each in (rows, others)
    )
    return mine.keys() == its.keys() and all(kinds.keys() & its[path].keys() for path, kinds in mine.items())


def _kinds_in(page: PagePieces, rows: Sequence[HtmlElement]) -> dict[Path, Counter[str]]:
    """The kinds of values at each path below rows, with the number of rows."""
    kinds: dict[Path, Counter[str]] = defaultdict(Counter)
    for row in rows:
        start, end = page.span[row]
        depth = len(page.path[row])
        first = {piece.path[depth:]: piece.text for piece in reversed(page.pieces[start:end])}
        for path, text in first.items():
            kinds[path][_kind_of_value(text)] += 1
    return kinds


def _kind_of_value(text: str) -> str:
    if sum(day.end - day.start for day in days_in(text)) > 0.6 * len(text):
        return "day"
    return "text" if re.search(r"[^\W\d_]{3}", text) else "figures" if re.search(r"\d", text) else "signs"


def _without(step: str, names: Collection[str]) -> str:
    tag, *classes = step.split(".")
    return ".".join((tag, *(name for name in classes if name not in names)))
