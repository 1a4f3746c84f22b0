"""Every place of the shown page that could hold a field's value, with what it is called."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import urlsplit

from shoal.agent.read.facts.facts import Facts
from shoal.agent.read.facts.page_parts import LabeledValue, NamedElement
from shoal.agent.read.schema import PRICED, Property
from shoal.agent.read.values.conversion import Raw, without_bound
from shoal.agent.read.values.phrases import (
    NEUTRAL_WORDS,
    QUALIFIER_WORDS,
    UNIT_WORDS,
    Phrase,
    best_likeness,
    names_page,
    phrase,
)
from shoal.agent.read.values.text_values import money_bounds_in
from shoal.agent.read.word_lists.concepts import CONCEPTS, LOOSE_SYNONYMS
from shoal.agent.read.word_lists.labels import AROUND, NAMING_DATA, STRUCK_WORDS
from shoal.agent.support.web_addresses import reached_by

TRUST: Mapping[str, float] = {
    "table": 0.93,
    "definition-list": 0.93,
    "control": 0.93,
    "label": 0.92,
    "heading": 0.97,
    "request": 0.85,
    "selector": 0.85,
    "column": 0.0,
}
"""Trust in a value by its place, when its name fits fully; from 0 to 1."""

_ASIDE = 0.75  # an aside may hold the record's box of facts, but more often somebody else's
_LOOSELY = 0.85
_LOOSE_WORDS = frozenset(phrase(text) for text in LOOSE_SYNONYMS)
_CONCEPT = 0.96  # a synonym says a little less than the property's own name
_NUMBER_SIGNS = frozenset({"no", "nr", "num"})
_OTHER_FORM = 0.95  # "File date" for `date_filed`
_GLOSSARY = 0.93  # a label that only the field glossary knows
_LABELED = frozenset({"table", "definition-list", "control", "label", "column"})
"""Places that people see the name of."""
_LABEL_TAGS = frozenset({"label", "dt", "legend", "caption", "button", "option", "summary", "th"})
"""Elements that name something, or do something, and hold no value of a record by their class."""
_LABEL_WORDS = frozenset(
    phrase(
        "label lbl heading header head caption legend key term hint help placeholder button btn toggle tab filter "
        "search input title prefix form"
    )
)
"""Words in a class name that make an element the name of a value rather than the value."""
_LOOKS = frozenset(phrase("color colour text bold large"))
"""Words at the end of a class name that say how a value looks: `price_color` names a price."""
_AROUND_WORDS = frozenset(word for text in AROUND for word in phrase(text))
_CONCEPT_WORDS = frozenset(word for concept in CONCEPTS for name in concept.names for word in phrase(name))
_SITE = 3
"""Characters of the parts of a host that are not its name."""
_NAME_WORDS = 12
"""Words of a record's name that are looked for in ids and classes, and words of those."""


class ShownPlace(NamedTuple):
    """One value that the page states, and its names."""

    how: str  # table, definition-list, control, label, heading, selector, column, request
    where: str  # selector, or path in fetched JSON
    raw: Raw
    labels: tuple[Phrase, ...]  # what the page calls it
    visible: bool = True
    struck: bool = False
    aside: bool = False
    foreign: bool = False  # inside a block whose class names say that it is about something else
    in_fragment: bool = False  # in the part of the page that its address names
    size: float = 0.0  # font size in CSS pixels, 0 when unknown
    order: int = 0  # position in the document
    box: str = ""  # the table, list or form that it is a line of; "" outside of one
    asking: bool = False  # a control of a form that searches or orders, rather than shows what is stored
    empty: bool = False  # the place is there and holds nothing
    options: tuple[str, ...] = ()  # of a select: all that it offers
    ticked: bool = False  # a check box: it says yes or no and nothing else
    level: int = 0  # of a heading
    under: int = 0  # the level of the heading that it stands under, 0 for none or the page's own


def candidates_of(facts: Facts) -> list[ShownPlace]:
    """All candidates of a page, in no particular order."""
    own = _own_name(facts)
    site = frozenset(part for part in (urlsplit(facts.url).hostname or "").split(".") if len(part) > _SITE)
    candidates = [_without_site(_of_pair(pair, own), site) for pair in facts.pairs]
    kinds = _kind_words(candidates, facts)
    candidates = [_without_kind(place, kinds) for place in candidates]
    candidates += [candidate for element in facts.named for candidate in _of_named(element, own)]
    candidates += _of_headings(facts)
    return _placed(candidates, facts)


