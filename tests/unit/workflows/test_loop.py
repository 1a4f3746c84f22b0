"""The next step of a loop that learns: more items, a version in the shadow, replay, or nothing of that."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.judging.phase import Phase
from shoal.agent.workflows.judging.promotion import VersionFigures
from shoal.agent.workflows.learning.compile_version import compile_version
from shoal.agent.workflows.learning.evidence import SessionEvidence
from shoal.agent.workflows.learning.loop import LoopLearning, action_difference, next_step
from tests.unit.workflows.books import evidence
from tests.unit.workflows.test_actions import form_run

NAMES = ("Ada", "Bob", "Cy", "Dot", "Eve", "Flo", "Gus", "Hal")
RUNS = [form_run(json.dumps({"name": name}), name=name, led=f"Q-{n}") for n, name in enumerate(NAMES)]
ITEMS = LoopLearning(Phase.ITEMS, RUNS[:3], ended=3, figures=VersionFigures())


def version() -> Version:
    made = next_step(ITEMS).version
    assert made is not None
    return made


def shadow(figures: VersionFigures, runs: list[SessionEvidence] | None = None) -> LoopLearning:
    return LoopLearning(Phase.SHADOW, runs or RUNS, ended=5, figures=figures, version=version())


def test_three_items_are_enough_for_a_version_that_is_compared_first() -> None:
    step = next_step(ITEMS)
    assert (step.phase, step.let_go, step.state) == (Phase.SHADOW, 5, "shadow")
    assert step.version is not None and len(step.version.nodes) == 3


def test_a_field_that_one_page_lacks_is_worth_more_items_until_too_many_ended() -> None:
    def run(n: int, sale: float | None) -> SessionEvidence:
        record: dict[str, Json] = {"price": f"{n}.50", "sale": sale}
        channels = {"price": evidence(n).pages[0].channels["price"]}
        if sale is not None:
            channels["sale"] = tuple(
                channel.model_copy(update={"place": place, "raw": f"{sale}"})
                for channel, place in zip(channels["price"], SALE_PLACES, strict=True)
            )
        (page,) = evidence(n).pages
        return evidence(n).model_copy(
            update={"pages": (page.model_copy(update={"record": record, "channels": channels}),)}
        )

    runs = [run(1, 1.25), run(2, None), run(3, 2.25)]
    step = next_step(replace(ITEMS, runs=runs))
    assert (step.phase, step.let_go, step.version) == (Phase.ITEMS, 2, None)
    assert step.why == "one page lacks sale, and two teach what a page without it looks like"
    step = next_step(replace(ITEMS, runs=runs, ended=9))
    assert step.phase is Phase.SHADOW and step.version is not None, step.why
    assert [decision.what for decision in step.version.open] == ["pages without field sale"]
    assert next_step(replace(ITEMS, runs=[run(n, n + 0.25) for n in (1, 2, 3)])).phase is Phase.SHADOW


SALE_PLACES = (FieldPlace(label="Sale"), FieldPlace(select="p.sale"))


def test_items_that_left_no_evidence_are_made_up_for_until_too_many_ended() -> None:
    step = next_step(replace(ITEMS, runs=RUNS[:1]))
    assert (step.phase, step.let_go, step.version) == (Phase.ITEMS, 2, None)
    assert "1 items are completed" in step.why
    step = next_step(replace(ITEMS, runs=RUNS[:1], ended=9))
    assert (step.phase, step.let_go) == (Phase.OFF, 0)
    assert step.why.startswith("nothing was learned from 9 items: 1 items are completed")


def test_what_stays_a_decision_of_the_model_ends_learning_and_is_told() -> None:
    colours = ("red", "green", "black")
    runs = [form_run("{}", name=name, colour=c) for name, c in zip(NAMES, colours, strict=False)]
    assert (next_step(replace(ITEMS, runs=runs)).phase, next_step(replace(ITEMS, runs=runs)).let_go) == ("items", 2)
    step = next_step(replace(ITEMS, runs=runs, ended=9))
    assert step.phase is Phase.OFF and "step 2 (select_option), options" in step.why


@pytest.mark.parametrize(
    ("figures", "phase", "state"),
    [
        (VersionFigures(items=5), Phase.REPLAY, "canary"),
        (VersionFigures(items=5, misses=2), Phase.REPLAY, "canary"),
        (VersionFigures(items=5, misses=3), Phase.ITEMS, "broken"),
        (VersionFigures(items=5, wrong=1), Phase.ITEMS, "broken"),
        (VersionFigures(items=3), Phase.SHADOW, None),
    ],
)
def test_a_version_replays_when_it_did_what_the_model_did(
    figures: VersionFigures, phase: Phase, state: str | None
) -> None:
    step = next_step(shadow(figures))
    assert (step.phase, step.state) == (phase, state), step.why
    assert step.let_go == (2 if phase is Phase.SHADOW else 0)


def test_the_version_of_an_earlier_job_stays_active_when_it_still_does_what_the_model_did() -> None:
    active = version().model_copy(update={"state": "active"})
    step = next_step(replace(shadow(VersionFigures(items=5)), version=active))
    assert (step.phase, step.state) == (Phase.REPLAY, None), step.why


def test_a_version_does_not_replay_when_the_model_did_something_else() -> None:
    """The form's fifth item was sent another way: nothing of that is replayed."""
    other = [
        run.model_copy(update={"actions": (run.actions[0], run.actions[2])}) for run in RUNS[3:]
    ]  # the colour was not chosen
    assert action_difference(version(), RUNS[3:]) == ""
    assert "step 2" in action_difference(version(), other)
    step = next_step(shadow(VersionFigures(items=5), [*RUNS[:3], *other]))
    assert (step.phase, step.state) == (Phase.ITEMS, "broken")
    mixed = [*RUNS[:7], other[4]]
    assert "the runs did different things" in next_step(shadow(VersionFigures(items=5), mixed)).why


