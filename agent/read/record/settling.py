"""The value of a field that a page's witnesses bear out best, and how sure it is.

How sure its kind of value may be at most was measured: `value_kinds`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from shoal.agent.read.field import Field
from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.record.main_text import NEARLY
from shoal.agent.read.record.shown_rows import ShownRows, entry_text, row_words
from shoal.agent.read.record.value_kinds import CODES
from shoal.agent.read.record.witnesses import Testimony, Witness, WitnessKind, same
from shoal.agent.read.values.codes import has_check_digit
from shoal.agent.read.values.days import day_is_shown, may_be_one_moment
from shoal.agent.read.words import entry_key, folded, letters, likeness_of_texts
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Sureness
from shoal.agent.types import FieldCandidate, FieldSource, Reason

_WEIGHTS: Mapping[WitnessKind, float] = {
    "node": 4.0,
    "sum": 2.5,
    "twin": 2.0,
    "node-other": 1.6,
    "main": 1.6,
    "meta": 1.5,
    "url": 1.2,
    "strict": 1.0,
}
_OF_RECORD = frozenset[WitnessKind]({"node", "twin"})
_READERS = frozenset[WitnessKind]({"main", "strict", "url"})
"""Witnesses that are no data which the page states."""
_TITLES = ("name", "headline")
_GOOD = 0.85
_NOT_SHOWN = 0.2
"""Share of a list's entries that a page shows by chance."""
_ANOTHER = 0.5
"""Likeness below which two long texts are not readings of one."""
_ALIKE = 0.75
"""Likeness from which two texts are one entry."""
_BYLINE = 100
"""Characters of a line that may say when a page was published."""
_CODE = 5
"""Characters of a code that an address holds by more than chance."""
_TELLING = 3
"""Characters of a title that another one holds by more than chance."""


@dataclass
class Claim:
    """One value with all the witnesses that state it."""

    value: Json
    witnesses: list[Witness] = field(default_factory=list)
    score: float = 0.0
    shown: bool = False  # the page's main matter shows it
    in_address: bool = False  # the page's address holds it, a code
    in_passing: bool = False  # a day that the page shows within longer texts alone

    @property
    def kinds(self) -> frozenset[WitnessKind]:
        """Kinds of its witnesses."""
        return frozenset(witness.kind for witness in self.witnesses)

    @property
    def fit(self) -> float:
        """The best fit of the field's name."""
        return max(witness.fit for witness in self.witnesses)

    @property
    def prop(self) -> str:
        """The property that it was first read as."""
        return self.witnesses[0].prop

    @property
    def is_title(self) -> bool:
        """True for a name or headline."""
        return self.prop in _TITLES

    def agrees(self, stated: Json) -> bool:
        """True when `stated` says the same; one title may hold the other."""
        if same(self.value, stated):
            return True
        if isinstance(self.value, list) and isinstance(stated, list):
            return letters("".join(map(str, self.value))) == letters("".join(map(str, stated)))
        if not self.is_title or not isinstance(stated, str):
            return False
        mine, its = folded(str(self.value)), folded(stated)
        return min(len(mine), len(its)) >= _TELLING and (mine in its or its in mine)

    def as_candidate(self, why: Reason) -> FieldCandidate:
        """The value as a record lists what it does not give."""
        first = self.witnesses[0]
        return FieldCandidate(self.value, first.syntax or first.kind, first.where, "weak", why)


@dataclass(frozen=True, slots=True)
class Settled:
    """The value that is borne out best."""

    claim: Claim
    sureness: Sureness
    why: Reason
    rivals: tuple[Claim, ...] = ()  # that speak against it
    called: str = ""  # the property of the field glossary that was read

    @property
    def of_record(self) -> bool:
        """True where the structured data of the record state it."""
        return bool(self.claim.kinds & _OF_RECORD)

    @property
    def source(self) -> FieldSource:
        """Return where the value comes from."""
        first = self.claim.witnesses[0]
        seen = self.claim.shown and self.sureness != "weak"
        how = first.syntax or first.kind
        return FieldSource(how, first.where, seen, self.sureness, self.why, called=self.called)

    @property
    def candidates(self) -> tuple[FieldCandidate, ...]:
        """The value and those that speak against it."""
        return tuple(claim.as_candidate(self.why) for claim in (self.claim, *self.rivals))


