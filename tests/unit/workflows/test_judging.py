"""Audits and their bound, promotion and rollback, and repairs."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import pytest

from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import Branch, Channel, FieldNode, Signature
from shoal.agent.workflows.format.node import ExtractNode
from shoal.agent.workflows.format.version import State, Version
from shoal.agent.workflows.judging.audit import (
    AuditOutcome,
    differences,
    judge_audits,
)
from shoal.agent.workflows.judging.promotion import VersionFigures, next_state
from shoal.agent.workflows.judging.repair import weakened, with_branch
from shoal.agent.workflows.judging.sampling import AuditPlan, audit_bound, bound_of, is_audited, uniform_share

# --- audits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("at_most", "audits"), [(0.05, 59), (0.02, 149), (0.01, 299)])
def test_so_many_good_audits_bound_the_share_of_wrong_records(at_most: float, audits: int) -> None:
    assert audit_bound(audits, 0).at_most <= at_most < audit_bound(audits - 1, 0).at_most


def test_the_bound_is_a_sentence_that_is_true() -> None:
    assert str(audit_bound(300, 0)) == "0 of 300 audited records wrong: at most 1 % wrong at 95%"
    assert str(audit_bound(59, 0)) == "0 of 59 audited records wrong: at most 5 % wrong at 95%"
    assert str(audit_bound(0, 0)) == "no record was audited: nothing is known of how many are wrong"
    assert audit_bound(3, 3).at_most == 1.0
    assert str(audit_bound(59, 0, 1)) == "0 of 59 audited records wrong, 1 unclear: at most 7.8 % wrong at 95%"
    assert audit_bound(59, 0, 1).at_most == audit_bound(59, 1).at_most, "what proves nothing may be wrong"
    assert bound_of({"audits": 300, "audits_right": 300, "replays": 900}) == audit_bound(300, 0)
    assert bound_of({"audits": 59, "audits_right": 57, "audits_wrong": 1, "audits_unclear": 1}) == audit_bound(59, 1, 1)
    with pytest.raises(ValueError, match="4 wrong and 0 unclear of 3"):
        audit_bound(3, 4)


@pytest.mark.parametrize(("audited", "wrong", "at_most"), [(100, 1, 0.0466), (100, 5, 0.1023), (20, 2, 0.2826)])
def test_the_bound_is_the_exact_one(audited: int, wrong: int, at_most: float) -> None:
    assert audit_bound(audited, wrong).at_most == pytest.approx(at_most, abs=0.0003)


def test_the_audited_share_is_uniform_and_the_same_again() -> None:
    drawn = [index for index in range(20_000) if is_audited(7, index, 0.05)]
    assert 900 < len(drawn) < 1_100
    assert drawn == [index for index in range(20_000) if is_audited(7, index, 0.05)]
    assert sum(index < 10_000 for index in drawn) == pytest.approx(len(drawn) / 2, rel=0.15)
    assert set(drawn) != {index for index in range(20_000) if is_audited(8, index, 0.05)}


def test_the_uniform_share_falls_in_long_loops_and_audits_stay_a_hundred() -> None:
    assert uniform_share(30) == 0.2 and uniform_share(1_000) == 0.006
    assert uniform_share(5_000) == uniform_share(20_000) == 0.005
    assert uniform_share(30_000) * 30_000 == 100
    assert uniform_share(1_000_000) == 0.0025


def test_the_audited_share_halves_with_five_audits_that_agree_and_ends_at_the_uniform_one() -> None:
    def shares(weak: bool, *agreed: int) -> list[float]:
        return [AuditPlan(5_000, n, weak, doubted=True).share(4_000) for n in agreed]

    assert shares(False, 0, 5, 10, 15) == [0.02, 0.01, 0.005, 0.005]
    assert shares(True, 0, 5, 20, 25) == [0.1, 0.05, 0.00625, 0.005]
    assert AuditPlan(50).share(0) == uniform_share(50) == 0.12


def test_ten_audits_that_are_under_way_count_as_if_they_had_agreed_until_one_does_not() -> None:
    none, some = AuditPlan(5_000, weak=True), AuditPlan(5_000, 10, weak=True)
    assert none.share(0) == 0.1 and none.share(72) == pytest.approx(0.05, rel=0.01)
    assert none.share(400) == none.share(4_000) == 0.025, "none of them was heard of"
    assert some.share(0) == 0.025 and some.share(216) == pytest.approx(0.025, rel=0.01)
    assert some.share(4_000) == pytest.approx(0.1 / 2**4)
    assert AuditPlan(5_000, weak=True, doubted=True).share(4_000) == 0.1
    drawn = sum(AuditPlan(1_500, n // 60, weak=True).audits(7, n) for n in range(1_500))
    assert 15 < drawn < 35


@pytest.mark.parametrize("weak", [True, False])
@pytest.mark.parametrize("changed", [0, 300, 1_500, 4_000])
def test_a_change_is_audited_before_a_version_has_replayed_half_as_many_items_again_or_600(
    changed: int, weak: bool
) -> None:
    """With a probability of 95 %, where all records are wrong from the change on."""
    draw = random.Random(5)
    allowed = min(600.0, 0.52 * (changed + (72 if weak else 360))) + 1
    within = sum(_first_audit(changed, weak, draw) - changed <= allowed for _ in range(1_000))
    assert within >= 935, "no more than two deviations below 95 %"
    on_credit = math.prod(1 - _on_credit(item, weak) for item in range(changed, changed + round(allowed)))
    assert on_credit <= 0.051


def _on_credit(item: int, weak: bool) -> float:
    """The share at one item, where as many have agreed as are expected to be drawn before it."""
    drawn = 5 * math.log2(1 + item * (0.1 if weak else 0.02) * math.log(2) / 5)
    return AuditPlan(5_000, round(drawn), weak).share(item)


def _first_audit(changed: int, weak: bool, draw: random.Random) -> int:
    """The first audited item behind a change, where each audit before it has agreed at once."""
    agreed = item = 0
    while True:
        share = AuditPlan(5_000, agreed, weak, doubted=True).share(item)
        item += math.ceil(math.log(1 - draw.random()) / math.log1p(-share))
        if item > changed:
            return item
        agreed += 1


def test_one_audit_that_differs_proves_nothing() -> None:
    replayed = {"price": 12.5, "name": "A lamp"}
    assert judge_audits(replayed, []).outcome is AuditOutcome.ASK_AGAIN
    assert judge_audits(replayed, [{"price": 12.5, "name": "a  Lamp"}]).outcome is AuditOutcome.RIGHT
    exact = judge_audits(replayed, [{"price": 12.5, "name": "a  Lamp"}], exact=True)
    assert (exact.outcome, exact.fields) == (AuditOutcome.ASK_AGAIN, ("name",))
    assert judge_audits(replayed, [replayed], exact=True).outcome is AuditOutcome.RIGHT
    once = judge_audits(replayed, [{"price": 13.0, "name": "A lamp"}])
    assert (once.outcome, once.fields) == (AuditOutcome.ASK_AGAIN, ("price",))
    twice = judge_audits(replayed, [{"price": 13.0, "name": "A lamp"}, {"price": 13, "name": "A lamp"}])
    assert (twice.outcome, twice.fields) == (AuditOutcome.WRONG, ("price",))
    apart = [{"price": float(price), "name": "A lamp"} for price in (13, 14, 15)]
    assert judge_audits(replayed, apart).outcome is AuditOutcome.UNCLEAR
    assert differences({"a": 1}, {"a": 1.0, "b": None}) == ()


def test_an_auditor_that_errs_does_not_overthrow_what_is_right() -> None:
    draw = random.Random(5)

    def audited(truth: Mapping[str, Json]) -> Mapping[str, Json]:
        return {**truth, "price": draw.randint(1, 10_000)} if draw.random() < 0.05 else truth

    outcomes = []
    for index in range(1_000):
        truth = {"name": f"item {index}", "price": index + 0.5}
        audits: list[Mapping[str, Json]] = []
        while (verdict := judge_audits(truth, audits)).outcome is AuditOutcome.ASK_AGAIN:
            audits.append(audited(truth))
        outcomes.append(verdict.outcome)
    assert AuditOutcome.WRONG not in outcomes
    assert outcomes.count(AuditOutcome.RIGHT) >= 998


# --- promotion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "figures", "to", "back"),
    [
        ("shadow", VersionFigures(items=4), None, False),
        ("shadow", VersionFigures(items=5), "canary", False),
        ("shadow", VersionFigures(items=5, wrong=1), "broken", False),
        ("shadow", VersionFigures(items=5, misses=4), "broken", False),
        ("canary", VersionFigures(items=19), None, False),
        ("canary", VersionFigures(items=20, misses=3), "active", False),
        ("canary", VersionFigures(items=3, wrong=1), "broken", True),
        ("canary", VersionFigures(items=20, misses=15), "broken", True),
        ("active", VersionFigures(items=19, misses=19), None, False),
        ("active", VersionFigures(items=20, misses=9, usual_misses=0.2), None, False),
        ("active", VersionFigures(items=20, misses=12, usual_misses=0.2), "broken", True),
        ("active", VersionFigures(items=1, wrong=1), "broken", True),
        ("draft", VersionFigures(items=100), None, False),
        ("retired", VersionFigures(items=100, wrong=4), None, False),
    ],
)
def test_a_version_moves_on_by_its_figures(state: State, figures: VersionFigures, to: State | None, back: bool) -> None:
    moved = next_state(state, figures)
    assert (moved.to, moved.back_to_parent) == (to, back)
    assert bool(moved.why) == (to is not None)


# --- repairs ------------------------------------------------------------------------------------------


def _version(**signature: Json) -> Version:
    field = FieldNode(
        name="price",
        channels=(
            Channel(family="css", place=FieldPlace(select="p.price"), shapes=("€9.99",)),
            Channel(family="label", place=FieldPlace(label="Price")),
        ),
    )
    shown = Signature(url="http://a/{}", required=("main",), item=("link",), currency=("EUR",)).model_copy(
        update=signature
    )
    return Version(nodes=(ExtractNode(id="read"),), branches=(Branch(id="page", signature=shown, fields=(field,)),))


def test_a_repair_adds_a_branch_and_overwrites_none() -> None:
    old = _version()
    new = with_branch(old, old.branches[0], at="2026-11-24T10:00:00Z")
    assert [branch.id for branch in new.branches] == ["page", "page-2"]
    assert (new.number, new.parent, new.state, new.by) == (2, 1, "draft", "repair")
    assert weakened(old, new) == ()


@pytest.mark.parametrize(
    "signature",
    [
        {"required": ()},
        {"item": ()},
        {"status": (200, 404)},
        {"url": ""},
        {"currency": ("EUR", "USD")},
    ],
)
def test_a_repair_that_weakens_a_guard_is_refused(signature: Json) -> None:
    assert weakened(_version(), _version()) == ()
    assert weakened(_version(), _version(**signature))


def test_a_repair_that_weakens_a_field_is_refused() -> None:
    old = _version()
    [branch] = old.branches
    for change in (
        {"weakest": 1},
        {"proof": False},
        {"channels": tuple(c.model_copy(update={"shapes": ()}) for c in branch.fields[0].channels)},
    ):
        field = branch.fields[0].model_copy(update=change)
        new = old.model_copy(update={"branches": (branch.model_copy(update={"fields": (field,)}),)})
        assert weakened(old, new), change
    assert weakened(old, old.model_copy(update={"branches": ()})) == ("branch page is gone",)
