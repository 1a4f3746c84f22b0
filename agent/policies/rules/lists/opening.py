"""Opening what a loop value in words names: its link, button or option, else the site's only search box."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoal.agent.errors import ItemNotFound
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.rules.forms.form import FormPage
from shoal.agent.policies.rules.lists.onward import walk
from shoal.agent.policies.rules.overlays import DISMISSAL, closing_label
from shoal.agent.read.values.phrases import Phrase, phrase, squash
from shoal.agent.read.word_lists.form_vocabulary import FORM_NAMES
from shoal.agent.types import Action, Element, Observation, Step

_OPEN = "open the item"
_SEARCH = "search for the item"
_ENOUGH = 0.6
_MAX_LOOKS = 2
_SEARCH_NAMES = frozenset(phrase(name) for group in FORM_NAMES if "search" in group for name in group)


def decide_opening(seen: Observation, page: FormPage, item: str, steps: Sequence[Step]) -> StepDecision:
    """The next actions on the way to the page that shows `item`.

    Raises:
        ItemNotFound: nothing on the page is called so, and searching does not help.
    """
    done = [result for step in steps for result in step.results if result.error is None]
    opened = [result for result in done if result.action.reasoning == _OPEN]
    if opened:
        return StepDecision("the item is open", (Action("complete"),))
    banner = closing_label(page)
    if banner and not any(result.action.reasoning == DISMISSAL for result in done):
        button = next((candidate for candidate in page.buttons if squash(candidate.label) == squash(banner)), None)
        if button is not None:
            return StepDecision("something covers the page", (Action("click", {"bid": button.bid}, DISMISSAL),))
    searched = [index for index, step in enumerate(steps) if any(r.action.reasoning == _SEARCH for r in step.results)]
    if searched and squash(page.heading) == squash(item):
        return StepDecision("the search led to the item itself", (Action("complete"),))
    hit = best_match(seen.elements, item)
    if hit is not None:
        return StepDecision("the page names the item", (hit.action,))
    if searched:
        if len(steps) - searched[-1] <= _MAX_LOOKS and page.busy:
            return StepDecision("the results are still loading", ())
        raise ItemNotFound(f"neither the page nor its search shows {item!r}", item=item)
    boxes = [element for element in walk(seen.elements) if _is_search(element)]
    if len(boxes) == 1:
        bid = boxes[0].bid
        fill = Action("fill", {"bid": bid, "value": item}, "name the item in the search")
        return StepDecision(
            "the site has a search", (fill, Action("press", {"bid": bid, "key_comb": "Enter"}, _SEARCH))
        )
    raise ItemNotFound(f"nothing on {seen.url} is called {item!r}", item=item)


@dataclass(frozen=True, slots=True)
class OpeningHit:
    """An element that is called like the item."""

    score: float
    action: Action
    target: str  # where it leads: equal targets are one


def best_match(root: Element, item: str) -> OpeningHit | None:
    """The element called most like `item`; None when none is, or when two different ones are equally so."""
    hits = [hit for element in walk(root) for hit in _hits(element, item) if hit.score >= _ENOUGH]
    if not hits:
        return None
    top = max(hit.score for hit in hits)
    best = [hit for hit in hits if hit.score == top]
    return best[0] if top >= 0.95 or len({hit.target for hit in best}) == 1 else None


def _hits(element: Element, item: str) -> Iterator[OpeningHit]:
    if not element.bid or not element.visible or "disabled" in element.states:
        return
    for label, value, _ in element.options if element.tag == "select" else ():
        score = name_likeness(item, label)
        action = Action("select_option", {"bid": element.bid, "options": [value or label]}, _OPEN)
        yield OpeningHit(0.98 * score, action, f"{element.bid} {value}")
    clickable = (
        element.clickable
        or element.tag in ("a", "button")
        or element.role in ("link", "button", "tab", "menuitem", "option")
    )
    if clickable and element.tag not in ("select", "input", "textarea"):
        labels = [element.name, element.text, _text_of(element), element.attributes.get("title", "")]
        score = max((name_likeness(item, text) for text in labels if text), default=0.0)
        target = element.attributes.get("href", element.bid)
        yield OpeningHit(score, Action("click", {"bid": element.bid}, _OPEN), target)


def _text_of(element: Element) -> str:
    return " ".join(filter(None, [element.text, *(_text_of(child) for child in element.children)]))


def name_likeness(item: str, label: str) -> float:
    """Return how well `label` names `item`: 1 for the same words, less by each further word."""
    if squash(item) == squash(label):
        return 1.0
    asked, words = phrase(item), phrase(label)
    if not asked or not words:
        return 0.0
    if asked == words:
        return 0.97
    if _within(asked, words):
        return 0.9 * math.pow(len(asked) / len(words), 0.25)
    if set(asked) <= set(words):
        return 0.8 * math.pow(len(asked) / len(words), 0.25)
    return 0.0


def _within(asked: Phrase, words: Phrase) -> bool:
    return any(words[i : i + len(asked)] == asked for i in range(len(words) - len(asked) + 1))


def _is_search(element: Element) -> bool:
    if not element.bid or not element.visible or element.tag != "input":
        return False
    type_ = element.attributes.get("type", "text")
    if type_ == "search" or element.role == "searchbox":
        return True
    called = [element.name, element.attributes.get("name", ""), element.attributes.get("placeholder", "")]
    return type_ == "text" and any(
        phrase(re.sub(r"[….]+$", "", text)) in _SEARCH_NAMES or "search" in phrase(text) for text in called
    )