def settle(asked: Field, name: str, testimony: Testimony, shown_value: Json) -> Settled | None:
    """The value of a field that its witnesses bear out best; None where it has none.

    Args:
        name: by which the field's witnesses are known.
        shown_value: what a place states that people see, None for nothing: it bears out the same value.
    """
    is_body = name in testimony.bodies
    claims = _claims(asked, name, testimony, is_body)
    if not claims:
        return None
    if asked.kind == "day":
        claims = _days_of_moments(claims, testimony.view)
    best, strong = claims[0], "node" in claims[0].kinds and not testimony.crowded
    best.shown = best.shown or (shown_value is not None and best.agrees(shown_value))
    rivals = tuple(
        claim
        for claim in claims[1:]
        if not is_body and asked.kind != "address" and _against(best, claim, asked, strong)
    )
    if isinstance(best.value, list):
        sureness, why = _sure_of_list(best, rivals, strong, testimony)
    elif is_body:
        sureness, why = _sure_of_body(best, testimony)
    elif asked.kind == "address":
        sureness, why = _sure_of_address(best, strong)
    else:
        sureness, why = _sure_of_scalar(best, rivals, strong, asked)
    called = asked.by_glossary(best.witnesses[0].prop, testimony.types)
    return Settled(best, sureness, why, rivals, called)


# --- claims -------------------------------------------------------------------------------------------


def _claims(asked: Field, name: str, testimony: Testimony, is_body: bool) -> list[Claim]:
    """The values stated for a field, the best supported first."""
    claims: list[Claim] = []
    for witness in testimony.witnesses.get(name, ()):
        if is_body and witness.kind not in ("main", "node", "twin", "node-other"):
            continue
        claim = next((known for known in claims if same(known.value, witness.value)), None)
        if claim is None:
            claim = Claim(witness.value)
            claims.append(claim)
        claim.witnesses.append(witness)
    titles = [folded(title) for title in testimony.view.titles]
    for claim in claims:
        claim.score = _score(claim, asked, testimony.view, titles, is_body)
    claims.sort(key=lambda claim: -claim.score)
    if claims and claims[0].is_title and "node" in claims[0].kinds:
        # A node's other name is no rival: a headline beside a name.
        claims[1:] = [claim for claim in claims[1:] if not (claim.is_title and "node" in claim.kinds)]
    return claims


def _days_of_moments(claims: Sequence[Claim], view: MainMatter) -> list[Claim]:
    """The days stated, without those that may be the moment of another one in a zone that the page does not show."""
    best = claims[0]
    alike = [best, *(claim for claim in claims[1:] if may_be_one_moment(str(best.value), str(claim.value)))]
    for claim in alike:
        _look_for_day(claim, view)
    best = next((claim for claim in alike if claim.shown and not claim.in_passing), best)
    others = alike if best.shown else [best]
    rivals = [claim for claim in claims if claim not in others]
    if best.shown and not best.in_passing:
        # A hidden day that the record's own data do not state may be that of a template or of another version.
        rivals = [claim for claim in rivals if claim.kinds & _OF_RECORD or _is_shown_day(claim, view)]
    return [best, *rivals]


def _is_shown_day(claim: Claim, view: MainMatter) -> bool:
    return day_is_shown(str(claim.value), view.visible_text.lower(), view.lang)


def _look_for_day(claim: Claim, view: MainMatter) -> None:
    def shows(text: str) -> bool:
        return day_is_shown(str(claim.value), text.lower(), view.lang)

    claim.shown = _is_shown_day(claim, view)
    claim.in_passing = claim.shown and not any(shows(line) for line in view.visible_lines if len(line) <= _BYLINE)


