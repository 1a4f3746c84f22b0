"""Selectors by which elements of a page may be found again, with what each of them finds on it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise, takewhile

from lxml.html import HtmlElement

from shoal.agent.page.page import Page

_PLAIN = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_MADE = re.compile(
    r"\d{3,}|[a-z]\d[a-z0-9]*\d|^[a-f0-9-]{8,}$|:r\w+:|^(active|selected|current|odd|even|first|last|open|hover|focus|visited)$",
    re.IGNORECASE | re.ASCII,
)
"""Names that a program made up for one page or one build, and names of states: they find nothing on the next page."""
_LONGEST = 60
_KEYS = (
    *("data-testid", "data-test", "data-field", "data-th", "data-label"),
    *("itemprop", "property", "name", "rel"),
)
_UNQUOTED = re.compile(r"[\"\\\n]")
_MOST_CLASSES = 4
_MOST_UP = 4
"""Elements around an element by whose names it is called, too."""
_MOST_OUTER = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A selector and what it finds on the page."""

    css: str
    numbers: Sequence[int]  # of the elements that it finds, in document order


class SelectorCandidates:
    """Selectors of one page's elements, best first. Elements of shadow trees have none: no selector reaches them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._compound: dict[str, Candidate] = {}
        self._names: dict[int, tuple[Candidate, ...]] = {}
        self._single: dict[tuple[str, str], bool] = {}
        self._nested: dict[str, bool] = {}
        self._parents: list[int] = []  # by the document, not by what is drawn; -1 of the root
        self._lights = bytearray(len(page.elements))
        self._by: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for number, el in enumerate(page.elements):
            around = page.parent_of(el)
            parent = -1 if around is None else page.number(around)
            self._parents.append(parent)
            inside = parent in page.shadow_roots and number not in page.slotted
            if inside or (parent >= 0 and not self._lights[parent]):
                continue
            self._lights[number] = 1
            self._by["tag", str(el.tag)].append(number)
            if name := el.get("id"):
                self._by["id", str(name)].append(number)
            for name in set((el.get("class") or "").split()):
                self._by["class", name].append(number)

    def reaches(self, number: int) -> bool:
        """True where selectors of the document reach an element."""
        return bool(self._lights[number])

    def up(self, number: int) -> Iterator[int]:
        """The elements around an element, the nearest first, without the body and what is around it."""
        at = self._parents[number]
        while at >= 0 and self._page.elements[at].tag not in ("body", "html"):
            yield at
            at = self._parents[at]

    # --- names ----------------------------------------------------------------------------------------

    def names(self, number: int) -> tuple[Candidate, ...]:
        """Ways to name an element itself, its tag last."""
        known = self._names.get(number)
        if known is None:
            known = self._names[number] = tuple(self._named(self._page.elements[number]))
        return known

    def _named(self, el: HtmlElement) -> Iterator[Candidate]:
        tag = str(el.tag)
        if named := self.by_id(el):
            yield named
        for key in _KEYS:
            value = str(el.get(key) or "")
            if value and len(value) <= _LONGEST and not _UNQUOTED.search(value) and not _MADE.search(value):
                yield self._found(f'{tag}[{key}="{value}"]', tag, attribute=(key, value))
        classes = [name for name in dict.fromkeys((el.get("class") or "").split()) if _is_lasting(name)]
        for name in classes[:_MOST_CLASSES]:
            yield self._found(f"{tag}.{name}", tag, (name,))
        if len(classes) > 1:
            some = tuple(classes[:3])
            yield self._found(f"{tag}.{'.'.join(some)}", tag, some)
        yield self._found(tag, tag)

    def by_id(self, el: HtmlElement) -> Candidate | None:
        """The selector of an id that no other element has; None without one."""
        name = str(el.get("id") or "")
        alone = self._by["id", name] if name and _is_lasting(name) else ()
        return Candidate(f"#{name}", alone) if len(alone) == 1 else None

    def stated(self, tag: str, key: str, value: str) -> Candidate:
        """The selector of what states an attribute."""
        quoted = re.sub(r'(["\\])', r"\\\1", value)
        return self._found(f'{tag}[{key}="{quoted}"]', tag, attribute=(key, value))

    def _found(
        self, css: str, tag: str, classes: Sequence[str] = (), attribute: tuple[str, str] | None = None
    ) -> Candidate:
        known = self._compound.get(css)
        if known is not None:
            return known
        several = min((self._by["class", name] for name in classes), key=len, default=self._by["tag", tag])
        elements = self._page.elements
        matches = [
            number
            for number in several
            if elements[number].tag == tag
            and all(number in self._sets[name] for name in classes)
            and (attribute is None or elements[number].get(attribute[0]) == attribute[1])
        ]
        return self._compound.setdefault(css, Candidate(css, matches))

    @cached_property
    def _sets(self) -> dict[str, frozenset[int]]:
        return {name: frozenset(numbers) for (kind, name), numbers in self._by.items() if kind == "class"}

    # --- what is within what --------------------------------------------------------------------------

    def below(self, inner: Candidate, scope: int) -> Sequence[int]:
        """The elements of `inner` that are in an element."""
        last = self._page.last_within[scope]
        return inner.numbers[bisect_right(inner.numbers, scope) : bisect_right(inner.numbers, last)]

    def contains(self, scope: int, number: int) -> bool:
        """True where an element is in another, or the same."""
        return scope <= number <= self._page.last_within[scope]

    def within(self, outer: Candidate, inner: Candidate) -> list[int]:
        """The elements of `inner` that are in some of `outer`."""
        return sorted({number for scope in outer.numbers for number in self.below(inner, scope)})

    def children_of(self, outer: Candidate, inner: Candidate) -> list[int]:
        """The elements of `inner` that are right in one of `outer`."""
        around = frozenset(outer.numbers)
        return [number for number in inner.numbers if self._parents[number] in around]

    def is_nested(self, name: Candidate) -> bool:
        """True where one of its elements is in another."""
        known = self._nested.get(name.css)
        if known is None:
            known = any(self.contains(around, number) for around, number in pairwise(name.numbers))
            self._nested[name.css] = known
        return known

    def _is_single(self, outer: Candidate, inner: Candidate) -> bool:
        """True where one element of `inner` is in some of `outer`."""
        known = self._single.get((outer.css, inner.css))
        if known is not None:
            return known
        inside: set[int] = set()
        for scope in outer.numbers:
            inside.update(self.below(inner, scope)[:2])
            if len(inside) > 1:
                break
        return self._single.setdefault((outer.css, inner.css), len(inside) == 1)

    def _is_in(self, number: int, outer: Candidate) -> bool:
        return any(at in outer.numbers for at in self._around(self._parents[number]))

    def _around(self, number: int) -> Iterator[int]:
        while number >= 0:
            yield number
            number = self._parents[number]

    # --- positions ------------------------------------------------------------------------------------

    @cached_property
    def _steps(self) -> dict[int, str]:
        """The position of each element among its siblings of the same tag.

        Not of what slots draw in an order that the document may not have.
        """
        seen: Counter[tuple[int, str]] = Counter()
        slots: dict[tuple[int, str], str | None] = {}
        unsure: set[tuple[int, str]] = set()
        steps: dict[int, str] = {}
        for number, el in enumerate(self._page.elements):
            kin = self._parents[number], str(el.tag)
            if not self._lights[number]:
                continue
            if number in self._page.slotted and slots.setdefault(kin, el.get("slot")) != el.get("slot"):
                unsure.add(kin)
            seen[kin] += 1
            steps[number] = f"{el.tag}:nth-of-type({seen[kin]})"
        return {
            number: step
            for number, step in steps.items()
            if (self._parents[number], str(self._page.elements[number].tag)) not in unsure
        }

    def path(self, number: int, top: int) -> str:
        """The way to an element from one around it, by positions; "" where that is not known."""
        steps: list[str] = []
        while number != top and number >= 0:
            if number not in self._steps:
                return ""
            steps.insert(0, self._steps[number])
            number = self._parents[number]
        return " > ".join(steps)

    def positions(self, number: int) -> list[str]:
        """Ways to an element by positions, from the nearest id and from the root.

        Both: a template may give the block around a value an id of the item's own, which no other page has.
        """
        ways = []
        for at in (number, *self.up(number)):
            if named := self.by_id(self._page.elements[at]):
                ways.append(" > ".join([named.css, *([self.path(number, at)] if at != number else [])]))
                break
        body = next((at for at in self._around(number) if self._page.elements[at].tag == "body"), number)
        ways.append(f"body > {self.path(number, body)}")
        return [way for way in dict.fromkeys(ways) if not way.endswith("> ")]

    def positions_in_named(self, number: int) -> Iterator[str]:
        """Ways to an element by its position in what is around it, where that has a name that no other has."""
        for at in islice(self.up(number), _MOST_UP):
            path = self.path(number, at)
            named = next((name for name in self.names(at)[:-1] if list(name.numbers) == [at]), None)
            if path and named is not None and not named.css.startswith("#"):
                yield f"{named.css} > {path}"

    # --- selectors that find one element alone --------------------------------------------------------

    def alone(self, number: int, most_own: int | None = None) -> Iterator[str]:
        """Selectors that find an element alone: so many names of its own, then those within what is around it."""
        yield from islice((name.css for name in self.names(number) if len(name.numbers) == 1), most_own)
        earlier: set[str] = set()
        for outer, inner in self._pairs(number, islice(self.up(number), _MOST_UP)):
            both = f"{outer.css} {inner.css}"
            if both not in earlier and self._is_single(outer, inner):
                earlier.add(both)
                yield both

    def alone_in(self, number: int, scope: int) -> Iterator[str]:
        """Selectors that find an element alone in another, its position last."""
        if number == scope:
            yield ":scope"
            return
        yield from (name.css for name in self.names(number) if list(self.below(name, scope)) == [number])
        inside = takewhile(lambda at: at > scope, islice(self.up(number), _MOST_UP))
        for outer, inner in self._pairs(number, inside):
            if [at for at in self.below(inner, scope) if self._is_in(at, outer)] == [number]:
                yield f"{outer.css} {inner.css}"
        if path := self.path(number, scope):
            yield f":scope > {path}"

    def _pairs(self, number: int, around: Iterator[int]) -> Iterator[tuple[Candidate, Candidate]]:
        """Names of what is around an element, other than tags, each with names of the element."""
        for at in around:
            for outer in self.names(at)[:-1][:_MOST_OUTER]:
                for inner in self.names(number)[:_MOST_OUTER]:
                    yield outer, inner


def _is_lasting(name: str) -> bool:
    return len(name) <= _LONGEST and bool(_PLAIN.fullmatch(name)) and not _MADE.search(name)