def test_a_version_that_another_loop_gave_up_is_not_replayed_after_its_comparison() -> None:
    known = shadow(VersionFigures(items=5))
    gone = version().model_copy(update={"state": "broken"})
    step = next_step(replace(known, version=gone))
    assert (step.phase, step.state) == (Phase.ITEMS, "broken") and "another loop" in step.why


def test_learning_ends_when_too_many_versions_broke() -> None:
    step = next_step(replace(shadow(VersionFigures(items=5, wrong=1)), rounds=3))
    assert (step.phase, step.state) == (Phase.OFF, "broken")
    assert step.why.startswith("the loop has begun to learn 4 times")


@pytest.mark.parametrize(
    ("state", "figures", "phase", "to"),
    [
        ("canary", VersionFigures(items=19), Phase.REPLAY, None),
        ("canary", VersionFigures(items=20, misses=1), Phase.REPLAY, "active"),
        ("canary", VersionFigures(items=20, misses=15), Phase.ITEMS, None),
        ("active", VersionFigures(items=4, misses=2), Phase.REPLAY, None),
        ("active", VersionFigures(items=4, misses=3), Phase.ITEMS, None),
        ("active", VersionFigures(items=2, wrong=1), Phase.ITEMS, "broken"),
        ("active", VersionFigures(items=5, misses=3, wrong=1), Phase.ITEMS, "broken"),
        ("active", VersionFigures(items=20, misses=2), Phase.REPLAY, None),
        ("broken", VersionFigures(items=20), Phase.ITEMS, "broken"),
        ("broken", VersionFigures(items=3, wrong=1), Phase.ITEMS, "broken"),
        ("retired", VersionFigures(items=3, wrong=1), Phase.ITEMS, "broken"),
    ],
)
def test_a_version_that_replays_is_promoted_kept_or_given_up(
    state: str, figures: VersionFigures, phase: Phase, to: str | None
) -> None:
    replays = version().model_copy(update={"state": state})
    step = next_step(LoopLearning(Phase.REPLAY, RUNS, ended=20, figures=figures, version=replays))
    assert (step.phase, step.state) == (phase, to), step.why


