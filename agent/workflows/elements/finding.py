"""Finding an element by ways that agree: two independent ones, and no stronger one that points elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.agent.browser import Context, PageDocument
from shoal.agent.errors import ActionError
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.elements.describing import LOCATORS_JS, locator_parameters, origin_of
from shoal.agent.workflows.format.target import FAMILIES, Family, Locator, Target
from shoal.agent.workflows.verdict import Found

_WITNESS: Mapping[Family, str] = {
    "test_id": "test id",
    "role_name": "name",
    "label": "name",
    "text": "name",
    "placeholder": "placeholder",
    "attribute": "attribute",
    "css": "css",
    "xpath": "position",
    "structure": "position",
}
"""Families that break together are one witness: the name of a field is the text of its label."""


async def find(page: Context, target: Target, *, where: str, once: bool = False, posted: bool = False) -> Found:
    """The element of `target` on the open page, in its frame and shadow root.

    Args:
        where: the node, for the miss.
        once: the node may run once only, or sends: then nothing may point elsewhere, however weak.
        posted: a condition after the node tells whether it was the right element.

    Raises:
        BrowserError: the page could not be asked.
    """
    document = await document_of(page, target, where)
    if isinstance(document, Divergence):
        return Found("", miss=document)
    try:
        return await _find_in(document, target, where, once=once, posted=posted)
    except ActionError as error:
        if not target.frame:
            raise
        return Found("", miss=Divergence(DivergenceReason.ONE_WITNESS, where, f"the frame went away: {error}"))


async def document_of(page: Context, target: Target, where: str) -> PageDocument | Divergence:
    """The document in which the element of `target` is looked for.

    What a workflow types is for the site whose frame it learned from: another site's frame is a miss.

    Raises:
        BrowserError: the page could not be asked.
    """
    if not target.frame:
        return page
    frame = " > ".join(target.frame)
    document = await page.frame_document(target.frame)
    if document is None:
        return Divergence(DivergenceReason.ONE_WITNESS, where, f"no frame, or several, is found by {frame}")
    try:
        origin, expected = await origin_of(document), target.origin or await origin_of(page)
    except ActionError as error:
        return Divergence(DivergenceReason.ONE_WITNESS, where, f"the frame went away: {error}")
    if origin != expected:
        return Divergence(DivergenceReason.CONTRADICTION, where, f"the frame {frame} shows {origin}, not {expected}")
    return document


async def _find_in(document: PageDocument, target: Target, where: str, *, once: bool, posted: bool) -> Found:
    hosts = list(target.shadow)
    answer = await document.read(LOCATORS_JS, {"find": locator_parameters(target), "hosts": hosts})
    paths = readable_json(answer) if isinstance(answer, str) else answer
    if not isinstance(paths, list) or len(paths) != len(target.locators):
        why = "its shadow root is not there" if hosts else "the page, which may be no document, shows no element"
        return Found("", miss=Divergence(DivergenceReason.ONE_WITNESS, where, why))
    chosen = vote(target, paths, where=where, once=once, posted=posted)
    if isinstance(chosen, Divergence):
        return Found("", miss=chosen)
    path, families = chosen
    [bid] = await document.locate([path], hosts)
    if bid is None:
        return Found("", miss=Divergence(DivergenceReason.ONE_WITNESS, where, f"{path} is gone"))
    return Found(bid, families)


def vote(
    target: Target, paths_by_locator: Sequence[Sequence[Json]], *, where: str, once: bool = False, posted: bool = False
) -> tuple[str, tuple[Family, ...]] | Divergence:
    """The one element that the locators agree on, as a CSS path, with the families that do."""
    votes: dict[str, list[Locator]] = {}
    for locator, paths in zip(target.locators, paths_by_locator, strict=True):
        if len(paths) == 1:
            votes.setdefault(str(paths[0]), []).append(locator)
    if not votes:
        return Divergence(DivergenceReason.ONE_WITNESS, where, "no locator finds exactly one visible element")
    best = max(votes, key=lambda path: (len(_witnesses(votes[path])), -_rank(votes[path])))
    agreed = votes[best]
    for path, others in votes.items():
        if path != best and (
            once or _rank(others) < _rank(agreed) or len(_witnesses(others)) >= len(_witnesses(agreed))
        ):
            reason = f"{others[0].family} {others[0].value!r} points to another element than {agreed[0].family}"
            return Divergence(DivergenceReason.CONTRADICTION, where, reason)
    if not is_enough(agreed, once=once, posted=posted):
        reason = f"only {' and '.join(sorted(way.family for way in agreed))} finds it"
        return Divergence(DivergenceReason.ONE_WITNESS, where, reason)
    return best, tuple(dict.fromkeys(way.family for way in agreed))


def _witnesses(locators: Sequence[Locator]) -> frozenset[str]:
    return frozenset(_WITNESS[locator.family] for locator in locators)


def _rank(locators: Sequence[Locator]) -> int:
    return min(FAMILIES.index(locator.family) for locator in locators)


def is_enough(agreed: Sequence[Locator], *, once: bool, posted: bool) -> bool:
    """Return whether locators that agree may decide: two independent ones, or one that needs no second."""
    witnesses = _witnesses(agreed)
    if once and witnesses <= {"position"}:
        return False
    if len(witnesses) >= 2:
        return True
    alone = {locator.family: locator for locator in agreed}
    if "test_id" in alone:
        return True
    return "role_name" in alone and alone["role_name"].unique_on >= 2 and posted
