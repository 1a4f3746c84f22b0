"""Which of several shown places gives a field's value, how sure it is, and what is no answer because places differ.

What two kinds of places say is certain. One good place is likely. The rest is weak. Equally good places that differ
are no answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from shoal.agent.read.facts.facts import Facts
from shoal.agent.read.schema import PRICED, Property
from shoal.agent.read.shown.places import Fit, ShownPlace
from shoal.agent.read.shown.visible_text import VisibleText
from shoal.agent.read.values.phrases import Phrase, place_in_title, squash
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Sureness
from shoal.agent.types import FieldCandidate, FieldSource, Reason

ENOUGH = 0.5
"""The least score of what may be a value."""
_CLOSE = 0.03  # scores nearer than this are equal
_BIGGER = 1.15  # a font larger by this factor is meant to be seen first
GOOD_FIT = 0.85  # the least likeness of a name that is not only similar
_LONG = 200  # characters of a text that a class name alone does not prove
_CHAPTER = re.compile(r"^(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)\.?\s+(?=\S)")
"""The number of a chapter, which headings have and titles of documents do not: "5.2 ", "A.1 "."""
_APOSTROPHES = re.compile("['’‘`´]")
MOST_CANDIDATES = 5
_OFTEN = 3
"""Places called otherwise that state one price, from which it is the page's."""
Narrower = Callable[[Sequence["Scored"]], list["Scored"]]
_CLASS_SYNONYMS = ("name", "author", "brand")
"""Texts that a class name gives by a synonym too; `section` or `details` are classes of anything."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate whose text converts."""

    score: float
    candidate: ShownPlace
    value: Json
    fit: Fit

    def as_candidate(self, reason: Reason) -> FieldCandidate:
        """Return what the record lists of a value that is not given."""
        return FieldCandidate(self.value, self.candidate.how, self.candidate.where, "weak", reason)


@dataclass(frozen=True, slots=True)
class FieldAnswer:
    """The result for one field: a value with its source, or the candidates that were not good enough."""

    value: Json = None
    source: FieldSource | None = None  # None: no value is given
    candidates: tuple[FieldCandidate, ...] = ()

    def filter_by_sureness(self, accept: Sureness) -> FieldAnswer:
        """Itself, or without its value where that is less sure than `accept`."""
        if self.source is None or SURENESS_ORDER.index(self.source.sureness) <= SURENESS_ORDER.index(accept):
            return self
        source = self.source
        given = FieldCandidate(self.value, source.how, source.where, source.sureness, source.why)
        return FieldAnswer(candidates=(given, *self.candidates)[:MOST_CANDIDATES])


SURENESS_ORDER: tuple[Sureness, ...] = ("certain", "likely", "weak")


@dataclass(frozen=True, slots=True)
class Choice:
    """The best of some candidates; `rivals` are those that differ and are as good, and then there is no best."""

    best: Scored | None = None
    rivals: tuple[Scored, ...] = ()


def answer(prop: Property, scored: Sequence[Scored], shown: VisibleText, page: Facts | None) -> FieldAnswer:
    """The answer that all candidates of a field together give.

    Args:
        page: the page, with its title and headings; None for a block of one, which has none.
    """
    own = [
        option for option in scored if option.fit.own and option.fit.likeness >= GOOD_FIT and option.candidate.visible
    ]
    if (
        own and prop.concept and prop.concept.kind == "text"
    ):  # another field of the page may bear the synonym: a "summary" beside a "description"
        scored = [option for option in scored if option.fit.own]
    seen = [option for option in scored if option.candidate.visible]
    often = _stated_most(prop, seen)
    if often is not None:
        return _field_answer(often, "likely", Reason.AGREED, confirmed=True)
    visible = choose(seen, shown, prop)
    if visible.best is not None:
        return _visible_answer(prop, visible.best, scored, shown, page)
    hidden = Choice() if visible.rivals else choose(scored, shown, prop)
    if hidden.best is not None:
        if shown.has(prop, hidden.best.value):
            return _field_answer(hidden.best, "likely", Reason.BORNE_OUT, confirmed=True)
        return _field_answer(hidden.best, "weak", Reason.UNSEEN, confirmed=False)
    rivals = {_key(rival.value): rival for rival in reversed((*visible.rivals, *hidden.rivals))}
    listed = sorted(rivals.values(), key=lambda rival: (-rival.score, rival.candidate.order))
    return FieldAnswer(candidates=tuple(rival.as_candidate(Reason.AMBIGUOUS) for rival in listed[:MOST_CANDIDATES]))


def _stated_most(prop: Property, seen: Sequence[Scored]) -> Scored | None:
    """The price that most places state which are called otherwise, of those whose names say more than "price".

    A page shows its own price in several blocks, and each other one in fewer.
    """
    if prop.concept is not PRICED.concept or any(option.fit.likeness >= GOOD_FIT for option in seen):
        return None
    names: defaultdict[str, set[tuple[Phrase, ...]]] = defaultdict(set)
    own = [option for option in seen if not (option.candidate.aside or option.candidate.foreign)]
    for option in own:
        within = any(option.candidate.where.startswith(f"{other.candidate.where} ") for other in own)
        if not within:
            names[_key(option.value)].add(option.candidate.labels)
    counts = sorted((len(labels) for labels in names.values()), reverse=True)
    if not counts or counts[0] < _OFTEN or counts[0] in counts[1:]:
        return None
    return next(option for option in own if len(names[_key(option.value)]) == counts[0])