def _without_site(place: ShownPlace, site: frozenset[str]) -> ShownPlace:
    """The place with the site's own name taken from its labels: "eBay item number" is an item number."""
    labels = [
        next((label[count:] for count in (1, 2) if len(label) > count and "".join(label[:count]) in site), label)
        for label in place.labels
    ]
    return place._replace(labels=tuple(labels))


def _kind_words(places: Sequence[ShownPlace], facts: Facts) -> frozenset[str]:
    """The words of the page's heading that several of its labels begin with: what its record is a kind of.

    They are "case" where "Case Information" has a "Case Number" and a "Case Status".
    """
    headings = {phrase(heading.text) for heading in facts.headings if heading.visible}
    labels = {label for place in places for label in place.labels if len(label) > 1} - headings
    first = Counter(label[0] for label in labels)
    named = {word for word, count in first.items() if count > 1} & {word for heading in headings for word in heading}
    return frozenset(named - QUALIFIER_WORDS - _AROUND_WORDS)


def _without_kind(place: ShownPlace, kinds: frozenset[str]) -> ShownPlace:
    """The place with its labels also without the kind of the record: "Case Status" is a status."""
    bare = [label[1:] for label in place.labels if len(label) == 2 and label[0] in kinds]
    return place._replace(labels=(*place.labels, *bare)) if bare else place


def text_of_record(facts: Facts) -> str:
    """The visible text of the page's own record: without the blocks that say by id or class that they are about
    something else."""
    own = _own_name(facts)
    return "\n".join((facts.plain_text, *(text for around, text in facts.set_apart if not _is_foreign(around, own))))


def _placed(candidates: list[ShownPlace], facts: Facts) -> list[ShownPlace]:
    """The candidates with the level of the heading that each stands under."""
    headings = sorted(
        (heading.order, heading.level) for heading in facts.headings if heading.visible and not heading.region
    )
    top = min((level for _, level in headings), default=0)
    starts = [order for order, _ in headings]
    return [
        candidate._replace(under=level) if place and (level := headings[place - 1][1]) > top else candidate
        for candidate in candidates
        for place in (bisect_right(starts, candidate.order) if candidate.order else 0,)
    ]


def block_candidates(block: Facts) -> list[ShownPlace]:
    """The candidates of one repeated block, relative to it."""
    named = tuple(block.named)
    own = _own_name(block) or next((_name(link.text) for link in named if link.tag == "a" and link.text), ())
    candidates = [_of_pair(pair, own, of_block=True) for pair in block.pairs]
    candidates += [candidate for element in named for candidate in _of_named(element, own, of_block=True)]
    candidates += _of_headings(block)
    candidates += _of_link(block, named)
    return candidates


def _own_name(facts: Facts) -> Phrase:
    """The first words of the highest heading."""
    headings = [heading for heading in facts.headings if heading.visible and not heading.region and heading.text]
    return _name(min(headings, key=lambda heading: (heading.level, heading.order)).text) if headings else ()


def _name(text: str) -> Phrase:
    return phrase(text)[:_NAME_WORDS]


def possible_label_words(prop: Property) -> frozenset[str]:
    """Every word that a label of the property's value may hold; a label without any of them is not its label."""
    words = {word for wording in (*prop.phrases, *prop.day_phrases) for word in wording}
    if prop.concept:
        words |= {word for name in _names(prop.concept.names) for word in name}
        if prop.concept.kind == "currency":
            words |= possible_label_words(PRICED)
    for part in prop.properties:
        words |= possible_label_words(part)
    if prop.items is not None:
        words |= possible_label_words(prop.items)
    return frozenset(words)


def name_stems(properties: Sequence[Property]) -> list[str]:
    """Parts of words for `facts_of`: an element whose names hold none of them is no candidate by its names."""
    words = {word for prop in properties for word in possible_label_words(prop)}
    return sorted({word[:-1] if word.endswith("y") else word for word in words if len(word) > 1 and word.isascii()})