def _score(claim: Claim, asked: Field, view: MainMatter, titles: Sequence[str], is_body: bool) -> float:
    if is_body:
        return 5.0 if "main" in claim.kinds else _weight(claim)
    score = _weight(claim)
    if asked.kind == "address":
        return score + (4.0 if "meta" in claim.kinds else 0.0)
    if isinstance(claim.value, list | bool):
        return score
    text = folded(f"{claim.value:.2f}" if isinstance(claim.value, float) else str(claim.value))
    claim.shown = len(text) > 2 and text in view.main_folded
    claim.in_address = claim.prop in CODES and len(text) >= _CODE and text in folded(view.page.url)
    if claim.is_title and "node" in claim.kinds and text and any(title.startswith(text) for title in titles):
        score += 2.0
    return score + 0.3 * claim.shown


def _weight(claim: Claim) -> float:
    fits: dict[WitnessKind, float] = {}
    for witness in claim.witnesses:
        fits[witness.kind] = max(fits.get(witness.kind, 0.0), witness.fit)
    # The reader of main texts takes what meta elements say.
    repeated = 1.0 if {"meta", "main"} <= claim.kinds else 0.0
    return sum(_WEIGHTS[kind] * fitness**3 for kind, fitness in fits.items()) - repeated


def _against(best: Claim, claim: Claim, asked: Field, strong: bool) -> bool:
    """True when `claim` makes the best one doubtful."""
    if asked.kind == "text" and isinstance(best.value, str) and isinstance(claim.value, str):
        mine, its = folded(best.value), folded(claim.value)
        if len(mine) > 5 and len(its) > 5 and (mine in its or its in mine):
            return False
    if claim.kinds & _OF_RECORD:
        return True
    if asked.kind == "day" or asked.is_number:
        return bool(claim.kinds & {"meta", "main"}) or claim.score >= 0.6 * best.score
    return not strong and claim.score >= 0.5 * best.score


# --- sureness -----------------------------------------------------------------------------------------


def _sure_of_list(best: Claim, rivals: Sequence[Claim], strong: bool, testimony: Testimony) -> tuple[Sureness, Reason]:
    assert isinstance(best.value, list)
    entries, view, rows = [str(entry) for entry in best.value], testimony.view, testimony.rows
    share, more = _share_shown(entries, view, rows), _entries_beside(entries, view)
    more = more or _rows_say_more(entries, rows)
    if rivals or more or (len(entries) == 1 and _is_list_text(entries[0], view)):
        return "weak", Reason.CONTRADICTED
    if not best.kinds & _OF_RECORD:
        return "weak", Reason.ONE_PLACE
    if best.fit < _GOOD:
        return "weak", Reason.LOOSE_NAME
    if len(entries) > 1 and max(share, _share_mentioned(entries, view)) <= _NOT_SHOWN:  # nothing speaks against it
        return "likely", Reason.UNSEEN
    if share < _GOOD:
        return "weak", Reason.UNSEEN
    return ("certain" if share >= 0.95 and strong else "likely"), Reason.BORNE_OUT


def _share_shown(entries: Sequence[str], view: MainMatter, rows: ShownRows) -> float:
    seen = sum(
        folded(entry) in view.visible_folded or letters(entry) in view.visible_letters or rows.show(entry)
        for entry in entries
    )
    return seen / max(1, len(entries))


def _share_mentioned(entries: Sequence[str], view: MainMatter) -> float:
    """Share of the entries all of whose words the page shows somewhere."""
    shown = row_words(view.visible_text)
    return sum(row_words(entry).keys() <= shown.keys() for entry in entries) / max(1, len(entries))


def _is_list_text(entry: str, view: MainMatter) -> bool:
    """True when a list of the page has several entries that say together what this one says."""
    entry_letters = letters(entry)
    return any(
        len(el) > 1
        and view.is_visible(el)
        and view.text_length(el) < 3 * len(entry) + 100
        and letters(view.text(el)) == entry_letters
        for el in view.page.root.iter("ul", "ol", "tbody", "dl")
    )


def _entries_beside(entries: Sequence[str], view: MainMatter) -> bool:
    """True when lists of the page that hold the entries hold further ones, which the value lacks."""
    known = {key for entry in entries if (key := entry_key(entry))}
    boxes = Counter[int]()
    for item in view.page.root.iter("li"):
        parent = item.getparent()
        if parent is not None and entry_key(entry_text(item, view)) in known:
            boxes[view.page.number(parent)] += 1
    for number, count in boxes.items():
        box = view.page.elements[number]
        there = [key for item in box.iterchildren("li") if (key := entry_key(entry_text(item, view)))]
        if count < 2 or count < 0.4 * len(there):
            continue
        for key in there:
            telling = len(key) > 25 or bool(re.search(r"\d", key)) or len(there) - count == 1
            if telling and not any(_is_entry(key, other) for other in known):
                return True
    return False


