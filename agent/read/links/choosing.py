"""Which of a page's groups of links is meant: by the words of a job, else by structure."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.read.links.link_groups import LinkGroup
from shoal.agent.read.links.page_links import ListRow
from shoal.agent.read.values.phrases import Phrase, overlap, phrase
from shoal.agent.read.word_lists.page_words import LOOP_FILLER
from shoal.agent.support.web_addresses import canonical_address, page_address

_NEAR = 3
"""Elements from an item upwards that are alike on all pages of a list."""
_PLACES = {"main": 1.0, "": 0.8, "aside": 0.3, "nav": 0.15, "header": 0.1, "footer": 0.08, "dialog": 0.05}
"""Likelihood of a list in each landmark, from 0 to 1."""
_FILLER = frozenset(phrase(" ".join(LOOP_FILLER)))


def distinct(rows: Sequence[ListRow], is_link: bool | None = None) -> list[ListRow]:
    """The rows without those that lead into a page which another row names as a whole ("#reviews" of a product).

    Other fragments count where the texts differ: `a.html#x` and `a.html#y` are two entries of an index.

    Where most rows have a link, those without one are headings or fillers between them, and are left out.
    """
    linked = [row for row in rows if row.link]
    if is_link is False:
        return [row for row in rows if row.text]
    if is_link is None and len(linked) * 2 < len(rows):
        return [row for row in rows if row.link or row.text]
    whole = {canonical_address(row.link) for row in linked if page_address(row.link) == row.link}
    return [row for row in linked if page_address(row.link) == row.link or canonical_address(row.link) not in whole]


def choose_group(groups: Sequence[LinkGroup], select: str, goal: str = "", settled: str = "") -> LinkGroup | None:
    """The group of links that the words name; by structure alone where they name none; None when nothing fits.

    `settled` is the kind of group that an earlier page was read by: the same kind is taken again.
    """
    for group in groups:
        if settled and group.kind == settled:
            return group
    if settled:
        near = settled.split("<")[:_NEAR]  # the blocks around may differ, of the last page say
        return next((group for group in groups if group.kind.split("<")[:_NEAR] == near), None)
    asked = content_words(select)
    scored = [(score_group(group, asked, content_words(goal)), group) for group in groups]
    scored = [(score, group) for score, group in scored if score > 0]
    return max(scored, key=lambda pair: pair[0])[1] if scored else None


def score_group(group: LinkGroup, asked: Phrase, goal: Phrase) -> float:
    """Return how much a group of links looks like the items that are asked for."""
    count = group.size
    away = group.away / max(1, count)
    if not group.visible or group.texts == 0 or away == 0:
        return 0.0
    group_words = phrase(f"{group.heading} {group.words} {group.caption}")
    named = overlap(asked, group_words) + 0.4 * overlap(goal, group_words)
    in_texts = sum(bool(set(asked) & set(phrase(row.text))) for row in group.rows[:50]) / min(50, count)
    size = min(1.0, count / 12) if count > 1 else 0.05
    place = _PLACES[group.region]
    if named >= 0.5 and asked:
        place = max(place, 0.5)  # a caller who names the links of the menu gets them
    rich = 1.0 + 0.35 * group.richness
    varied = group.texts / count
    return (0.3 + 2.0 * named + 0.8 * in_texts) * size * place * rich * varied * (0.5 + 0.5 * away)


def content_words(text: str) -> Phrase:
    """The words of a loop's `select` that name something."""
    return tuple(dict.fromkeys(word for word in phrase(text) if word not in _FILLER and len(word) > 1))
