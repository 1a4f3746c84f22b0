"""Following one job to its end: `run` and `watch`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator

from shoal.api import Api
from shoal.errors import ShoalError
from shoal.records import Basis, Job, JobSummary, Learning
from shoal.services.cli.ending import Exit, incomplete_words, job_exit, tell
from shoal.services.cli.pace import duration
from shoal.services.cli.printing import OrderedLines
from shoal.services.cli.progress import progress_display

PRINT_EVERY_S = 1.0
_QUOTATIONS = 5  # that a terminal shows
_QUOTED_CHARS, _ADDRESS_CHARS = 160, 200


async def follow(client: Api, job: str, *, lines: OrderedLines | None, as_json: bool) -> Exit:
    """Shows the job's progress until it is final, writes its results where wanted, and says how it ended."""
    printed_s = time.monotonic()
    with progress_display(job, as_json=as_json) as show:
        async for event in client.events(job):
            show(event)
            if lines is not None and time.monotonic() - printed_s >= PRINT_EVERY_S:
                await lines.write_ready()
                printed_s = time.monotonic()
    if lines is not None:
        await lines.write_rest()
    final = Job.model_validate(await client.job(job))
    if not as_json:
        for line in summary(final, took_s(final)):
            tell(line)
    return job_exit(final)


async def cancel_and_print(client: Api, job: str, lines: OrderedLines | None) -> None:
    """After Ctrl-C: cancels the job and writes what it gave so far."""
    tell(f"canceling {job} …")
    try:
        await asyncio.wait_for(client.control(job, "cancel"), 10)
        if lines is not None:
            await asyncio.wait_for(lines.write_rest(), 30)
    except (ShoalError, TimeoutError) as error:
        tell(f"{job} could not be canceled: {error}")


def summary(job: Job, seconds: float | None = None) -> list[str]:
    """Return how a job stands, in a few lines."""
    lines = [standing(job, seconds), *(f"  {_learned(loop)}" for loop in job.learning), *missing_lines(job)]
    if job.error:
        return lines
    if job.answer:
        lines += [f"  answer: {job.answer}", *_basis_lines(job.rests_on)]
    return [*lines, *([f"  {job.reason}"] if job.reason else [])]


def standing(job: JobSummary, seconds: float | None = None) -> str:
    """A job's status, items and model calls, in a line."""
    counts, usage = job.counts, job.usage
    parts = [f"{n:,} {name}" for name, n in counts.ends.items() if n]
    line = f"{job.id} {job.status}"
    if job.final and job_exit(job) is Exit.PARTIAL:
        line += " in part"
    if job.cancel_requested and not job.final:
        line += ", being canceled"
    if counts.expected > 1 or len(parts) > 1:
        line += f": {counts.expected:,} items, " + (", ".join(parts) or "none final yet")
    if seconds is not None:
        line += f", in {duration(seconds)}"
    if usage.carried_over:
        line += f", {usage.carried_over:,} carried over unchanged"
    if usage.model_calls:
        line += f", {usage.model_calls:,} model calls ({usage.prompt_tokens + usage.completion_tokens:,} tokens)"
    return line


def missing_lines(job: JobSummary) -> list[str]:
    """Return what a job's lists lack, and why the job failed; no line where nothing is known of either."""
    lacking = [f"  {incomplete_words(job.incomplete)}"] if job.incomplete else []
    return [*lacking, *([f"  {job.error.code}: {job.error.message}"] if job.error else [])]


def _basis_lines(rests_on: Basis | None) -> Iterator[str]:
    """Yield what an answer rests on, a line for each part."""
    if rests_on is None:
        return
    quotations, computed = rests_on.quotations, rests_on.computed
    for quotation in quotations[:_QUOTATIONS]:
        words = json.dumps(_one_line(quotation.text), ensure_ascii=False)
        yield f"    rests on {words}, {quotation.url[:_ADDRESS_CHARS]}"
    if len(quotations) > _QUOTATIONS:
        yield f"    and on {len(quotations) - _QUOTATIONS:,} more quotations"
    if rests_on.records:
        yield f"    rests on what was read: record {', '.join(str(number + 1) for number in rests_on.records)}"
    if computed:
        values = _one_line(", ".join(map(str, computed.values)))
        yield f"    computed: {computed.result}, the {computed.operation} of {values}"
    if not (quotations or rests_on.records or computed):
        yield "    rests on nothing that a program could look up"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED_CHARS else f"{line[:_QUOTED_CHARS]}…"


def _learned(loop: Learning) -> str:
    """Return how far one loop has learned, in a line."""
    figures = loop.figures
    if loop.phase != "replay":
        return f"learning: {loop.phase}: {loop.why}"
    done = f"{figures.get('replays', 0):,} items replayed by {loop.workflow}, {figures.get('misses', 0):,} misses"
    provisional = figures.get("provisional", 0)
    waiting = f"; {provisional:,} provisional, since no audit has confirmed one after them" if provisional else ""
    return f"learning: {done}; {loop.bound}{waiting}"


def took_s(job: JobSummary) -> float | None:
    """From its first session's start to its end; None for one that never ran."""
    began, ended = job.started_at, job.finished_at
    return (ended - began).total_seconds() if began and ended else None