def _is_entry(key: str, known: str) -> bool:
    if key in known or known in key or len(key) <= 8:
        return key in known or known in key
    matcher = SequenceMatcher(None, key, known)  # its bounds are read much faster than the ratio itself
    return min(matcher.real_quick_ratio(), matcher.quick_ratio()) > _ALIKE and matcher.ratio() > _ALIKE


def _rows_say_more(entries: Sequence[str], rows: ShownRows) -> bool:
    """True when the entries have no figures, and the rows of the page that show them have some."""
    if sum(bool(re.search(r"\d", entry)) for entry in entries) > 0.2 * len(entries):
        return False
    return sum(rows.add_numbers(entry, place) for place, entry in enumerate(entries, 1)) >= 0.5 * len(entries)


def _sure_of_body(best: Claim, testimony: Testimony) -> tuple[Sureness, Reason]:
    if "main" not in best.kinds:
        return "weak", Reason.ONE_PLACE
    text, texts = str(best.value), testimony.texts
    likeness = likeness_of_texts(text, texts.longest)
    if likeness > NEARLY:
        return "likely", Reason.AGREED
    if len(texts.longest) > len(text) and likeness < _ANOTHER:  # the page shows a longer text beside it
        return "weak", Reason.CONTRADICTED
    if likeness_of_texts(text, texts.strict) > NEARLY:
        return "likely", Reason.AGREED
    return "weak", Reason.ONE_PLACE


def _sure_of_address(best: Claim, strong: bool) -> tuple[Sureness, Reason]:
    if "meta" in best.kinds and strong:
        return "certain", Reason.AGREED
    return ("likely" if strong or "meta" in best.kinds else "weak"), Reason.ONE_PLACE


def _sure_of_scalar(best: Claim, rivals: Sequence[Claim], strong: bool, asked: Field) -> tuple[Sureness, Reason]:
    kinds, prop, value = best.kinds, best.prop, best.value
    independent = kinds - {"main"} if "meta" in kinds else kinds
    checked = prop.startswith(("gtin", "isbn")) and has_check_digit(str(value))
    support = len(independent) + best.shown + best.in_address + checked
    coded = prop in CODES or prop.startswith("gtin")
    stated = kinds - _READERS
    seen = Reason.BORNE_OUT if best.shown and stated else Reason.AGREED
    if rivals or _holds_label(best, asked):
        return "weak", Reason.CONTRADICTED if rivals else Reason.LOOSE_NAME
    if coded and not any(map(str.isdigit, str(value))):
        return "weak", Reason.LOOSE_NAME
    if strong and best.fit >= _GOOD:
        return ("certain", seen) if support >= 2 else ("weak" if coded else "likely", Reason.UNSEEN)
    if coded and not kinds & _OF_RECORD:
        return "weak", Reason.ONE_PLACE
    if "sum" in kinds or (best.is_title and "meta" in kinds):
        return "likely", Reason.ONE_PLACE
    if asked.kind == "day" and "main" in kinds and (best.shown or "strict" in kinds):
        # The readers of days look for one in the texts of a page: what a sentence mentions is none of its own.
        return ("weak", Reason.ONE_PLACE) if best.in_passing and not stated else ("likely", seen)
    telling = bool(kinds & {"meta", "twin", "node-other", "url"})
    if best.fit >= _GOOD and (support >= 3 or (support >= 2 and telling)):
        return "likely", seen
    return "weak", Reason.LOOSE_NAME if best.fit < _GOOD else Reason.ONE_PLACE


def _holds_label(best: Claim, asked: Field) -> bool:
    """True for a short text with a label of its own in it: "Weight: 3 kg" is no name of a thing."""
    value = best.value
    if not isinstance(value, str) or asked.kind == "day" or best.is_title or best.prop == "description":
        return False
    return len(value) < 80 and bool(re.search(r"\w:\s", value))
