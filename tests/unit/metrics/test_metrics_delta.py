"""Counts that travel: from a worker to the dispatcher, with its snapshot to the store, into the exposition."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args
from unittest.mock import AsyncMock

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from shoal.agent.errors import NavigationTimeout, RecordInvalid
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, Outcome, Record, Step, Task, Usage
from shoal.agent.workflows.judging.phase import Phase
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.dispatch.status.dispatch_metrics import DispatchMetrics, failure_of
from shoal.services.metrics import CATALOGUE
from shoal.services.metrics_delta import MetricsDelta
from shoal.services.store.learning.records import Repair, RepairOutcome
from shoal.services.store.store import open_store
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.cluster_state.overview import Overview, Snapshot
from shoal.services.web.cluster_state.scrape import Snapshots, Values, read_values


def test_what_does_not_fit_the_catalogue_is_refused() -> None:
    metrics_delta = MetricsDelta()
    with pytest.raises(KeyError):
        metrics_delta.add("shoal_invented")
    with pytest.raises(ValueError, match="does not fit"):
        metrics_delta.add("shoal_tokens")
    with pytest.raises(ValueError, match="does not fit"):
        metrics_delta.observe("shoal_pages", seconds=1)


def test_only_what_is_new_is_absorbed() -> None:
    worker, dispatcher = MetricsDelta(), MetricsDelta()
    worker.observe("shoal_model_seconds", "ok", seconds=0.7)
    first = json.loads(json.dumps(worker.figures()))
    dispatcher.absorb(first)
    worker.observe("shoal_model_seconds", "ok", seconds=100.0)
    worker.add("shoal_pages", n=3)
    dispatcher.absorb(worker.figures(), first)
    assert dispatcher.counts[("shoal_pages",)] == 3
    span = dispatcher.spans["shoal_model_seconds", "ok"]
    assert sum(span[:-1]) == 2
    assert span[-1] == pytest.approx(100.7)


def _outcome() -> Outcome:
    results = (ActionResult(Action("click", {"bid": "a1"}), seconds=0.2),)
    step = Step(0, "https://x.example", "", results, seconds=0.3)
    return Outcome(
        Status.COMPLETED,
        records=(Record({"a": 1}), Record({"a": 2})),
        seconds=2.0,
        tasks=(Task("navigate", "go", Status.COMPLETED, steps=(step,)),),
        usage=Usage(model_calls=2, prompt_tokens=100, completion_tokens=10, cached_tokens=80, pages=3),
    )


LOOPS = (
    {"ended": 8, "model": 8},  # it has not replayed yet
    {"ended": 400, "replays": 390, "provisional": 4, "audits": 300, "audits_right": 300},
    {"ended": 70, "replays": 60, "provisional": 60},
)
"""Outcomes of items in loops that run."""


def _scraped(counting: DispatchMetrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    data = json.loads(json.dumps({"figures": counting.delta.figures(), "queue_age_s": 4.0}))
    said = Snapshot(data, 0.5)
    seen = Overview(sessions={Status.QUEUED: 2}, dispatchers={"main": said})
    tenants = {(f"t{n:02}", Status.QUEUED): n + 1 for n in range(25)}
    return _samples(Values(seen, [said], tenants, {WaitingCause.SLOT: 2}, {"dead": 1}, LOOPS))


def _samples(values: Values | None) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    text = generate_latest(Snapshots(values)).decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for found in text_string_to_metric_families(text)
        for sample in found.samples
    }


def test_an_outcome_is_counted_once_and_shown_by_the_gateway() -> None:
    counting = DispatchMetrics()
    counting.ended(_outcome())
    counting.ended(Outcome(Status.FAILED, error=NavigationTimeout("slow").info(), seconds=30.0))
    worker = MetricsDelta()
    worker.observe("shoal_model_seconds", "ok", seconds=0.7)
    stats = WorkerStats("w1", 4, 1, 0, 1, 0, {}, figures=worker.figures())
    counting.workers([stats])
    counting.workers([stats])
    seen = _scraped(counting)
    assert seen["shoal_attempts_total", (("failure", "none"), ("status", "completed"))] == 1
    assert seen["shoal_attempts_total", (("failure", "site"), ("status", "failed"))] == 1
    assert seen["shoal_records_total", ()] == 2
    assert seen["shoal_tokens_total", (("kind", "cached"),)] == 80
    assert seen["shoal_slot_seconds_total", ()] == 32
    assert seen["shoal_session_seconds_count", ()] == 2
    assert seen["shoal_session_seconds_bucket", (("le", "2.5"),)] == 1
    assert seen["shoal_actions_total", (("action", "click"), ("outcome", "ok"))] == 1
    assert seen["shoal_model_seconds_count", (("outcome", "ok"),)] == 1
    assert seen["shoal_leases_expired_total", ()] == 0
    assert seen["shoal_queue_age_seconds", ()] == 4
    assert seen["shoal_webhooks", (("state", "dead"),)] == 1
    assert seen["shoal_webhooks", (("state", "waiting"),)] == 0


def test_what_audits_have_not_confirmed_and_what_they_prove_is_told_of_all_loops() -> None:
    seen = _scraped(DispatchMetrics())
    assert seen["shoal_provisional_records", ()] == 64
    assert seen["shoal_audit_bound", (("of", "all"),)] == pytest.approx(0.00994, abs=1e-5)
    assert seen["shoal_audit_bound", (("of", "largest"),)] == 1.0, "of one loop nothing is known"
    idle = _samples(Values(Overview({}, {}), [], {}, {}, {}, ()))
    assert idle["shoal_audit_bound", (("of", "all"),)] == idle["shoal_provisional_records", ()] == 0


def test_a_repair_is_counted_with_its_calls_and_time_once_it_is_over() -> None:
    counting = DispatchMetrics()
    before = _scraped(counting)
    for outcome in get_args(RepairOutcome):
        assert before["shoal_repairs_total", (("outcome", outcome),)] == 0
    assert before["shoal_repair_calls_total", ()] == 0
    for over in ("proved", "given_up"):
        assert before["shoal_repair_seconds_count", (("outcome", over),)] == 0
    counting.learned(Phase.ITEMS, Repair("begun"))
    counting.learned(Phase.SHADOW, Repair("compiled"))
    counting.learned(Phase.REPLAY, Repair("proved", calls=11, seconds=42.0))
    counting.learned(Phase.REPLAY, None)
    seen = _scraped(counting)
    assert [seen["shoal_repairs_total", (("outcome", outcome),)] for outcome in get_args(RepairOutcome)] == [1, 1, 1, 0]
    assert seen["shoal_repair_calls_total", ()] == 11
    assert seen["shoal_repair_seconds_sum", (("outcome", "proved"),)] == 42
    assert seen["shoal_repair_seconds_count", (("outcome", "proved"),)] == 1
    assert seen["shoal_learning_decisions_total", (("phase", "replay"),)] == 2


def test_steps_of_earlier_attempts_are_not_counted_again() -> None:
    """A session that comes back from its loop, or is tried again, knows what it did before."""
    first, counting = _outcome(), DispatchMetrics()
    counting.ended(first)
    once = _scraped(counting)
    step = first.tasks[0].steps[0]
    later = Task("navigate", "go on", Status.COMPLETED, steps=(replace(step, index=1),))
    n = sum(len(task.steps) for task in first.tasks)
    counting.ended(replace(first, tasks=(*first.tasks, later), steps_before=n))
    twice = _scraped(counting)
    name = "shoal_step_seconds_count", ()
    assert (once[name], twice[name]) == (n, n + 1)


@pytest.mark.parametrize("age_s", [0.5, 11.0, 5 * 3600.0])
async def test_no_count_falls_while_a_dispatcher_is_silent(age_s: float) -> None:
    """A sum that falls is a reset to Prometheus, and what comes back then counts as new."""
    counting = DispatchMetrics()
    counting.ended(_outcome())
    figures = {"figures": counting.delta.figures(), "ended": 7, "failed": 2, "slots": 4}
    store = await open_store("sqlite://")
    await store.put_state("dispatcher/main", figures)
    data = (await store.states("dispatcher/"))["dispatcher/main"][0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "states", AsyncMock(return_value={"dispatcher/main": (data, age_s)}))
        seen = _samples(await read_values(store))
    await store.close()
    assert (seen["shoal_sessions_ended_total", ()], seen["shoal_sessions_ended_failed_total", ()]) == (7, 2)
    assert seen["shoal_records_total", ()] == 2
    assert seen["shoal_session_seconds_count", ()] == 1
    assert seen["shoal_slots", ()] == (4 if age_s < 10 else 0), "what is there is another matter"


async def test_a_scrape_counts_the_sessions_once() -> None:
    """Counting walks all open sessions; and two counts of one scrape would not agree."""
    store = await open_store("sqlite://")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("counts_by_status", "states"):
            patch.setattr(store, name, AsyncMock(wraps=getattr(store, name)))
        await read_values(store)
        asked = {name: getattr(store, name).await_count for name in ("counts_by_status", "states")}
    await store.close()
    assert asked == {"counts_by_status": 1, "states": 1}


def test_tenants_beyond_the_largest_are_one() -> None:
    tenants = {
        labels: n for (name, labels), n in _scraped(DispatchMetrics()).items() if name == "shoal_tenant_sessions"
    }
    assert len(tenants) == 21 * len(Status)
    assert tenants[("status", "queued"), ("tenant", "(others)")] == 1 + 2 + 3 + 4 + 5


def test_failures_have_few_classes() -> None:
    assert failure_of(None) == "none"
    assert failure_of(RecordInvalid("no").info()) == "data"


def test_the_catalogue_is_in_order() -> None:
    names = [line.name for line in CATALOGUE]
    assert len(names) == len(set(names))
    for line in CATALOGUE:
        assert line.name.startswith("shoal_") and not line.name.endswith("_total")
        assert line.meaning.endswith(".")
        assert bool(line.buckets) is (line.type == "histogram")
        assert not {"id", "job", "session", "url", "host", "user"} & set(line.labels)
