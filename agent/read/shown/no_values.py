"""Texts that stand where a value could, and are none: a label, a placeholder, the field's own name."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from shoal.agent.read.facts.lines import WROTE
from shoal.agent.read.schema import Property
from shoal.agent.read.shown.places import ShownPlace
from shoal.agent.read.values.conversion import Raw
from shoal.agent.read.values.phrases import Phrase, fold, phrase
from shoal.agent.read.values.placeholders import is_no_picture, is_placeholder
from shoal.agent.read.values.text_values import days_in, money_in, weekday_names
from shoal.agent.read.word_lists.concepts import CONCEPTS
from shoal.agent.support.json_value import Json

_CODES = ("sku", "gtin")
"""Concepts whose values have a figure, unless a label or a field of a form says that another text is one."""
_LONGEST_FIGURE = 80
"""Characters under a heading that state one number: longer ones only mention some."""
_HANDLE = re.compile(r"(?:^|\s)@\w")
"""A person's name in a network: a link to it says "Follow @ada"."""
_LONGEST_NAME = 12
"""Words of who wrote: a longer text tells of a person."""
_LEAST_OF_PHONE = 3
"""Figures of the shortest number to call."""
_FIGURES = re.compile(r"(?<!\d)\d{1,2}[:.]\d{2}(?!\d)|(?<!\S)\d\S{0,9}\s(?:\D{0,80}\s)?\d")
"""A time of day, or several numbers, which no person is called."""
_PUBLISHED = re.compile(rf"(?:\s(?:{WROTE}|publiziert))?(?:\s(?:on|am|le|el|il|op|den))?$", re.I)
_BYLINE = re.compile(r"([^\d|·•]{2,80}?) [|·•] [^\d]{0,100}\d.{0,60}", re.S)
"""Who wrote, and behind a sign where and when: "Ann Lee | Porto | 4 March 2024"."""
_BETWEEN = " ,;|·•–—-"
_SPEAKING = ("availability", "currency", "rating")
"""Kinds whose values may be the field's own name: "In stock" is a value of `in_stock`."""


def is_no_value(
    prop: Property, candidate: ShownPlace, value: Json, names: Collection[Phrase], *, in_row: bool = False
) -> bool:
    """Return whether `value` only says what something is called,
    or that nothing is there.

    Args:
        names: what the fields of the schema are called.
        in_row: it stands in one of many records. A cell of a row is under a header, and names nothing beside it.
    """
    kind = prop.concept.kind if prop.concept is not None else ""
    if not isinstance(value, str):
        unset = kind == "rating" or (kind == "price" and (candidate.how == "control" or not candidate.visible))
        is_heading = candidate.how == "heading" and len(candidate.raw.text) > _LONGEST_FIGURE
        return not isinstance(value, bool) and (is_heading or (unset and value == 0))
    text = value.strip()
    if ("term",) in candidate.labels:  # what is explained may be a sign: ">>>", "--"
        return not text
    if is_placeholder(text):
        return True
    if prop.concept is not None and prop.concept.name == "author":
        told_of = candidate.how == "selector" and len(text.split()) > _LONGEST_NAME
        if told_of or _HANDLE.search(text) or _FIGURES.search(text):
            return True
    if prop.concept is not None and prop.concept.name == "phone" and sum(map(str.isdigit, text)) < _LEAST_OF_PHONE:
        return True
    of_code = prop.concept is not None and prop.concept.name in _CODES
    worded = candidate.how == "selector" or candidate.options or " " in text
    if of_code and worded and not any(map(str.isdigit, text)):
        return True
    if kind == "image" and is_no_picture(text, of=prop.phrases[0][-1]):
        return True
    if of_code and _is_money(text):
        return True
    if candidate.how == "control":
        return False
    if text.endswith((":", "：")) and not (in_row and candidate.how == "table"):
        return True
    if prop.concept and prop.concept.kind in _SPEAKING:
        return False
    words = phrase(text)
    if words in prop.phrases or (prop.concept is not None and words in {phrase(name) for name in prop.concept.names}):
        return True
    # The head of a list that is drawn with plain boxes: "Name" beside "Status".
    return candidate.how == "label" and words in names


def without_label(raw: Raw, prop: Property) -> Raw:
    """`raw` without the property's own name in front: "SKU: 12-3" is the sku "12-3", "by Ann" the author "Ann"."""
    if raw.structured or "string" not in prop.types or len(raw.text) > 200:
        return raw
    if prop.concept and prop.concept.name == "author" and (person := _person_of(raw.text)) != raw.text:
        raw = replace(raw, text=person, parts=())
    words = raw.text.split()
    if prop.concept and prop.concept.name in _CODES and not _is_money(raw.text):
        lead = next((i for i, word in enumerate(words) if any(sign.isdigit() for sign in word)), 0)
        if lead and all(set(phrase(word)) <= _CODE_WORDS for word in words[:lead]):
            return replace(raw, text=" ".join(words[lead:]), parts=())
    names: list[Phrase] = list(prop.phrases)
    if prop.concept:
        names += [phrase(name) for name in prop.concept.names]
    for count in (3, 2, 1):
        head = " ".join(words[:count])
        colon = head.endswith((":", "："))
        number = len(words) == count + 1 and any(sign.isdigit() for sign in words[-1])  # "Version 3.11"
        if len(words) > count and phrase(head) in names and (colon or fold(head) in _LEADS or number):
            return replace(raw, text=" ".join(words[count:]).lstrip(": #"), parts=())
    before, colon_sign, rest = raw.text.partition(":")
    if prop.concept and prop.concept.kind in _SPEAKING:
        return raw
    if colon_sign and ":" not in rest and 0 < len(rest.split()) <= _MOST_BEHIND and phrase(before)[-1:] in names:
        return replace(raw, text=rest.strip(), parts=())  # a link's text: "More articles of the brand: Panasonic"
    return raw


def _person_of(byline: str) -> str:
    """Who wrote, without where and when: "Ann Lee" of "Ann Lee Tuesday, Aug. 17, 2010"; "" for a day alone."""
    if parted := _BYLINE.fullmatch(byline):
        return parted[1]
    days = days_in(byline)
    if len(days) != 1:
        return byline
    words = byline[: days[0].start].rstrip(_BETWEEN).split()
    while words and words[-1].strip(".,").casefold() in weekday_names():
        words.pop()
    return _PUBLISHED.sub("", " ".join(words)).rstrip(_BETWEEN)


def _is_money(text: str) -> bool:
    return money_in(text) is not None or _DASH_CENTS.search(text) is not None


_DASH_CENTS = re.compile(r"\d[.,][-–—]")
"""An amount of money without cents: `206,-`."""
_MOST_BEHIND = 4
"""Words behind a label and its colon."""


_CODE_WORDS = {
    word for concept in CONCEPTS if concept.name in ("sku", "gtin") for name in concept.names for word in phrase(name)
}
_LEADS = frozenset(
    {
        "by",
        "von",
        "par",
        "written by",
        "posted by",
        "posted on",
        "published",
        "published on",
        "ref",
        "ref.",
        "sku",
        "no.",
    }
)
