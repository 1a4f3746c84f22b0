"""Guards that hold, before anything is read, that a page is one that a branch knows, and the item's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.agent.support.web_addresses import canonical_address
from shoal.agent.types import LoopItem
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.format.branch import Signature
from shoal.agent.workflows.reading.channels import holds_text, states
from shoal.agent.workflows.reading.page_view import PageView

_SEPARATORS = re.compile(r"([/?#&=])")
_ANY = "{}"
PASSWORD = "input[type=password]"
"""Selector of a field that only pages that ask for a login have."""


def fits_template(url: str, template: str) -> bool:
    """Return whether `url` is of `template`,
    whose `{}` stands for one part of a path or one value of a query.

    In linear time, whatever the template is: an expression made of it would take for ever on some.
    """
    expected, actual = (_SEPARATORS.split(plain_address(address)) for address in (template, url))
    return len(expected) == len(actual) and all(map(_fits, actual, expected))


def _fits(text: str, pattern: str) -> bool:
    """Return whether `text` is `pattern`, in which each `{}` stands for one letter or more."""
    first, *inner = pattern.split(_ANY)
    if not inner:
        return text == pattern
    *inner, last = inner
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in inner:  # the leftmost place leaves most to the others
        start = text.find(piece, at + 1)
        if start < 0:
            return False
        at = start + len(piece)
    return text.endswith(last) and len(text) - len(last) > at


def plain_address(url: str) -> str:
    """`url` without its fragment and a last slash."""
    return canonical_address(url).rstrip("/")


def page_misses(view: PageView, signature: Signature, item: LoopItem | None) -> Iterator[Divergence]:
    """Yield what keeps the page from being one of `signature`, and the item's."""
    if view.status and view.status not in signature.status:
        yield Divergence(DivergenceReason.STATUS, "status", f"the site answered {view.status}")
    if signature.url and not fits_template(view.url, signature.url):
        yield Divergence(DivergenceReason.ADDRESS, "url", f"{view.url} does not fit {signature.url}")
    for selector in signature.required:
        if selector not in view.present:
            yield Divergence(DivergenceReason.SIGNATURE, "required", f"{selector} finds nothing")
    for selector in signature.forbidden:
        if selector in view.visible:
            yield Divergence(DivergenceReason.SIGNATURE, "forbidden", f"{selector} finds something")
    if signature.locale and view.lang.lower() != signature.locale.lower():
        yield Divergence(
            DivergenceReason.SIGNATURE, "locale", f"the page is in {view.lang!r}, not in {signature.locale!r}"
        )
    if view.busy or not view.ready:
        yield Divergence(DivergenceReason.LOADING, "page", "the page says that it still loads")
    if item is not None:
        yield from _not_the_item(view, signature, item)


def _not_the_item(view: PageView, signature: Signature, item: LoopItem) -> Iterator[Divergence]:
    held = item_signs(view, item)
    reasons = {
        "link": f"{view.url} is not {item.value}",
        "label": f"no heading says {item.label!r}",
        "value": f"the page does not say {item.value!r}",
    }
    for sign in signature.item:
        if sign not in held:
            yield Divergence(DivergenceReason.NOT_THE_ITEM, sign, reasons[sign])


def item_signs(view: PageView, item: LoopItem) -> tuple[str, ...]:
    """By what the page shows that it is the item's: of link, label and value."""
    signs = []
    if item.is_link and plain_address(item.value) == plain_address(view.url):
        signs.append("link")
    if any(holds_text(text, item.label) for text in (view.title, *view.headings)):
        signs.append("label")
    if not item.is_link and states(view, item.value):
        signs.append("value")
    return tuple(signs)
