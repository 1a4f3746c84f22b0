"""Compiling the absence of a value: what the pages that lack it show, where that tells them from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shoal.agent.workflows.format.absence import Absence
from shoal.agent.workflows.learning.page_sample import PageSample
from shoal.agent.workflows.reading.absence import keys_of
from shoal.agent.workflows.reading.page_view import NO_VALUE, wording_of

_LEAST_LACKING = 2
"""Pages without the value: of one it is not known what differs from page to page."""


def absence_of(name: str, samples: Sequence[PageSample]) -> Absence | str:
    """Return what pages without the field show;
    or why nothing tells them from the others.

    The field's own label or place has to be known by a text that the pages without it lack, or its label has to stand
    before a text that says that there is no value. A renamed label or a moved value is then a text that is not known.
    """
    lacking = [sample for sample in samples if sample.record.get(name) is None]
    having = [sample for sample in samples if sample.record.get(name) is not None]
    if len(lacking) < _LEAST_LACKING:
        return f"{len(lacking)} of {len(samples)} pages lacks it, and {_LEAST_LACKING} are needed"
    if not all(sample.texts for sample in samples):
        return "the texts of the pages are not known"
    fixed = _fixed_places(samples)
    required = _in_all(samples, fixed)
    if not required:
        return "the pages have no text in common"
    labels = set.intersection(*(_label_wordings(name, sample) for sample in having))
    no_value_texts = _no_value_texts(lacking, {text for text in required if _wording(text) in labels}, fixed)
    if not no_value_texts and not _is_told_by_texts(name, having, lacking, labels, fixed):
        return "no text of its own tells the pages with it from those without it"
    texts = _most(having, lacking, fixed)
    return Absence(texts=texts, required=tuple(sorted({*required, *no_value_texts})))


def _worded(sample: PageSample) -> list[str]:
    """The texts of a sample by place and wording."""
    return [text.rpartition(" ")[0] for text in sample.texts]


def _place(text: str) -> str:
    return text.split(" ")[0]


def _wording(text: str) -> str:
    return text.split(" ")[1]


def _fixed_places(samples: Sequence[PageSample]) -> set[str]:
    """The places at which each wording is on two samples or more."""
    on = Counter(text for sample in samples for text in set(_worded(sample)))
    return {_place(text) for text in on} - {_place(text) for text, n in on.items() if n == 1}


def _in_all(samples: Sequence[PageSample], fixed: set[str]) -> set[str]:
    """The texts at fixed places that all samples have."""
    common = set.intersection(*(set(_worded(sample)) for sample in samples))
    return {text for text in common if _place(text) in fixed}


def _most(having: Sequence[PageSample], lacking: Sequence[PageSample], fixed: set[str]) -> dict[str, int]:
    """Return how often a page without the field has each text at most.

    Pages with the field count too for a text that they have no oftener because of it: what differs there differs from
    page to page.
    """
    without, others = ([Counter(keys_of(s.texts, fixed)) for s in some] for some in (lacking, having))
    most = {}
    for key in dict.fromkeys(key for counts in (*without, *others) for key in counts):
        limit = max(counts[key] for counts in without)
        usual = [counts[key] for counts in others]
        if min(usual) <= limit:
            limit = max(limit, *usual)
        most[key] = limit
    return {key: limit for key, limit in most.items() if limit}


def _label_wordings(name: str, sample: PageSample) -> set[str]:
    places = [channel.place for channel in sample.channels.get(name, ())]
    return {wording_of(place.query) for place in places if place.kind in ("label", "column")}


def _no_value_texts(lacking: Sequence[PageSample], labels: set[str], fixed: set[str]) -> set[str]:
    """The texts after the field's label that say on all pages without it that there is no value."""
    several = []
    for sample in lacking:
        texts, keys = _worded(sample), list(keys_of(sample.texts, fixed))
        following = zip(texts, texts[1:], keys[1:], strict=False)
        several.append({key for label, text, key in following if label in labels and _wording(text) == NO_VALUE})
    return set.intersection(*several)


def _is_told_by_texts(
    name: str, having: Sequence[PageSample], lacking: Sequence[PageSample], labels: set[str], fixed: set[str]
) -> bool:
    """Return whether the field's label, or a place that only it has, is on all pages with it and on none without it."""
    without = {text for sample in lacking for text in _worded(sample)}
    if any(_wording(text) in labels for text in _in_all(having, fixed) - without):
        return True
    places = set.intersection(*(_value_places(name, sample) for sample in having))
    return bool(places - {_place(text) for text in without})


def _value_places(name: str, sample: PageSample) -> set[str]:
    """Return where the texts stand that the field was read from."""
    wordings = {wording_of(channel.raw) for channel in sample.channels.get(name, ()) if channel.shown}
    return {_place(text) for text in _worded(sample) if _wording(text) in wordings}
