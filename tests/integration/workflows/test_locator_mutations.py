"""Every locator of a form's elements, corrupted in turn: the element itself or a miss, and never another element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, permutations
from typing import Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.support.printable import readable_json
from shoal.agent.workflows.divergences import Divergence
from shoal.agent.workflows.elements.describing import LOCATORS_JS, describe_all, locator_parameters
from shoal.agent.workflows.elements.finding import find, vote
from shoal.agent.workflows.format.target import FAMILIES, Family, Locator, Target

pytestmark = pytest.mark.asyncio(loop_scope="session")


def of_two_runs(target: Target) -> Target:
    """The target as two runs teach it: a role with a name that was unique in both may decide alone."""
    locators = tuple(locator.model_copy(update={"unique_on": 2}) for locator in target.locators)
    return target.model_copy(update={"locators": locators})


def corrupted(target: Target, others: Sequence[Target]) -> Iterator[Target]:
    """The target with one thing wrong, for each of its locators and each thing that can be wrong with it."""
    for index, locator in enumerate(target.locators):
        for changed in _changes(locator, others):
            locators = tuple(changed if at == index else one for at, one in enumerate(target.locators))
            yield target.model_copy(update={"locators": locators})
        rest = tuple(one for at, one in enumerate(target.locators) if at != index)
        yield target.model_copy(update={"locators": rest})


def _changes(locator: Locator, others: Sequence[Target]) -> Iterator[Locator]:
    """Another element's locator, the value in another family, a value that nothing or too much has, another role."""
    yield from _of_others(locator, others)
    for family in FAMILIES:
        if family != locator.family:
            yield locator.model_copy(update={"family": family})
    for value in ("nothing that is there", "*", "//*", "input", "button"):
        yield locator.model_copy(update={"value": value})
    if locator.role:
        yield from (locator.model_copy(update={"role": role}) for role in ("button", "textbox", "link", "nothing"))


def _of_others(locator: Locator, others: Sequence[Target]) -> Iterator[Locator]:
    """The locators of the same family that other elements have."""
    for other in others:
        yield from (theirs for theirs in other.locators if theirs.family == locator.family and theirs != locator)


def misled(target: Target, others: Sequence[Target]) -> Iterator[Target]:
    """The target with two locators only, one of which is another element's."""
    for locator, kept in permutations(target.locators, 2):
        for theirs in _of_others(locator, others):
            yield target.model_copy(update={"locators": (theirs, kept)})


async def found_by(page: Context, targets: Iterable[Target]) -> dict[Locator, list[Any]]:
    """Return which elements each of their locators finds: a page that stands still is asked once."""
    locators = tuple({locator for target in targets for locator in target.locators})
    asked = {"find": locator_parameters(Target(locators=locators)), "hosts": []}
    return dict(zip(locators, readable_json(await page.read(LOCATORS_JS, asked)), strict=True))


@pytest.mark.parametrize("form", ["form", "form?redesign_after=0"])
async def test_a_corrupted_locator_finds_the_element_itself_or_nothing(page: Context, site: str, form: str) -> None:
    await page.goto(f"{site}/drift/913/{form}")
    targets = [described.target for described in await describe_all(page, 50)]
    targets = [of_two_runs(target) for target in targets if target.role in ("textbox", "combobox", "button")]
    assert len(targets) == 4
    whole = [await find(page, target, where="n", once=True, posted=True) for target in targets]
    assert len({found.bid for found in whole}) == 4 and all(found.bid for found in whole), whole
    others = [[other for other in targets if other is not target] for target in targets]
    made = [[*corrupted(one, rest), *misled(one, rest)] for one, rest in zip(targets, others, strict=True)]
    paths = await found_by(page, [*targets, *chain.from_iterable(made)])

    def voted(target: Target, once: bool, posted: bool) -> tuple[str, tuple[Family, ...]] | Divergence:
        return vote(target, [paths[one] for one in target.locators], where="n", once=once, posted=posted)

    found_again = missed = 0
    wrong: list[tuple[Target, str]] = []
    for target, changed in zip(targets, made, strict=True):
        itself = voted(target, True, True)
        assert not isinstance(itself, Divergence)
        for one in changed:
            for once, posted in ((True, True), (False, False), (False, True)):
                found = voted(one, once, posted)
                if isinstance(found, Divergence):
                    missed += 1
                elif found[0] == itself[0]:
                    found_again += 1
                else:
                    wrong.append((one, found[0]))
    assert wrong == []
    assert found_again > 100 and missed > 50, (found_again, missed)
