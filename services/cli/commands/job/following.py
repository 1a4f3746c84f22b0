"""Following one job to its end: `run` and `watch`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from datetime import datetime

from shoal.agent.status import FINAL
from shoal.agent.support.json_value import Json
from shoal.api import Api
from shoal.errors import ShoalError
from shoal.services.cli.ending import Exit, incomplete_words, job_exit, tell
from shoal.services.cli.pace import duration
from shoal.services.cli.printing import OrderedLines
from shoal.services.cli.progress import shown

PRINT_EVERY_S = 1.0
_QUOTATIONS = 5  # that a terminal shows
_QUOTED_CHARS, _ADDRESS_CHARS = 160, 200


async def follow(client: Api, job: Mapping[str, Json], *, lines: OrderedLines | None, as_json: bool) -> Exit:
    """Shows the job's progress until it is final, writes its results where wanted, and says how it ended."""
    title = job["id"]
    printed_s = time.monotonic()
    with shown(title, as_json=as_json) as show:
        async for event in client.events(job["id"]):
            show(event)
            if lines is not None and time.monotonic() - printed_s >= PRINT_EVERY_S:
                await lines.write_ready()
                printed_s = time.monotonic()
    if lines is not None:
        await lines.write_rest()
    final = await client.job(job["id"])
    if not as_json:
        for line in summary(final, _took_s(final)):
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


def summary(job: Mapping[str, Json], seconds: float | None = None) -> list[str]:
    """How a job stands, in a line or two."""
    counts, usage = job["counts"], job["usage"]
    parts = [f"{counts[name]:,} {name}" for name in _ENDS if counts[name]]
    first = f"{job['id']} {job['status']}"
    if job["status"] in FINAL and job_exit(job) is Exit.PARTIAL:
        first += " in part"
    if job.get("cancel_requested") and job["status"] not in FINAL:
        first += ", being canceled"
    if counts["expected"] > 1 or len(parts) > 1:
        first += f": {counts['expected']:,} items, " + (", ".join(parts) or "none final yet")
    if seconds is not None:
        first += f", in {duration(seconds)}"
    if usage["model_calls"]:
        tokens = usage["prompt_tokens"] + usage["completion_tokens"]
        first += f", {usage['model_calls']:,} model calls ({tokens:,} tokens)"
    missing = [f"  {_learned(loop)}" for loop in job.get("learning", ())]
    missing += [f"  {incomplete_words(job['incomplete'])}"] if job.get("incomplete") else []
    error = job.get("error")
    if error:
        return [first, *missing, f"  {error['code']}: {error['message']}"]
    answer = [f"  answer: {job['answer']}", *_basis_lines(job.get("rests_on"))] if job.get("answer") else []
    return [first, *missing, *answer, *([f"  {job['reason']}"] if job.get("reason") else [])]


def _basis_lines(rests_on: Mapping[str, Json] | None) -> Iterator[str]:
    """What an answer rests on, a line for each part."""
    if rests_on is None:
        return
    quotations = rests_on["quotations"]
    for quotation in quotations[:_QUOTATIONS]:
        words = json.dumps(_one_line(quotation["text"]), ensure_ascii=False)
        yield f"    rests on {words}, {quotation['url'][:_ADDRESS_CHARS]}"
    if len(quotations) > _QUOTATIONS:
        yield f"    and on {len(quotations) - _QUOTATIONS:,} more quotations"
    if rests_on["records"]:
        yield f"    rests on what was read: record {', '.join(str(number + 1) for number in rests_on['records'])}"
    if computed := rests_on["computed"]:
        values = _one_line(", ".join(map(str, computed["values"])))
        yield f"    computed: {computed['result']}, the {computed['operation']} of {values}"
    if not any(rests_on.values()):
        yield "    rests on nothing that a program could look up"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED_CHARS else f"{line[:_QUOTED_CHARS]}…"


def _learned(loop: Mapping[str, Json]) -> str:
    """How far one loop has learned, in a line."""
    figures = loop["figures"]
    if loop["phase"] != "replay":
        return f"learning: {loop['phase']}: {loop['why']}"
    done = f"{figures.get('replays', 0):,} items replayed by {loop['workflow']}, {figures.get('misses', 0):,} misses"
    provisional = figures.get("provisional", 0)
    waiting = f"; {provisional:,} provisional, since no audit has confirmed one after them" if provisional else ""
    return f"learning: {done}; {loop['bound']}{waiting}"


def _took_s(job: Mapping[str, Json]) -> float | None:
    """From its first session's start to its end, as `shoal up` tells it; None for one that never ran."""
    began, ended = job.get("started_at"), job.get("finished_at")
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds() if began and ended else None


_ENDS = ("completed", "terminated", "failed", "unsure", "canceled")
