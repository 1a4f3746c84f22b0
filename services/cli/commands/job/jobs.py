"""Commands about jobs that a gateway holds: hand in, list, show, read results and changes, watch, steer."""

from __future__ import annotations

import asyncio
import codecs
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import nullcontext
from datetime import UTC
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import orjson
import typer

from shoal.agent.support.json_value import Json
from shoal.api import Api, rows
from shoal.records import BatchLine, Job, JobSummary, Session, SubmittedJob
from shoal.services.cli.commands.job.following import follow, summary
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, incomplete_words, job_exit, printable, tell
from shoal.services.cli.options import AsJson, Gateway, JobArgument, pairs_from
from shoal.services.cli.pace import duration
from shoal.services.cli.printing import binary_stdout
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_table


class Form(StrEnum):
    """Formats of results."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    XLSX = "xlsx"


BINARY = (Form.PARQUET, Form.ARROW, Form.XLSX)


class ListShape(StrEnum):
    """Shapes of a record's lists in a table."""

    JSON = "json"
    JOINED = "joined"
    ROWS = "rows"


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    for command in (submit, jobs, show, results, changes, watch):
        app.command()(command)
    for verb, sentence in (
        ("cancel", "Cancel a job; what runs is stopped."),
        ("pause", "Hold a job back; running sessions stop at their next checkpoint."),
        ("resume", "Let a paused job go on."),
    ):
        app.command(verb, help=sentence)(_control(verb))


