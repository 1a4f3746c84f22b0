"""Traces over gateway, dispatcher, worker and model call, by OpenTelemetry. Off unless a collector is named.

A job is one trace. Nothing is carried from process to process: trace and span ids follow from the ids of job, session
and lease, so every part knows its place by what it works on. The packages are loaded only where traces are on.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from shoal.services.errors import BadSetting

_SPAN_BYTES = 8
_TRACE_BYTES = 16


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The address that spans are sent to, and the share of them."""

    url: str  # of a collector: OTLP over HTTP, with its path
    share: float = 1.0  # of the jobs that are traced, whole or not at all


@dataclass(frozen=True, slots=True)
class SpanPlace:
    """A place in a trace: where a span hangs, or is."""

    trace: int
    span: int


def job_place(job: int) -> SpanPlace:
    """The span of a job: its submission."""
    return SpanPlace(_id(f"job {job}", _TRACE_BYTES), _id(f"submitted {job}", _SPAN_BYTES))


def lease_place(job: int, session: int, fence: int) -> SpanPlace:
    """The span of one lease of a session, as the dispatcher sees it; the worker's spans hang below it."""
    return SpanPlace(job_place(job).trace, _id(f"lease {session} {fence}", _SPAN_BYTES))


def _id(text: str, size: int) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=size).digest(), "big")


_wanted: ContextVar[SpanPlace | None] = ContextVar("wanted ids", default=None)
_tracer: Any = None
_provider: Any = None


def start(options: TraceOptions | None, part: str, *, exporter: Any = None) -> None:
    """Turns traces on in this process, as the part `part` of Shoal; without `options`, or a second time, nothing.

    Raises:
        BadSetting: OpenTelemetry is not installed.
    """
    global _tracer, _provider
    if options is None or _tracer is not None:
        return
    try:
        sdk = import_module("opentelemetry.sdk.trace")
        export = import_module("opentelemetry.sdk.trace.export")
        sampling = import_module("opentelemetry.sdk.trace.sampling")
        resources = import_module("opentelemetry.sdk.resources")
        otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError as error:
        raise BadSetting(
            f"SHOAL_TRACES_URL needs {error.name}, which is not installed: shoal[cluster] brings it"
        ) from error
    _provider = sdk.TracerProvider(
        resource=resources.Resource({"service.name": f"shoal-{part}"}),
        sampler=sampling.TraceIdRatioBased(options.share),
        id_generator=_ids(sdk),
        shutdown_on_exit=True,
    )
    sender = exporter or otlp.OTLPSpanExporter(endpoint=options.url)
    # Each second: an actor that Ray kills says no goodbye.
    _provider.add_span_processor(export.BatchSpanProcessor(sender, schedule_delay_millis=1000))
    _tracer = _provider.get_tracer("shoal")


def stop() -> None:
    """Sends what is left, and turns traces off."""
    global _tracer, _provider
    if _provider is not None:
        _provider.shutdown()
    _tracer = _provider = None


def _ids(sdk: Any) -> Any:
    """The ids that the caller gives for a span, else random ones."""
    random = import_module("opentelemetry.sdk.trace.id_generator").RandomIdGenerator()

    class Ids(type(random)):  # type: ignore[misc]  # the base is not known before
        def generate_span_id(self) -> int:
            place = _wanted.get()
            return place.span if place else int(random.generate_span_id())

        def generate_trace_id(self) -> int:
            place = _wanted.get()
            return place.trace if place else int(random.generate_trace_id())

    return Ids()


def record(
    name: str, place: SpanPlace, *, below: SpanPlace | None, began: float, **attributes: str | int | float
) -> None:
    """A span that is over: it began at `began` (seconds since the epoch) and ends now."""
    if _tracer is None:
        return
    token = _wanted.set(place)
    try:
        span = _tracer.start_span(name, _context(below), start_time=round(began * 1e9), attributes=attributes)
    finally:
        _wanted.reset(token)
    span.end(round(time.time() * 1e9))


def record_lease(job: int, session: int, fence: int, began: float, **attributes: str | int | float) -> None:
    """The dispatcher's span of a lease that is over. Costs nothing while traces are off."""
    if _tracer is not None:
        place = lease_place(job, session, fence)
        record("lease", place, below=job_place(job), began=began, session=session, **attributes)


@contextmanager
def span(name: str, *, lease: tuple[int, int, int] | None = None, **attributes: str | int | float) -> Iterator[None]:
    """A span around what happens inside, below a lease (its job, session and fence) or the span that is open here."""
    if _tracer is None:
        yield
        return
    context = _context(lease_place(*lease)) if lease else None
    with _tracer.start_as_current_span(name, context, attributes=attributes):
        yield


def _context(below: SpanPlace | None) -> Any:
    """The context in which a span hangs below `below`; an empty one for the first of a trace."""
    trace = import_module("opentelemetry.trace")
    context = import_module("opentelemetry.context").Context()
    if below is None:
        return context
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    remote = trace.SpanContext(below.trace, below.span, is_remote=True, trace_flags=flags)
    return trace.set_span_in_context(trace.NonRecordingSpan(remote), context)