@dataclass(frozen=True, slots=True)
class Fit:
    """The likeness between the names of a place and a property, whatever the place is."""

    likeness: float  # 0 to 1
    own: bool  # by the property's own name; else by a synonym
    called: str = ""  # the label of the field glossary that fits better than both


def fit_of(prop: Property, candidate: ShownPlace) -> Fit:
    """Return how well the candidate is called what the property asks for."""
    concept = prop.concept
    if candidate.struck and not (concept and concept.name == "old_price"):
        return Fit(0.0, own=False)
    loose = _LOOSELY if concept and concept.kind == "text" and not _LOOSE_WORDS.isdisjoint(prop.phrases) else 1.0
    labels = _value_names(prop, candidate)
    own = max((best_likeness(prop.phrases, label) for label in labels), default=0.0)
    if own < _OTHER_FORM and prop.day_phrases:
        own = max(own, _OTHER_FORM * max((best_likeness(prop.day_phrases, label) for label in labels), default=0.0))
    if own < _CONCEPT and (whole := _of_whole_span(prop, candidate)):
        own = _CONCEPT * max((best_likeness(whole, label) for label in labels), default=0.0)
    synonym = 0.0
    if concept and own < _CONCEPT:
        same = [label for label in labels if concept.kind != "text" or label not in _LOOSE_WORDS]
        synonym = loose * _CONCEPT * max((best_likeness(_names(concept.names), label) for label in same), default=0.0)
        # A page with "Name: X" and another heading: a `name` is X, while a `title` is the heading.
        synonym *= 0.94 if candidate.how == "heading" else 1.0
        if candidate.how in _LABELED and any(map(_names_only(concept.names), labels)):
            synonym = max(synonym, loose * _CONCEPT)
    called = prop.glossary.called(labels) if candidate.how in _LABELED and max(own, synonym) < _GLOSSARY else ""
    return Fit(_GLOSSARY, own=False, called=called) if called else Fit(max(own, synonym), own=own >= synonym)


def _of_whole_span(prop: Property, candidate: ShownPlace) -> tuple[Phrase, ...]:
    """Return what both ends of a span are called together: `salary` of a `salary_max`; () where no span stands."""
    name = without_bound(prop.phrases[0])
    of_end = bool(name) and name != prop.phrases[0] and bool(prop.types & {"number", "integer"})
    return (name,) if of_end and money_bounds_in(candidate.raw.text) is not None else ()


def _value_names(prop: Property, candidate: ShownPlace) -> Sequence[Phrase]:
    """The candidate's names, without the class names that say that the element only names the value."""
    if candidate.how != "selector":
        return candidate.labels
    plain = [label for label in candidate.labels if not _LABEL_WORDS & set(label)]
    if len(plain) == len(candidate.labels):
        return candidate.labels
    naming = _LABEL_WORDS - possible_label_words(prop)
    return [label for label in candidate.labels if not naming & set(label)]


def likeness_to(prop: Property, candidate: ShownPlace, fit: Fit | None = None) -> float:
    """Return how well the candidate is what the property asks for, by its names and by where it stands; 0 to 1."""
    score = (fit or fit_of(prop, candidate)).likeness * TRUST[candidate.how]
    if candidate.aside:
        score *= 0.0 if candidate.how == "selector" else _ASIDE
    if candidate.foreign and not prop_mentions(prop, _AROUND_WORDS):
        score *= 0.5
    return score


def prop_mentions(prop: Property, words: frozenset[str]) -> bool:
    """Return whether the property itself asks for one of `words` ("shipping price")."""
    return any(word in words for wording in prop.phrases for word in wording)


_NAMES: dict[tuple[str, ...], tuple[Phrase, ...]] = {}


def _names(names: tuple[str, ...]) -> tuple[Phrase, ...]:
    if names not in _NAMES:
        _NAMES[names] = tuple(phrase(name) for name in names)
    return _NAMES[names]


def _names_only(names: tuple[str, ...]) -> Callable[[Phrase], bool]:
    """Return a test that a label has several words, each a name of its own: "Make / manufacturer"."""
    single = {name[0] for name in _names(names) if len(name) == 1}
    return lambda label: len(label) > 1 and single.issuperset(label)