def submit(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A job spec, or JSON lines of them; - reads stdin.")],
    key: Annotated[str, typer.Option(help="Idempotency key: the same one again gives the same jobs.")] = "",
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Hand in jobs; prints their ids, one a line."""

    async def work() -> Exit:
        with _opened(file) as source:
            head = _first_line(source).removeprefix(codecs.BOM_UTF8)  # as files of Windows programs begin
            if not head.strip():
                raise BadUsage(f"{'standard input' if file == '-' else file}: there is no job in it")
            if not _is_whole(head):
                head += source.read()  # one spec over many lines
            elif more := _first_line(source):
                async with client_of(gateway) as client:
                    return await _submit_lines(client, head + more, source, key, as_json)
            async with client_of(gateway) as client:
                return await _submit_one(client, head, key, as_json)

    finish(work())


async def _submit_one(client: Api, spec: bytes, key: str, as_json: bool) -> Exit:
    job = await client.submit(spec, key=key or None)
    _print_json(job) if as_json else print(SubmittedJob.model_validate(job).id)
    return Exit.DONE


async def _submit_lines(client: Api, head: bytes, source: BinaryIO, key: str, as_json: bool) -> Exit:
    async def pieces() -> AsyncIterator[bytes]:
        yield head
        while piece := await asyncio.to_thread(source.read, 1 << 16):
            yield piece

    accepted = refused = 0
    async for outcome in client.submit_lines(pieces(), key=key or None):
        line = BatchLine.model_validate(outcome)
        if as_json:
            _print_json(outcome)
        elif line.job is not None:
            print(line.job)
        if line.error is None:
            accepted += 1
        else:
            refused += 1
            tell(f"line {line.line}: {line.error.detail}")
    tell(f"{accepted:,} accepted, {refused:,} refused")
    return Exit.USAGE if refused else Exit.DONE


def _first_line(source: BinaryIO) -> bytes:
    """The next line with something in it, with the empty ones before it, which count as lines of a batch too.

    Empty at the end of the file, whatever blanks are left.
    """
    read = b""
    while line := source.readline():
        read += line
        if line.strip():
            return read
    return b""


def _is_whole(line: bytes) -> bool:
    """Return whether a first line is a whole JSON value: then the file is one of lines, or of one line."""
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _opened(file: str) -> BinaryIO:
    if file == "-":
        return sys.stdin.buffer
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise BadUsage(f"cannot read {file}: {error.strerror or error}") from error


def jobs(
    status: Annotated[list[str] | None, typer.Option(help="Only jobs with this status; may be given often.")] = None,
    label: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Only jobs with this label.")] = None,
    text: Annotated[
        str, typer.Option(metavar="WORDS", help="Only jobs with these words in name, goal, address or labels.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""

    async def work() -> Exit:
        labels = [f"{name}:{value}" for name, value in pairs_from("--label", label or []).items()]
        async with client_of(gateway) as client:
            read = partial(client.jobs, status=status or [], label=labels, text=text or None)
            listed, more = await rows(read, "jobs", limit)
        if as_json:
            for job in listed:
                _print_json(job)
            return Exit.DONE
        headers = ("job", "status", "items", "done", "failed", "created", "name, goal or address")
        print_table(headers, map(_job_cells, map(JobSummary.model_validate, listed)))
        if more:
            tell(f"there are more; --limit shows them ({limit} now)")
        return Exit.DONE

    finish(work())


def show(
    job: JobArgument,
    sessions: Annotated[int, typer.Option(min=1, help="At most so many of its sessions.")] = 20,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Show a job: how it stands, what it was asked, and what its sessions wait for."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            row = await client.job(job)
            if as_json:
                _print_json(row)
                return Exit.DONE
            listed, more = await rows(partial(client.sessions, job), "sessions", sessions)
        for line in summary(Job.model_validate(row)):
            print(printable(line))
        print(json.dumps(row["spec"], indent=2, ensure_ascii=False))
        for sink in row["sinks"]:
            standing = f"{sink['state']}, {sink['written']:,} records" + (f": {sink['error']}" if sink["error"] else "")
            print(printable(f"sink {sink['sink']} ({sink['kind']}, {sink['place']}): {standing}"))
        cells = map(_session_cells, map(Session.model_validate, listed))
        print_table(("session", "status", "try", "item", "waits for, or why it ended"), cells)
        if more:
            tell(f"there are more; --sessions shows them ({sessions} now)")
        return Exit.DONE

    finish(work())


def _job_cells(job: JobSummary) -> tuple[str, ...]:
    counts, created = job.counts, job.created_at.astimezone(UTC)
    bad = counts.final - counts.completed
    return (
        *(job.id, _standing(job), f"{counts.expected:,}", f"{counts.completed:,}", f"{bad:,}"),
        *(f"{created:%Y-%m-%d %H:%M:%S}", (job.name or job.goal or job.url)[:60]),
    )


def _standing(job: JobSummary) -> str:
    """A job's status in words; one that completed in part does not look like one that lacks nothing."""
    if not job.final or job_exit(job) is not Exit.PARTIAL:
        return str(job.status)
    return "completed in part" + (f", {incomplete_words(job.incomplete)}" if job.incomplete else "")


def _session_cells(session: Session) -> tuple[str, ...]:
    item, error = session.item, session.error
    why = _waiting(session) or (error.message if error else _reason(session))
    value = (item.label or item.value)[:50] if item else ""
    return (session.id, session.status, str(session.attempt), value, why)


def _reason(session: Session) -> str:
    """Why a session ended as it did, with what its list lacks."""
    missing = session.incomplete
    if missing is None:
        return session.reason
    return ": ".join(filter(None, (incomplete_words(missing), session.reason or missing.why)))


def _waiting(session: Session) -> str:
    """Return what a session waits for, with the estimate where there is one; "" when it does not wait."""
    wait = session.waiting
    about = f", about {duration(wait.for_s)}" if wait and wait.for_s is not None else ""
    return f"{session.waiting_for}{about}"


def results(
    job: JobArgument,
    form: Annotated[Form, typer.Option("--format", help="jsonl, csv, parquet, arrow or xlsx.")] = Form.JSONL,
    out: Annotated[str, typer.Option(metavar="FILE", help="Write into this file instead of stdout.")] = "",
    formulas: Annotated[
        bool,
        typer.Option("--formulas/--no-formulas", help="CSV: texts that a spreadsheet would compute, or kept as texts."),
    ] = True,
    records: Annotated[bool, typer.Option("--records", help="The records alone, in the schema's order.")] = False,
    lists: Annotated[
        ListShape, typer.Option(help="With --records: lists as json, joined to one text, or as a row for each value.")
    ] = ListShape.JSON,
    gateway: Gateway = "",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    """Write a job's results, as far as there are any."""

    async def work() -> Exit:
        chosen = _form(form, out, as_json)
        async with client_of(gateway) as client:
            shape = {"columns": "record", "lists": lists.value} if records else {}
            await _write(client.results(job, form=chosen.value, formulas=formulas, **shape), out, chosen)
        return Exit.DONE

    finish(work())


def changes(
    job: JobArgument,
    since: Annotated[
        str, typer.Option(metavar="JOB", help="The earlier job; default: the run before of the same work.")
    ] = "previous",
    key: Annotated[
        list[str] | None,
        typer.Option(help="The field that names a record, #item or #url; may be given often. Default: it is found."),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="jsonl, csv, parquet, arrow or xlsx.")] = Form.JSONL,
    out: Annotated[str, typer.Option(metavar="FILE", help="Write into this file instead of stdout.")] = "",
    formulas: Annotated[
        bool,
        typer.Option("--formulas/--no-formulas", help="CSV: texts that a spreadsheet would compute, or kept as texts."),
    ] = True,
    gateway: Gateway = "",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    """Write which records appeared, went or changed since an earlier run."""

    async def work() -> Exit:
        chosen = _form(form, out, as_json)
        async with client_of(gateway) as client:
            pieces = client.changes(
                job, since=since, key=key or (), form=chosen.value, formulas=formulas, on_counts=_tell_changes
            )
            await _write(pieces, out, chosen)
        return Exit.DONE

    finish(work())


def _tell_changes(comparison: Mapping[str, Json]) -> None:
    numbers = ", ".join(f"{comparison[name]:,} {name}" for name in ("appeared", "went", "changed", "unclear", "same"))
    tell(f"{comparison['since']} to {comparison['job']}, records by {', '.join(comparison['key'])}: {numbers}")


def _form(form: Form, out: str, as_json: bool) -> Form:
    chosen = Form.JSONL if as_json else form
    if chosen in BINARY and not out and sys.stdout.isatty():
        raise BadUsage(f"{chosen} is binary: name a file with --out, or redirect the output")
    return chosen


async def _write(pieces: AsyncIterator[bytes], out: str, form: Form) -> None:
    """Writes what comes to a file, or to standard output for none; readers there have each piece at once."""
    with _GrowingFile(Path(out), keeps=form not in BINARY) if out else nullcontext(binary_stdout()) as target:
        async for piece in pieces:
            target.write(piece)
            target.flush()


class _GrowingFile:
    """A file that grows as `FILE.part` beside its place, and takes its place when it is whole.

    So half an export is not taken for a whole one, and what was there before stays until then.

    Raises:
        BadUsage: nothing can be written there.
    """

    def __init__(self, path: Path, *, keeps: bool) -> None:
        """`keeps`: what has come is of use where the rest does not come."""
        self._path, self._part, self._keeps = path, path.with_name(path.name + ".part"), keeps
        try:
            self._file = self._part.open("wb")
        except OSError as error:
            raise BadUsage(f"cannot write {path}: {error.strerror or error}") from error

    def __enter__(self) -> BinaryIO:
        return self._file

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            self._part.replace(self._path)
        elif self._keeps and self._part.stat().st_size:
            tell(f"{self._part} has what had come; {self._path} is not written")
        else:
            self._part.unlink()


def watch(job: JobArgument, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Follow a job until it is final; the exit code says how it ended."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            return await follow(client, Job.model_validate(await client.job(job)).id, lines=None, as_json=as_json)

    finish(work())


def _control(verb: str) -> Any:
    def command(job: JobArgument, gateway: Gateway = "", as_json: AsJson = False) -> None:
        async def work() -> Exit:
            async with client_of(gateway) as client:
                row = await client.control(job, verb)
            if as_json:
                _print_json(row)
            else:
                for line in summary(Job.model_validate(row)):
                    tell(line)
            return Exit.DONE

        finish(work())

    return command


def _print_json(value: Json) -> None:
    print(json.dumps(value, ensure_ascii=False))
