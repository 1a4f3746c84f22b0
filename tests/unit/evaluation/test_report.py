"""Figures: intervals that are the known ones, agreement, comparison, and a report that shows them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.services.evaluation.episode import EpisodeResult
from shoal.services.evaluation.report import as_text, report
from shoal.services.evaluation.statistics import agreement, change, rate


def result(name: str, success: bool = True, **more: object) -> EpisodeResult:
    one = EpisodeResult(name, name.partition(":")[0], success, "" if success else "no", steps=3, seconds=2.0)
    failure = "" if success else "wrong"
    return replace(one, **{"failure": failure, "prompt_tokens": 100, "completion_tokens": 20, **more})  # type: ignore[arg-type]


def test_the_interval_is_wilsons() -> None:
    found = rate(8, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.4902, 0.9433)  # the textbook's figures
    assert str(found) == "80.0% [49.0%–94.3%]"
    nothing = rate(0, 0)
    assert (nothing.low, nothing.high) == (0.0, 1.0)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_rate_lies_in_its_interval(counts: tuple[int, int]) -> None:
    found = rate(*counts)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0


def test_agreement_with_labels() -> None:
    labels = ["yes"] * 25 + ["yes"] * 10 + ["no"] * 15 + ["no"] * 50
    said = ["yes"] * 25 + ["no"] * 10 + ["yes"] * 15 + ["unsure"] * 50
    found = agreement(said, labels)
    assert found.accuracy == pytest.approx(0.75)
    # by hand: observed 0.75, by chance 0.4 * 0.35 + 0.6 * 0.65
    assert found.kappa == pytest.approx((0.75 - 0.53) / (1 - 0.53))
    assert (found.cases, found.unsure) == (100, 50)
    assert agreement(["yes"], ["yes"]).kappa is None
    assert agreement([], []).accuracy is None


def test_groups_are_compared_over_what_both_have_too() -> None:
    """The run before had an episode more, which failed: beside it this run would look better than it is."""
    told = report([result("shop:1")], [result("shop:1"), result("shop:2", False)], about={})
    assert told["all"]["before"]["success"]["episodes"] == 1
    assert told["groups"]["shop"]["before"]["success"]["episodes"] == 1


def test_two_runs_are_compared_over_what_both_have() -> None:
    before = {"a": True, "b": False, "c": False, "gone": True}
    found = change(before, {"a": False, "b": True, "c": True, "new": True})
    assert (found.both, found.better, found.worse) == (3, ("b", "c"), ("a",))
    assert found.p == 1.0
    assert change({str(n): False for n in range(10)}, {str(n): True for n in range(10)}).p == pytest.approx(2 / 1024)


def test_the_report_says_all_of_it() -> None:
    now = [result("a:0"), result("a:1", False), result("b:0", failure="", verdict="yes", label="no")]
    before = [result("a:0", False), result("a:1", False), result("c:0")]
    told = report(now, before, about={"suite": "mine", "policy": "rules", "model": ""})
    json.dumps(told)
    assert told["all"]["success"]["successes"] == 2
    assert told["all"]["before"]["success"]["episodes"] == 2, "only episodes that both runs have"
    assert told["all"]["tokens"]["sum"] == 360
    assert told["failures"] == {"wrong": 1}
    assert told["change"]["better"] == ("a:0",)
    assert told["judge"]["labels"]["accuracy"] == 0.0
    text = as_text(told)
    for words in (
        "# mine",
        "policy: rules",
        "| all | 3 | 66.7% [",
        "| a | 2 |",
        "wrong | 1 |",
        "1 got better",
        "kappa",
    ):
        assert words in text, words


def test_two_models_stand_side_by_side() -> None:
    """Each figure of the run before has its own, and the report says whose they are."""
    now = [result("a:0"), result("a:1", model_calls=4)]
    before = [result("a:0", False, failure="step_limit", steps=9, model_calls=7, seconds=60.0), result("a:1")]
    told = report(
        now, before, about={"suite": "x", "model": "qwen"}, about_earlier={"model": "llama", "policy": "auto"}
    )
    assert told["before"] == {"about": {"model": "llama", "policy": "auto"}, "failures": {"step_limit": 1}}
    text = as_text(told)
    for words in (
        "| calls | 2.00 | 3.50 |",
        "| steps | 3.00 | 6.00 |",
        "| seconds | 2.00 | 31.00 |",
        "| failure: step_limit | 0 | 1 |",
        "| per episode | this run: qwen | before: llama |",
    ):
        assert words in text, text


def test_a_report_of_nothing_is_one() -> None:
    assert "| all | 0 |" in as_text(report([], about={"suite": "x"}))
