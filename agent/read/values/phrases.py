"""Words: names and labels split, folded and compared, so that `inStock`, "In stock:" and `in-stock` are the same."""

from __future__ import annotations

import re
import unicodedata
from itertools import filterfalse

from shoal.agent.read.values.text_values import money_in
from shoal.agent.read.word_lists.labels import NEUTRAL, QUALIFIERS, UNITS
from shoal.agent.support.bounded_cache import bounded_cache

Phrase = tuple[str, ...]
"""Folded words in order; what two names are compared by."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_LABEL = 300
"""Characters of the longest label that is remembered: pages have longer ones, but not often."""
_LONG_WORD = 60
"""Characters of a word that are looked at: no name has longer ones."""
_BETWEEN = frozenset("|–—·•:»«/-")
"""Signs between the parts of a document's title."""
_WORDS = 24
"""Words of the longest two phrases of which a likeness is remembered."""
_PAGE_WORDS = frozenset({"detail", "information", "info", "overview"})
_WORDS_OF_KIND = 3
"""Words of a heading that only says what a page is."""
_DAY_WORDS = frozenset({"date", "day", "on"})
_ENDING = re.compile(r"(?<=\w{2})(ing|ed|e)$")
_WORDS_OF_NAMES = 150
"""Names of a property, and words of a label, of which the best likeness is remembered."""


def fold(text: str) -> str:
    """`text` in lower case without accents: what compares equal when a person would say so."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return decomposed if decomposed.isascii() else "".join(filterfalse(unicodedata.combining, decomposed))


@bounded_cache(20_000, longest=_LABEL)
def phrase(text: str) -> Phrase:
    """The folded words of a name or label, plural endings dropped."""
    return tuple(_stem(fold(word[:_LONG_WORD])) for part in _CAMEL.split(text) for word in _WORD.findall(part))


def _stem(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


NEUTRAL_WORDS = frozenset(word for text in NEUTRAL for word in phrase(text))
QUALIFIER_WORDS = frozenset(word for text in QUALIFIERS for word in phrase(text))
UNIT_WORDS = frozenset(word for text in UNITS for word in phrase(text))


@bounded_cache(50_000, longest=_WORDS)
def likeness(asked_for: Phrase, label: Phrase) -> float:
    """Return how well `label` names what is `asked_for`:
    1 is the same name, 0 another thing.

    A label may say more ("price incl. VAT"); it loses by each further word, and all when that word makes it
    something else ("old price", "price per kg").
    """
    if not asked_for or not label:
        return 0.0
    if asked_for == label:
        return 1.0
    asked, label_words = set(asked_for), set(label)
    if asked <= label_words:
        extra = label_words - asked
        if extra & QUALIFIER_WORDS:
            return 0.0
        extra -= NEUTRAL_WORDS
        extra -= UNIT_WORDS
        if extra and all(word.isdecimal() for word in asked):
            return 0.0  # "$1,590.60" is no label of a `field_1`
        return (0.92, 0.74, 0.6, 0.45)[len(extra)] if len(extra) < 4 else 0.3
    missing = asked - label_words
    if (
        missing <= (NEUTRAL_WORDS | UNIT_WORDS)
        and asked & label_words == label_words
        and not label_words <= NEUTRAL_WORDS
    ):
        return 0.9
    common = asked & label_words
    if (
        len(common) >= 2
        and not all(word.isdecimal() for word in common)
        and not (label_words - asked) & QUALIFIER_WORDS
    ):
        return 0.75 * len(common) / len(asked | label_words)
    return 0.0


def day_phrases(phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """Return what a day is also called: "file date", "filing date" and "filed" where `phrases` has one of them."""
    verbs = {rest[0] for words in phrases if len(rest := [word for word in words if word not in _DAY_WORDS]) == 1}
    roots = {_ENDING.sub("", verb) for verb in verbs if len(verb) > 2}
    forms = sorted({*verbs, *(f"{root}{ending}" for root in roots for ending in ("", "e", "ed", "ing"))})
    return tuple(words for form in forms for words in ((form,), (form, "on"), ("date", form)) if words not in phrases)


@bounded_cache(20_000, longest=_WORDS_OF_NAMES)
def best_likeness(phrases: tuple[Phrase, ...], label: Phrase) -> float:
    """The best `likeness` of any of the wanted phrases."""
    return max((likeness(asked_for, label) for asked_for in phrases), default=0.0)


def overlap(asked: Phrase, phrase_words: Phrase) -> float:
    """The share of the words of `asked` that `phrase_words` holds, as whole words."""
    if not asked:
        return 0.0
    there = set(phrase_words)
    return sum(word in there for word in asked) / len(asked)


def heading_text(heading: str) -> str:
    """Return what a heading says, squashed, without the sign of its permanent link."""
    return squash(heading).strip("#¶ ")


def names_page(heading: str) -> bool:
    """True for a heading that says what a page is, or what something costs, and not what its record is called:
    "Meeting Details".
    """
    words = phrase(heading)
    return (1 < len(words) <= _WORDS_OF_KIND and words[-1] in _PAGE_WORDS) or money_in(heading) == heading.strip()


def place_in_title(title: str, heading: str) -> int | None:
    """Return where a heading is a part of a document's title, 0 for "Buffer" in "Buffer | The Manual";
    None: nowhere.
    """
    whole, text = squash(title), heading_text(heading)
    at = whole.find(text) if text else -1
    if at < 0:
        return None
    around = (whole[:at].rstrip()[-1:], whole[at + len(text) :].lstrip()[:1])
    return at if all(not sign or sign in _BETWEEN for sign in around) else None


def squash(text: str) -> str:
    """`text` folded with single spaces, for looking one text up in another."""
    return " ".join(fold(text).split())
