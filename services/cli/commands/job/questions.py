"""Commands about questions of running sessions: which wait for a person, and the answer to one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.records import Question
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.running import finish
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
        async with client_of(gateway) as client:
            page = await client.questions(job=job or None)
        print_rows(
            page["questions"],
            ("question", "job", "kind", "what is asked", "on the page"),
            _cells,
            as_json=as_json,
        )
        return Exit.DONE

    finish(work())


def _cells(row: Mapping[str, Json]) -> tuple[str, ...]:
    asked = Question.model_validate(row)
    return (asked.id, asked.job, asked.kind, asked.question, asked.page)


def answer(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Its id, as `shoal questions` shows it.")],
    text: Annotated[str, typer.Argument(metavar="ANSWER")],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question; its session goes on within seconds."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            await client.answer(question, text)
        if as_json:
            print(json.dumps({"question": question, "answered": True}))
        else:
            tell("answered")
        return Exit.DONE

    finish(work())
