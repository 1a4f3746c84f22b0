"""Commands about questions of running sessions: which wait for a person, and the answer to one."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.running import finish, settings_of_process
from shoal.services.cli.tables import print_rows


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    app.command()(questions)
    app.command()(answer)


def questions(
    job: Annotated[str, typer.Option(metavar="JOB", help="Only those of this job.")] = "",
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """List what running sessions wait to be told: codes, answers, captchas."""

    async def work() -> Exit:
        async with client_of(settings_of_process(), gateway) as client:
            page = await client.questions(job=job or None)
        print_rows(
            page["questions"],
            ("question", "job", "kind", "what is asked", "on the page"),
            lambda row: [row[name] for name in ("id", "job", "kind", "question", "page")],
            as_json=as_json,
        )
        return Exit.DONE

    finish(work())


def answer(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Its id, as `shoal questions` shows it.")],
    text: Annotated[str, typer.Argument(metavar="ANSWER")],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question; its session goes on within seconds."""

    async def work() -> Exit:
        async with client_of(settings_of_process(), gateway) as client:
            await client.answer(question, text)
        if as_json:
            print(json.dumps({"question": question, "answered": True}))
        else:
            tell("answered")
        return Exit.DONE

    finish(work())