def _label_phrases(label: str) -> Iterator[Phrase]:
    words = phrase(label)
    yield words
    if len(words) > 1 and words[-1] in _NUMBER_SIGNS:
        yield (*words[:-1], "number")


def _of_pair(pair: LabeledValue, own: Phrase = (), *, of_block: bool = False) -> ShownPlace:
    return ShownPlace(
        pair.how,
        pair.selector,
        Raw(pair.text, (), pair.exact, pair.link, named=True, bare=pair.before_badges),
        tuple(dict.fromkeys(words for label in (pair.label, *pair.more_labels) for words in _label_phrases(label))),
        visible=pair.visible,
        struck=pair.struck,
        aside=pair.region == "aside",
        foreign=_is_foreign(pair.around, own if of_block else ()) or _is_foreign(pair.names, own),
        in_fragment=pair.in_fragment,
        order=pair.order,
        box=pair.box,
        asking=pair.asking,
        empty=pair.empty,
        options=pair.options,
        ticked=pair.is_checkbox,
    )


def _of_named(element: NamedElement, own: Phrase, *, of_block: bool = False) -> Iterator[ShownPlace]:
    """The element by its id and classes, and by each of its data.

    Args:
        own: the record's name, of which they may be made.
        of_block: so may those of what is around it.
    """
    tag = element.tag
    if tag in _LABEL_TAGS:
        return
    labels = [_without_name(label, own) or label for label in map(phrase, element.names.split())]
    labels += [label[:-1] for label in labels if len(label) > 1 and label[-1] in _LOOKS]
    labels += [phrase(element.property.split(":")[-1])] if element.property else []
    labels += [phrase(element.rel)] if element.rel else []
    labels += [phrase(value) for name, value in element.data if name in NAMING_DATA]
    labels += [("old", "price")] if tag in ("del", "s", "strike") else []
    if element.names and tag in ("time", "address", "img") and not any("logo" in label for label in labels):
        labels.append(phrase(tag))
    if tag == "img" and len(own) > 1 and _name(element.alt) == own:
        labels.append(("image",))  # what the record is called shows what it is
    aria_label = element.aria_label if element.aria_label != element.text else ""
    frame = ShownPlace(
        "selector",
        element.selector,
        Raw(
            whole_text(element.text, element.tip) or element.alt,
            element.parts,
            element.exact or aria_label,
            element.link,
        ),
        tuple(dict.fromkeys(label for label in labels if label)),
        visible=element.visible,
        struck=element.struck or any(set(label) & set(STRUCK_WORDS) for label in labels),
        aside=element.region == "aside",
        foreign=_is_foreign(element.around, own if of_block else ()) or _is_foreign(element.names, own),
        in_fragment=element.in_fragment,
        size=element.font_size,
        order=element.order,
    )
    if frame.raw.text or frame.raw.exact or frame.raw.href:
        yield frame
    how, target = reached_by(element.link)
    if how:
        stated = whole_text(element.text, element.tip)
        text = stated if re.search(r"@|\d", stated) else target
        yield frame._replace(raw=Raw(text, href=element.link), labels=((how,),))
    for name, value in element.data:
        if name not in NAMING_DATA and value:
            yield ShownPlace(
                "selector",
                f"{element.selector}[data-{name}]",
                Raw(value, href=value if "/" in value else "", structured=True),
                (phrase(name),),
                visible=False,
                struck=frame.struck,
                aside=frame.aside,
                foreign=frame.foreign,
                order=frame.order,
            )


def _is_foreign(around: str, own: Phrase = ()) -> bool:
    """Return whether ids and classes say of a block that it is about something else than the record,
    whose name is `own`.
    """
    for token in around.split():
        words = set(_without_name(phrase(token), own))
        if words & _AROUND_WORDS and not words & _STATING:
            return True
    return False


_STATING = frozenset(
    phrase(
        "add to buy no not non has have with without empty hide hidden collapsed layout cat category tag taxonomy "
        "collection"
    )
)
"""Words of a class name that says what a block has, does or belongs to, and not what it is: `has-sidebar`,
`dt-empty-footer`, `product_cat-accessories`."""
_TELLS_NOTHING = NEUTRAL_WORDS | QUALIFIER_WORDS | _AROUND_WORDS | UNIT_WORDS | _CONCEPT_WORDS
"""Words of which ids and classes are made on any page: a name of these alone is not recognised in them."""