def choose(scored: Sequence[Scored], shown: VisibleText, prop: Property) -> Choice:
    """The best of `scored`; none when equally good ones differ."""
    if not scored:
        return Choice()
    top = max(option.score for option in scored)
    equal = [option for option in scored if top - option.score < _CLOSE]
    if len({_key(option.value) for option in equal}) == 1:
        return Choice(max(equal, key=lambda option: option.score))
    seen: Narrower = lambda options: [option for option in options if shown.has(prop, option.value)]  # noqa: E731
    for narrower in (_in_fragment, _largest, _of_the_page, seen):
        fewer = narrower(equal)
        if fewer and len({_key(option.value) for option in fewer}) == 1:
            return Choice(max(fewer, key=lambda option: option.score))
    if all(isinstance(option.value, str) for option in equal):  # one text quoted in part, or in another case
        longest = max(equal, key=lambda option: len(option.value))
        if all(squash(option.value) in squash(longest.value) for option in equal):
            return Choice(max(equal, key=lambda option: option.score))
        if prop.concept and prop.concept.kind in ("name", "image", "url"):
            return Choice(max(equal, key=lambda option: (option.score, -option.candidate.order)))
    return Choice(rivals=tuple(equal))


def _visible_answer(
    prop: Property, best: Scored, scored: Sequence[Scored], shown: VisibleText, page: Facts | None
) -> FieldAnswer:
    """The answer of a visible place."""
    sureness, reason = _by_place(prop, best)
    if best.candidate.level and page is not None:
        borne_out = _bears_out(page.title, str(best.value)) if best.value else False
        if best.candidate.level == 1 and (other := _other_title(page, str(best.value), shown)):
            rival = FieldCandidate(other, best.candidate.how, other, "weak", Reason.AMBIGUOUS)
            return replace(_field_answer(best, "weak", Reason.AMBIGUOUS, confirmed=False), candidates=(rival,))
        if best.candidate.level == 1:
            sureness, reason = ("certain", Reason.AGREED) if borne_out else (sureness, reason)
        elif not borne_out:
            sureness, reason = "weak", Reason.LOOSE_NAME
    others = [option for option in scored if option.fit.likeness >= GOOD_FIT and _key(option.value) == _key(best.value)]
    if sureness == "likely" and any(_independent(other.candidate, best.candidate) for other in others):
        sureness, reason = "certain", Reason.AGREED
    return _field_answer(best, sureness, reason, confirmed=sureness != "weak")


def _bears_out(title: str, heading: str) -> bool:
    """Return whether the document's title holds the heading, or begins with it but for the number of its chapter."""
    squashed, rest = squash(title), _CHAPTER.sub("", heading)
    return squash(heading) in squashed or (rest != heading and squashed.startswith(squash(rest)))


def _other_title(page: Facts, heading: str, shown: VisibleText) -> str:
    """Return what else of the page may be its title rather than this heading of the first level;
    "": nothing.

    The document's title begins with another heading, and names this one behind it: "Buffer | The Manual" on a page of
    The Manual. Or a line of the page says the whole title, and this heading is no part of it: it is a chapter's.
    """
    place, whole = place_in_title(page.title, heading), squash(page.title)
    if place is None:
        return next((line for line in shown.lines if squash(line) == whole), "")
    others = [other.text for other in page.headings if other.visible and not other.region] if place else []
    return next((other for other in others if place_in_title(page.title, other) == 0), "")


def _by_place(prop: Property, scored: Scored) -> tuple[Sureness, Reason]:
    """Return how sure a value is that only this visible place states."""
    candidate, concept = scored.candidate, prop.concept
    if not candidate.visible:
        return "weak", Reason.UNSEEN
    if scored.fit.likeness < GOOD_FIT or candidate.asking or candidate.foreign:
        return "weak", Reason.LOOSE_NAME
    if candidate.how == "selector" and isinstance(scored.value, str) and not prop.format and not prop.enum:
        kind = concept.kind if concept else "text"
        synonym = not scored.fit.own and kind == "text" and concept is not None and concept.name not in _CLASS_SYNONYMS
        wordy = concept is None or concept.name != "description"
        if synonym or (wordy and (len(scored.value) > _LONG or "\n" in candidate.raw.text.strip())):
            return "weak", Reason.LOOSE_NAME
    return "likely", Reason.ONE_PLACE


def _independent(candidate: ShownPlace, other: ShownPlace) -> bool:
    """Return whether two places were written apart:
    a heading and a line of facts, not an element and what it stands in.
    """
    return bool(candidate.level) != bool(other.level) and "selector" not in (candidate.how, other.how)


def _field_answer(scored: Scored, sureness: Sureness, reason: Reason, *, confirmed: bool) -> FieldAnswer:
    how, where, confirmed = scored.candidate.how, scored.candidate.where, confirmed and sureness != "weak"
    return FieldAnswer(scored.value, FieldSource(how, where, confirmed, sureness, reason, called=scored.fit.called))


def _key(value: Json) -> str:
    return (
        _APOSTROPHES.sub("", squash(value))
        if isinstance(value, str)
        else repr(float(value) if isinstance(value, int) else value)
    )


def _of_the_page(scored: Sequence[Scored]) -> list[Scored]:
    """Those that stand under the page's own heading, and under no heading of a section."""
    return [option for option in scored if not option.candidate.under]


def _in_fragment(scored: Sequence[Scored]) -> list[Scored]:
    return [option for option in scored if option.candidate.in_fragment]


def _largest(scored: Sequence[Scored]) -> list[Scored]:
    sizes = [option.candidate.size for option in scored]
    big = max(sizes)
    rest = [size for size in sizes if size < big]
    return (
        [option for option in scored if option.candidate.size == big] if rest and big >= _BIGGER * max(rest) > 0 else []
    )