def test_a_version_that_misses_is_repaired_or_goes_on_and_the_model_does_what_it_misses() -> None:
    old = version().model_copy(update={"state": "active"})
    known = LoopLearning(Phase.ITEMS, RUNS[:2], ended=0, figures=VersionFigures(), rounds=1, version=old)
    assert (next_step(known).phase, next_step(known).let_go) == (Phase.ITEMS, 1)
    step = next_step(replace(known, runs=RUNS[:3]))
    assert (step.phase, step.state) == (Phase.SHADOW, "shadow") and step.why == "repaired with 3 items"
    step = next_step(replace(known, ended=9))
    assert (step.phase, step.state) == (Phase.REPLAY, None)
    risen = LoopLearning(Phase.REPLAY, RUNS, ended=4, figures=VersionFigures(items=4, misses=3), rounds=3, version=old)
    assert next_step(risen).phase is Phase.REPLAY, "it was repaired too often"


def test_a_form_whose_elements_are_found_otherwise_is_repaired_and_one_that_means_something_else_is_not() -> None:
    old_runs = [form_run('{"name": "Ada"}', name="Ada", led="1"), form_run('{"name": "Bob"}', name="Bob", led="2")]
    compiled = compile_version(old_runs, None)
    assert compiled.version is not None and compiled.version.acts
    old = compiled.version.model_copy(update={"state": "active"})
    runs = [redesigned(form_run(f'{{"name": "Cy{n}"}}', name=f"Cy{n}", led=f"{n}")) for n in range(3)]
    step = next_step(LoopLearning(Phase.ITEMS, runs, ended=3, figures=VersionFigures(), rounds=1, version=old))
    assert (step.phase, step.state) == (Phase.SHADOW, "shadow"), step.why
    assert step.version is not None and step.version.by == "repair"
    assert step.version.nodes[0].target != old.nodes[0].target  # type: ignore[union-attr]

    renamed = [redesigned(run, name="Company") for run in runs]
    step = next_step(LoopLearning(Phase.ITEMS, renamed, ended=3, figures=VersionFigures(), rounds=1, version=old))
    assert step.phase is Phase.ITEMS and "it is done to another element" in step.why
    assert "a condition post is gone" in step.why


def redesigned(run: SessionEvidence, name: str = "") -> SessionEvidence:
    """The run on a page whose elements have other selectors, and whose field has another name where one is given."""
    made = []
    for action in run.actions:
        assert action.target is not None
        found_by = tuple(
            way.model_copy(update={"value": f"ul {way.value}-new"}) if way.family == "css" else way
            for way in action.target.locators
        )
        update: Json = {"locators": found_by}
        if name and action.action == "fill":
            update["name"] = name
        made.append(action.model_copy(update={"target": action.target.model_copy(update=update)}))
    return run.model_copy(update={"actions": tuple(made)})


def test_a_version_whose_batch_drifts_is_compared_again_in_the_state_that_it_has() -> None:
    active = version().model_copy(update={"state": "active"})
    replayed = LoopLearning(
        Phase.REPLAY, RUNS, ended=0, figures=VersionFigures(items=30), version=active, drift="no price"
    )
    step = next_step(replayed)
    assert (step.phase, step.state, step.version) == (Phase.SHADOW, None, None)
    assert step.why == "stopped for drift: no price"
    step = next_step(replace(replayed, rounds=3))
    assert step.phase is Phase.OFF and "has begun to learn 4 times" in step.why
    step = next_step(replace(replayed, figures=VersionFigures(items=30, wrong=1)))
    assert (step.phase, step.state) == (Phase.ITEMS, "broken"), "a wrong record breaks it"
    confirmed = LoopLearning(Phase.SHADOW, RUNS, ended=5, figures=VersionFigures(items=5), version=active)
    step = next_step(confirmed)
    assert (step.phase, step.state) == (Phase.REPLAY, None)
    step = next_step(replace(confirmed, figures=VersionFigures(items=5, wrong=1)))
    assert (step.phase, step.state) == (Phase.ITEMS, "broken")