def _without_name(words: Phrase, own: Phrase) -> Phrase:
    """The words of an id or a class without the record's name, or two words or more of it, such as a slug has."""
    if len(words) > _NAME_WORDS or set(pairwise(words)).isdisjoint(pairwise(own)):
        return words
    for start in range(len(words) - 1):
        for end in range(len(words), start + 1, -1):
            run = words[start:end]
            if not _TELLS_NOTHING.issuperset(run) and any(run == own[at : at + len(run)] for at in range(len(own))):
                return words[:start] + _without_name(words[end:], own)
    return words


def _of_headings(facts: Facts) -> Iterator[ShownPlace]:
    """The first heading of the highest level, as the record's name."""
    own = [
        headline
        for headline in facts.headings
        if headline.visible and headline.region in ("", "header") and headline.text
    ]
    own = [headline for headline in own if not _leads_home(headline.link, facts.url)] or own
    own.sort(key=lambda headline: (headline.region != "", headline.level, headline.order))
    top = [headline for headline in own if headline.level == own[0].level][:3] if own else []
    for place, heading in enumerate(top):
        if names_page(heading.text):
            continue
        yield ShownPlace(
            "heading",
            heading.selector,
            Raw(whole_text(heading.text, heading.tip), href=heading.link),
            (("title",), ("heading",), ("headline",)) if place == 0 else (("heading", "further"),),
            in_fragment=heading.in_fragment,
            order=heading.order,
            level=heading.level,
        )


def _leads_home(link: str, url: str) -> bool:
    """True for the link of a site's name on a page below the site's first one."""
    to, here = urlsplit(link), urlsplit(url)
    return to.netloc == here.netloc and len(to.path) <= 1 < len(here.path)


def _of_link(block: Facts, named: Sequence[NamedElement]) -> Iterator[ShownPlace]:
    """Yield where a block leads: the link of its heading, else its first link with text, else its first link."""
    heads = [(heading.selector, heading.link) for heading in block.headings if heading.link]
    links = sorted(
        (element for element in named if element.tag == "a" and element.link),
        key=lambda link: (not link.text, link.order),
    )
    texts = [(link.selector, link.link) for link in links]
    for where, href in (heads + texts)[:1]:
        yield ShownPlace("selector", where, Raw("", href=href), (("url",), ("link",)))


def whole_text(shown: str, tip: str) -> str:
    """`shown`, or the tool tip that says in full what is shown cut off ("The Long W…")."""
    cut = re.sub(r"\s*(\.{3}|…)$", "", shown) if tip else shown
    return tip if cut != shown and tip.startswith(cut) else shown


def section_candidates(facts: Facts, prop: Property) -> list[ShownPlace]:
    """Values that a section's id gives: `id="part-x"` is the `part` "x" when its heading shows "x".

    What the address names by its fragment comes first, whatever its heading says; then the outermost section.
    """
    candidates = []
    for anchor in sorted(facts.anchors, key=lambda section: (not section.named, section.order)):
        value = _id_value(anchor.id, prop.phrases)
        if not anchor.named and phrase(anchor.id) == phrase(anchor.text) and not any(map(str.isdigit, value)):
            continue  # the id is made of the heading: "SKU scanner" is a name
        # Where the address names the section its id holds, whatever the heading makes of it.
        if value and (anchor.named or re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.]*\w)", anchor.text)):
            candidates.append(
                ShownPlace(
                    "selector",
                    anchor.selector,
                    Raw(value),
                    (prop.phrases[0],),
                    order=anchor.order,
                    in_fragment=anchor.named,
                )
            )
    return candidates[:1]


def _id_value(id_: str, phrases: Sequence[Phrase]) -> str:
    head, sign, rest = id_.partition("-")
    if not sign:
        head, sign, rest = id_.partition(":")
    return rest if rest and phrase(head) in phrases and phrase(head)[0] not in QUALIFIER_WORDS else ""
