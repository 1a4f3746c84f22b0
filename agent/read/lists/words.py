"""Words of lists: of headers, labels and classes, and groups of words that mean one thing in any trade."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from rapidfuzz import fuzz

from shoal.agent.read.words import word_set
from shoal.agent.support.bounded_cache import bounded_cache

_LONGEST_KEPT = 300
"""Characters of a text whose words are remembered: headers, labels and classes are shorter."""
_HUMP = re.compile(r"(?<=[a-zà-ÿ])(?=[A-Z])")
_NUMBER_SIGN = re.compile(r"#|№")
_LETTERS = re.compile(r"[^\W\d_]+")

_GROUPS: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "number no num nr nos id identifier code ref reference sku numero numéro núm nummer",
        "date day dated datum fecha data datetime time when",
        "posted published issued released",
        "name title caption heading headline nombre titre titel naam",
        "url link href uri address web website page homepage enlace lien",
        "file document doc download pdf attachment view read open full text",
        "price cost amount rate fee preis prix precio",
        "salary pay wage compensation",
        "description summary abstract snippet about excerpt",
        "author writer by creator",
        "company employer organisation organization firm vendor",
        "brand manufacturer maker",
        "location place city where region venue town",
        "rating stars score review rated",
        "version release",
        "category type kind section topic subject",
        "status state availability stock",
        "image photo picture img thumbnail",
        "quantity qty count",
        "points pts",
        "position pos rank",
        "team club",
        "played games matches pld mp",
        "country nation land",
        "email mail",
        "phone telephone tel mobile telefon téléphone",
        "department dept division",
        "start begin beginning opening from",
        "end finish closing until to till",
        "old original regular former previous rrp msrp uvp",
        "min minimum low lowest lower",
        "max maximum high highest upper",
    )
)

STOP_WORDS = word_set(
    "the a an of to in on at for and or was is are were be been its it this that such as with from which "
    "each by row one all any e g eg s"
)
BOUNDS = word_set("from to until till")
"""Words that say which end of a span of time follows, and nothing beside other words."""
FILE_TYPES = word_set("pdf doc docx xls xlsx csv zip txt xml json mp3 mp4 wav jpg png")
"""Endings of files that links lead to."""

KIND_WORDS: Mapping[str, frozenset[str]] = {
    "day": word_set("date day datum fecha dated deadline"),
    "link": word_set("url link href uri website homepage"),
    "money": word_set("price cost salary fee amount"),
    "identifier": word_set("number no id identifier code sku isbn ean gtin version ref reference"),
    "image": word_set("image photo picture thumbnail logo"),
    "name": word_set("name title headline caption heading"),
    "long": word_set("description summary abstract body text snippet content"),
}
"""Words in a field's name that tell what kind of value it asks for."""

IMPLIED_WORDS: Mapping[str, frozenset[str]] = {
    "day": word_set("date day time datum fecha"),
    "link": word_set("url link href web website view download file page open"),
    "image": frozenset(["image", "picture", "photo"]),
}
"""Words that a kind of value implies anyway."""


TERM_WORDS = word_set(
    "term name title option signature key word entry command argument parameter syntax setting function method question"
)
MEANING_WORDS = word_set("description definition meaning explanation text detail body answer value effect")
"""Words for the two parts of a definition."""


@bounded_cache(20_000, longest=_LONGEST_KEPT)
def split_words(text: str) -> Sequence[str]:
    """The words of a text in order, in lower case and without plural endings; camel case parts words."""
    parted = _NUMBER_SIGN.sub(" number ", _HUMP.sub(" ", text))
    return tuple(_singular(word) for word in _LETTERS.findall(parted.casefold()))


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(None)
def meaning_of(word: str) -> int | str:
    """The group of words that mean one thing, or the word itself where it is in none."""
    return next((place for place, group in enumerate(_GROUPS) if word in group or word + "s" in group), word)


BOUND_MEANINGS = frozenset(map(meaning_of, ("min", "max")))
"""Meanings of the words for the ends of a span."""


@lru_cache(100_000)
def same_word(first: str, second: str) -> bool:
    """True for one word, slips of the pen and endings included."""
    return first == second or (min(len(first), len(second)) > 4 and fuzz.ratio(first, second) >= 83)


def same_words(first: Sequence[str], second: Sequence[str]) -> bool:
    """True for the same words in order, whether they are written apart or not: "key word", "keyword"."""
    return list(first) == list(second) or "".join(first) == "".join(second) != ""


def is_named(text: str, names: Collection[Sequence[str]]) -> bool:
    """True for a text with the words of one of the names."""
    return any(same_words(split_words(text), name) for name in names)


def words_in_line(text: str) -> str:
    """`text` with single spaces."""
    return " ".join(text.split())


def any_same(word: str, others: Sequence[str]) -> bool:
    """True when one of the others is the same word."""
    return any(same_word(word, other) for other in others)
