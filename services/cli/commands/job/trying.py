"""`shoal try`: a sample of a job, told before the job is run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.connect import find_gateway
from shoal.embedded import spec_checker
from shoal.services.cli.connection import client_or_cluster
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway, json_from
from shoal.services.cli.pace import duration
from shoal.services.cli.running import finish, settings_of_process
from shoal.services.cli.tables import print_table
from shoal.trial import Trial, TriedEstimate, TriedRecord

_LONGEST_CELL = 60


def add_to(app: typer.Typer) -> None:
    """Adds this command to `app`."""
    app.command("try")(try_)


def try_(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A job spec: a file, or JSON; - reads stdin.")],
    items: Annotated[int, typer.Option(min=1, max=10, help="So many items of each loop are opened.")] = 3,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=5, max=300, help="Until the answer comes.")] = 90.0,
    places: Annotated[bool, typer.Option(help="Print the spec with the places that were found filled in.")] = False,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Try a job: count its items, read a few records, and say where each value is from. Nothing is kept.

    With no gateway named, a cluster is started on this machine for the try and ended after it.
    """

    async def work() -> Exit:
        asked = json_from("SPEC", spec)
        if not isinstance(asked, dict):
            raise BadUsage("a job spec is a JSON object")
        settings = settings_of_process()
        if not find_gateway(settings, gateway):  # a cluster of its own takes seconds: too long for a wrong field
            await spec_checker(settings).check(json.dumps(asked).encode(), "default")
        async with client_or_cluster(settings, gateway) as client:
            answer = await client.attempt(asked, items=items, timeout_s=timeout)
        trial = Trial.model_validate(answer)
        if as_json:
            print(json.dumps(answer, ensure_ascii=False))
        elif places:
            print(json.dumps(with_places(asked, trial), indent=2, ensure_ascii=False))
        if not as_json:
            for line in summary(trial):
                tell(line)
        if not as_json and not places:
            print_table(("record", "field", "value", "sure", "from"), cells(trial))
        return try_exit(trial)

    finish(work())


def with_places(spec: Mapping[str, Json], trial: Trial) -> dict[str, Json]:
    """`spec` with the places that a try proposes in `extract`; what the spec gives itself stays as it is."""
    extract = dict(spec.get("extract") or {})
    if not trial.fields:
        return dict(spec)
    extract["fields"] = {**trial.fields, **(extract.get("fields") or {})}
    if trial.record_place and not extract.get("records"):
        extract["records"] = trial.record_place
    return {**spec, "extract": extract}


def try_exit(trial: Trial) -> Exit:
    """Done where every record of the sample is whole; done in part where some are; else failed."""
    good = [record for record in trial.records if record.error is None]
    if trial.error is not None or (trial.records and not good):
        return Exit.FAILED
    whole = trial.finished and not trial.missing and len(good) == len(trial.records)
    return Exit.DONE if whole else Exit.PARTIAL


def summary(trial: Trial) -> Iterator[str]:
    """Yield what a try found, in lines."""
    items, listed, estimate = trial.items, trial.listed, trial.estimate
    if items is not None:
        yield f"items: {_count(items.found, items.shown, whole=items.whole)}"
        yield from (f"  {item.label or item.value}" for item in items.first)
        if items.doubt:
            yield f"  {items.doubt}"
    if listed is not None:
        yield f"records of the first page: {_count(listed.found, listed.shown, whole=listed.whole)}"
        if listed.why:
            yield f"  {listed.why}"
    if trial.error is not None:
        yield f"{trial.error.code}: {trial.error.message}"
    for record in trial.records:
        if record.error is not None and record.error != trial.error:
            yield f"{_name(record)}: {record.error.code}: {record.error.message}"
    for name, n in trial.missing.items():
        yield f"missing in {n} of {len(trial.records)}: {name}"
        yield from _candidates(trial, name)
    if not trial.finished:
        yield "the try's time was over before all of it was done: --timeout gives it more"
    if items is not None:
        more = "" if estimate.exact else " or more"
        yield f"the whole job: {estimate.items:,} items{more}, about {_cost(estimate)}"


def _count(count: int, shown: int | None, *, whole: bool) -> str:
    claimed = f", the page says {shown:,}" if shown is not None and shown != count else ""
    return f"{count:,}{'' if whole else ' and more'}{claimed}"


def _cost(estimate: TriedEstimate) -> str:
    parts = [f"{duration(estimate.seconds)} of browser time", f"{estimate.pages:,} pages"]
    if estimate.model_calls:
        tokens = estimate.prompt_tokens + estimate.completion_tokens
        parts.append(f"{estimate.model_calls:,} model calls of {tokens:,} tokens")
    return ", ".join(parts)


def _candidates(trial: Trial, name: str) -> Iterator[str]:
    """Yield what the page may state for a field that is missing, each value once."""
    candidates = {json.dumps(c.value): c for record in trial.records for c in record.candidates.get(name, ())}
    for candidate in list(candidates.values())[:3]:
        yield f"  may be {_short(candidate.value)} at {candidate.where} ({candidate.why})"


def cells(trial: Trial) -> Iterator[tuple[str, ...]]:
    """The table of a try: record, field, value, sureness, place."""
    for record in trial.records:
        for name, field in record.fields.items():
            yield (
                _name(record),
                name,
                _short(field.value),
                field.sureness,
                (f"{field.how}, called {field.called!r}: " if field.called else f"{field.how}: ") + field.where[:80],
            )


def _name(record: TriedRecord) -> str:
    item = record.item
    return _short(item.label or item.value) if item else record.url[:_LONGEST_CELL]


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_CELL else line[: _LONGEST_CELL - 1] + "…"
