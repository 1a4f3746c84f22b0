"""One trace over all parts of a job, though none tells another anything."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from shoal.agent.models.model import Ask, Reply
from shoal.agent.types import Usage
from shoal.services import tracing
from shoal.services.browsers.session_parts.measured_model import MeasuredModel
from shoal.services.metrics_delta import MetricsDelta


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    found = InMemorySpanExporter()
    tracing.start(tracing.TraceOptions("http://127.0.0.1:9/v1/traces"), "test", exporter=found)
    yield found
    tracing.stop()


class _Model:
    async def ask(self, ask: Ask) -> Reply:
        return Reply("{}", Usage())

    async def close(self) -> None:
        """Nothing to close."""


def _spans(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    tracing._provider.force_flush()
    return {span.name: span for span in exporter.get_finished_spans()}


async def test_gateway_dispatcher_worker_and_model_call_are_one_trace(exporter: InMemorySpanExporter) -> None:
    began = time.time()
    tracing.record("submit", tracing.job_place(7), below=None, began=began, tenant="acme")
    with tracing.span("run session", lease=(7, 70, 2), session=70):
        await MeasuredModel(_Model(), MetricsDelta()).ask(Ask([]))
    tracing.record_lease(7, 70, 2, began, worker="w1")
    seen = _spans(exporter)
    assert len({span.context.trace_id for span in seen.values()}) == 1
    above = {name: span.parent.span_id if span.parent else None for name, span in seen.items()}
    ids = {name: span.context.span_id for name, span in seen.items()}
    assert len(set(ids.values())) == 4
    assert above == {
        "submit": None,
        "lease": ids["submit"],
        "run session": ids["lease"],
        "model call": ids["run session"],
    }
    assert seen["submit"].attributes == {"tenant": "acme"}
    assert seen["lease"].start_time == round(began * 1e9)


def test_jobs_and_leases_have_traces_and_spans_of_their_own() -> None:
    assert tracing.job_place(1).trace != tracing.job_place(2).trace
    assert tracing.lease_place(1, 5, 1) != tracing.lease_place(1, 5, 2)
    assert tracing.lease_place(1, 5, 1).trace == tracing.job_place(1).trace


def test_without_a_collector_nothing_is_loaded_and_nothing_happens() -> None:
    tracing.start(None, "test")
    with tracing.span("run session"):
        tracing.record("submit", tracing.job_place(1), below=None, began=0.0)
    assert tracing._tracer is None


def test_a_share_of_the_jobs_is_traced_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    found = InMemorySpanExporter()
    tracing.start(tracing.TraceOptions("http://127.0.0.1:9/v1/traces", share=0.5), "test", exporter=found)
    try:
        for job in range(200):
            tracing.record("submit", tracing.job_place(job), below=None, began=0.0)
            tracing.record_lease(job, 1, 1, 0.0)
        tracing._provider.force_flush()
        per_trace: dict[int, int] = {}
        for span in found.get_finished_spans():
            per_trace[span.context.trace_id] = per_trace.get(span.context.trace_id, 0) + 1
        assert 60 < len(per_trace) < 140
        assert set(per_trace.values()) == {2}
    finally:
        tracing.stop()
