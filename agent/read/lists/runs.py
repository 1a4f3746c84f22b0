"""Runs: stretches of a page that are alike and follow each other. The records of a list are one of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median, mode

from lxml.html import HtmlElement

from shoal.agent.read.lists.pieces import PagePieces, Part, Path, Piece, attribute_number, words_in_line

_MOST_RUNS = 70
_LONGEST_COUNTED = 400
"""Characters of one part that count for a run's size."""
_HEADER_ROWS = 400
_FEW = 4
"""Elements with stretches of one kind below which each is a run of its own, too."""

Span = tuple[int, int]
"""First piece, and the one after the last."""


@dataclass(slots=True, eq=False)
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

    def records(self) -> list[list[Piece]]:
        """The pieces of each record."""
        return [self.page.pieces[start:end] for start, end in self.spans]

    def sample(self, most: int) -> Run:
        """The run, or its first records where it has more."""
        if len(self.spans) <= most:
            return self
        return Run(self.page, self.how, self.spans[:most], self.depth, self.roots[:most], self.size, self.headers, self)

    def of(self, spans: Sequence[Span]) -> Run:
        """A run of other stretches of the same page."""
        return Run(self.page, self.how, list(spans), self.depth, self.roots, self.size, self.headers)


def find_runs(page: PagePieces) -> list[Run]:
    """The runs of a page, those with most different text first."""
    finder = _Finder(page)
    finder.of_elements()
    finder.of_siblings()
    weighed = [(_worth(run), -place, run) for place, run in enumerate(finder.runs)]
    best = sorted((each for each in weighed if each[0] > 0), key=lambda each: each[:2], reverse=True)[:_MOST_RUNS]
    return [run for _, _, run in best]


class _Finder:
    def __init__(self, page: PagePieces) -> None:
        self.page = page
        self.runs: list[Run] = []
        self._seen: set[tuple[Span, ...]] = set()
        self._headers: dict[HtmlElement, tuple[dict[str, str], HtmlElement | None]] = {}

    def of_elements(self) -> None:
        """Elements with one path; with one path but for their own classes; with one parent and tag."""
        page = self.page
        groups: dict[tuple[object, ...], list[HtmlElement]] = defaultdict(list)
        for el, (start, end) in page.span.items():
            if end <= start:
                continue
            path = tuple(re.sub(r"@\d+", "", step) for step in page.path[el])
            groups["alike", path].append(el)
            loose = (*path[:-1], str(el.tag))
            if loose != path or el.tag == "tr":
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

    def _offer(self, how: str, spans: list[Span], depth: int, roots: list[HtmlElement]) -> None:
        keep = [place for place, span in enumerate(spans) if not self._is_header(span, depth)]
        if len(keep) < len(spans):
            roots = [roots[place] for place in keep] if len(roots) == len(spans) else roots
            spans = [spans[place] for place in keep]
        if len(spans) < 2 or tuple(spans) in self._seen or any(span[1] > other[0] for span, other in pairwise(spans)):
            return
        self._seen.add(tuple(spans))
        headers, row = self._header_of(roots)
        if row is not None and len(spans) > 2 and row in self.page.span:
            spans = [span for span in spans if span != self.page.span[row]]
        self.runs.append(Run(self.page, how, spans, depth, roots, headers=headers))

    def _is_header(self, span: Span, depth: int) -> bool:
        pieces = self.page.pieces[span[0] : span[1]]
        return all(any(step.startswith("th@") for step in piece.path[max(0, depth - 1) :]) for piece in pieces)

    def _header_of(self, roots: Sequence[HtmlElement]) -> tuple[dict[str, str], HtmlElement | None]:
        if not roots:
            return {}, None
        table = next((el for el in (roots[0], *roots[0].iterancestors()) if el.tag == "table"), None)
        if table is None:
            return {}, None
        if table not in self._headers:
            self._headers[table] = table_header(table)
        return self._headers[table]


def _stretches(page: PagePieces, el: HtmlElement) -> Iterator[tuple[str, list[Span]]]:
    parts = page.parts[el]
    if el.tag == "table":
        parts = [inner for part in parts for inner in _opened(page, part)]
    if len(parts) < 4:
        return
    kinds = [_kind_of(part) for part in parts]
    for kind, count in Counter(kinds).items():
        if 2 <= count < len(parts) and not kind.startswith(("br", "hr")):
            starts = [place for place, other in enumerate(kinds) if other == kind]
            ends = [*starts[1:], len(parts)]
            yield (
                f"from {kind}",
                [(parts[start].start, parts[end - 1].end) for start, end in zip(starts, ends, strict=True)],
            )
    for name, at in _separators(parts, kinds).items():
        if at:
            edges = [-1, *at, len(parts)]
            cuts = [(parts[start + 1].start, parts[end - 1].end) for start, end in pairwise(edges) if end - start > 1]
            yield name, [cut for cut in cuts if cut[1] > cut[0]]


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
    if part.el is None or part.el.tag != "tr":
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
    if median(map(len, texts)) < 4 or distinct < 2:
        return 0.0
    return run.size * distinct / len(texts) * (0.3 + marked / len(texts))


# --- headers of tables --------------------------------------------------------------------------------


def cells_of(row: HtmlElement) -> list[HtmlElement]:
    """The cells that a row holds itself."""
    return [cell for cell in row if cell.tag in ("td", "th")]


def table_header(table: HtmlElement) -> tuple[dict[str, str], HtmlElement | None]:
    """The header's texts by the step of the cells below, and its row: cells of `th`, or a first row of another kind."""
    rows = [row for row in table.iter("tr") if next(row.iterancestors("table")) is table][:_HEADER_ROWS]
    widths = [len(cells_of(row)) for row in rows if cells_of(row)]
    if not widths:
        return {}, None
    width = mode(widths)
    header = next((row for place, row in enumerate(rows) if _is_header_row(row, place, rows, width)), None)
    if header is None:
        return {}, None
    texts, column = {}, 0
    for cell in cells_of(header):
        for tag in ("td", "th"):
            texts[f"{tag}@{column}"] = words_in_line(str(cell.text_content()))
        column += attribute_number(cell, "colspan", 30)
    return texts, header


def _is_header_row(row: HtmlElement, place: int, rows: Sequence[HtmlElement], width: int) -> bool:
    cells = cells_of(row)
    texts = [words_in_line(str(cell.text_content())) for cell in cells]
    if len(cells) < max(2, 0.6 * width) or not any(texts):
        return False
    parent = row.getparent()
    if sum(cell.tag == "th" for cell in cells) >= 0.6 * len(cells) or (parent is not None and parent.tag == "thead"):
        return True
    if place > 1 or len(cells) != width or sum(map(bool, texts)) < 0.6 * len(cells):
        return False
    if not all(len(text) < 40 and not re.search(r"\d{2}", text) for text in texts) or any(map(_is_marked, cells)):
        return False
    below = [cells_of(other) for other in rows[place + 1 :] if len(cells_of(other)) == width]
    return len(below) > 1 and any(
        sum(_is_marked(cells[column]) for cells in below) >= 0.7 * len(below) for column in range(width)
    )


def _is_marked(cell: HtmlElement) -> bool:
    """True for a cell with figures or a link, as headers have none."""
    links = any(re.match(r"(?!javascript|#|\?)", link.get("href") or "#") for link in cell.iter("a"))
    return links or bool(re.search(r"\d", str(cell.text_content())))
