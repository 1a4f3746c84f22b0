"""Commands by which an owner changes what runs, or has ended: change, retry, settle."""

from __future__ import annotations

import json
import math
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.records import Job, SessionDetail
from shoal.services.cli.commands.job.following import summary
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway, JobArgument
from shoal.services.cli.running import finish

_NONE = "none"
"""The word that takes a limit away."""


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    app.command()(change)
    app.command()(retry)
    app.command()(settle)


def change(
    job: JobArgument,
    concurrency: Annotated[str, typer.Option(metavar="N|none", help="Items of its outermost loop at once.")] = "",
    deadline: Annotated[str, typer.Option(metavar="SECONDS|none", help="The job must end within this, from now.")] = "",
    tokens: Annotated[str, typer.Option(metavar="N|none", help="Model tokens of all its sessions.")] = "",
    priority: Annotated[int | None, typer.Option(min=-100, max=100, help="Higher goes first within a tenant.")] = None,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Change the limits of a job while it runs."""

    async def work() -> Exit:
        changes: dict[str, Json] = {}
        for name, option, text in (
            ("concurrency", "--concurrency", concurrency),
            ("deadline_s", "--deadline", deadline),
            ("job_tokens", "--tokens", tokens),
        ):
            if text:
                changes[name] = _limit(option, text, whole=name != "deadline_s")
        if priority is not None:
            changes["priority"] = priority
        if not changes:
            raise BadUsage("say what is to change: --concurrency, --deadline, --tokens or --priority")
        async with client_of(gateway) as client:
            row = await client.change(job, changes)
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
            return Exit.DONE
        changed = Job.model_validate(row)
        for line in summary(changed):
            tell(line)
        tell(
            f"  concurrency {changed.concurrency or _NONE}, deadline {row['deadline_at'] or _NONE}, "
            f"tokens {changed.job_tokens or _NONE}, priority {changed.priority}"
        )
        return Exit.DONE

    finish(work())


def retry(
    what: Annotated[str, typer.Argument(metavar="JOB|SESSION", help="Id of the job or session, such as j12 or s12.")],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Queue a job's failed, terminated and canceled items again, or one session, such as s12, alone."""

    async def work() -> Exit:
        alone = what.startswith("s")
        async with client_of(gateway) as client:
            row = await (client.retry_session(what) if alone else client.control(what, "retry"))
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
        elif alone:
            shown = SessionDetail.model_validate(row)
            tell(f"{shown.id} of {shown.job} is {shown.status}")
        else:
            for line in summary(Job.model_validate(row)):
                tell(line)
        return Exit.DONE

    finish(work())


def settle(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Id of the unsure session, such as s12.")],
    how: Annotated[str, typer.Argument(metavar="[done|retry]", help="What became of its action.")] = "",
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Say what became of an unsure session; without `done` or `retry`, show what is known of it."""

    async def work() -> Exit:
        if how not in ("", "done", "retry"):
            raise BadUsage(f"a session is settled as `done` or `retry`, not {how!r}")
        async with client_of(gateway) as client:
            row = await (client.settle(session, how) if how else client.session(session))
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
            return Exit.DONE
        shown = SessionDetail.model_validate(row)
        print(f"{shown.id} of {shown.job} is {shown.status}")
        for line in evidence_lines(shown):
            print(f"  {line}")
        return Exit.DONE

    finish(work())


def evidence_lines(session: SessionDetail) -> list[str]:
    """Return what is known of an unsure session."""
    known = session.evidence
    if known is None:
        return []
    done = [f"before it: {task['plan']} ({task['status']})" for task in known["done"][-5:]]
    return [
        f"begun and not confirmed: {known['action']}",
        f"on: {known['url']}",
        *done,
        *(f"artifact: {artifact.kind} {artifact.id}" for artifact in session.artifacts[-5:]),
        "settle it with `done` (it happened) or `retry` (it did not)",
    ]


def _limit(option: str, text: str, *, whole: bool) -> float | int | None:
    if text == _NONE:
        return None
    try:
        number = int(text) if whole else float(text)
        if math.isfinite(number):
            return number
    except (ValueError, OverflowError):
        pass
    raise BadUsage(f"{option}: write a {'whole number' if whole else 'number'} or {_NONE}, not {text!r}")
