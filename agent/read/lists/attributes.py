"""Columns of what attributes state of a run's records: pictures, days, addresses, and what signs such as stars mean."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from lxml.html import HtmlElement

from shoal.agent.read.facts.pictures import picture_address
from shoal.agent.read.lists.column import Column, Key
from shoal.agent.read.lists.runs import Run, Span
from shoal.agent.read.lists.typed_columns import typed_columns
from shoal.agent.read.lists.words import words_in_line
from shoal.agent.read.values.text_values import days_in
from shoal.agent.support.web_addresses import joined, reached_by

_LEAST_COVER = 0.3
_LETTER_OR_FIGURE = re.compile(r"[^\W_]")
_FIGURE = re.compile(r"\d")


def attribute_columns(run: Run) -> list[Column]:
    """The columns of pictures, of days that machines read, and of signs that are explained for screen readers."""
    holders = _holders(run)
    by_place: dict[Key, dict[int, tuple[str, HtmlElement]]] = defaultdict(dict)
    for record, span in enumerate(run.spans):
        numbers: Counter[Key] = Counter()
        for how, el, text in _stated(run, holders, span):
            above = run.depth if len(run.roots) < len(run.spans) else len(run.page.path[holders[span][0]])
            key = (how, run.page.path[el][above:])
            by_place[(*key, numbers[key])][record] = (text, el)
            numbers[key] += 1
    columns: list[Column] = []
    for source, stated in by_place.items():
        if len(stated) >= max(2, _LEAST_COVER * len(run.spans)):
            columns += _columns(run, source, stated)
    return columns


def _holders(run: Run) -> Mapping[Span, Sequence[HtmlElement]]:
    """The elements that hold each record: one, or siblings that follow each other."""
    alone = {run.page.span[root]: [_holder(run, root)] for root in run.roots if root in run.page.span}
    return alone if alone.keys() & set(run.spans) else _stretches(run)


def _holder(run: Run, root: HtmlElement) -> HtmlElement:
    """The outermost element that holds the text of one record alone: pictures stand beside it."""
    span = run.page.span[root]
    for above in root.iterancestors():
        if run.page.span.get(above) != span:
            break
        root = above
    return root


def _stretches(run: Run) -> Mapping[Span, Sequence[HtmlElement]]:
    """The siblings of each record. One without a text belongs to what stands before, unless it begins the records."""
    spans = {span[0]: span for span in run.spans}
    held: dict[Span, list[HtmlElement]] = defaultdict(list)
    for root in dict.fromkeys(run.roots):
        current: Span | None = None
        led: list[HtmlElement] = []  # what begins the next record, so far
        for part in run.page.parts.get(root, ()):
            if part.start < part.end and (part.start in spans or (current and part.start >= current[1])):
                current = spans.get(part.start)
                if current:
                    held[current] += led
                led = []
            if part.el is None:
                continue
            if part.start == part.end and (led or run.how == f"from {part.step}"):
                led.append(part.el)
            elif current:
                held[current].append(part.el)
    return held


def _columns(run: Run, source: Key, stated: Mapping[int, tuple[str, HtmlElement]]) -> list[Column]:
    first = next(el for _, el in stated.values())
    assert isinstance(source[1], tuple)
    steps = [step for step in source[1] if "." in step]
    column = Column(
        "image" if source[0] == "image" else "text",
        source,
        [stated[record][0] if record in stated else None for record in range(len(run.spans))],
        _common_words([text for text, _ in stated.values()])
        if source[0] == "sign"
        else str(source[0])
        if source[0] in ("email", "phone")
        else "",
        " ".join([*steps, first.get("itemprop") or "", first.get("id") or ""]),
        links=[stated[record][1] if record in stated else None for record in range(len(run.spans))],
    )
    if source[0] == "image":
        return [column]
    column.links = [None] * len(run.spans)
    return typed_columns(column)


def _stated(
    run: Run, holders: Mapping[Span, Sequence[HtmlElement]], span: Span
) -> Iterator[tuple[str, HtmlElement, str]]:
    """Yield what the attributes in one record state: how, by which element, and the text or address."""
    page = run.page
    for el in (el for holder in holders.get(span, ()) for el in holder.iter("*")):
        if el not in page.path:
            continue
        if el.tag == "img":
            address = joined(page.base, picture_address(el))
            if address.startswith("http") and (page.hidden or page.page.is_visible(el)):
                yield "image", el, address
        elif el.tag == "time" and el.get("datetime"):
            if not days_in(words_in_line(str(el.text_content()))):  # "4 March", "yesterday"
                yield "time", el, str(el.get("datetime"))
        elif el.tag == "a" and (reached := reached_by(el.get("href") or ""))[0]:
            if not re.search(r"@|\d", str(el.text_content())):  # "Write to us"
                yield reached[0], el, reached[1]
        else:
            label = words_in_line(el.get("aria-label") or el.get("title") or "")
            if _FIGURE.search(label) and not _LETTER_OR_FIGURE.search(str(el.text_content())):
                yield "sign", el, label


def _common_words(texts: list[str]) -> str:
    """Words without figures that most texts have, in order."""
    counted = Counter(word for text in texts for word in set(text.casefold().split()) if not _FIGURE.search(word))
    return " ".join(word for word in texts[0].casefold().split() if counted[word] > 0.6 * len(texts))
