"""`shoal export`: a finished job as a record for builders of datasets."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import Exit
from shoal.services.cli.options import AsJson, Gateway, JobArgument
from shoal.services.cli.running import finish, settings_of_process


def add_to(app: typer.Typer) -> None:
    """Adds this command to `app`."""
    app.command("export")(export)


def export(
    job: JobArgument,
    out: Annotated[Path, typer.Option(help="Folder of the layout: execution/, saved_document/.")] = Path("results"),
    judge: Annotated[
        bool, typer.Option("--judge", help="Have the run judged by the model of SHOAL_MODEL_URL, or of --judge-url.")
    ] = False,
    judge_url: Annotated[str, typer.Option(help="Server of the judge.")] = "",
    judge_model: Annotated[str, typer.Option(help="Name of the judge's model.")] = "",
    screenshots: Annotated[int, typer.Option(min=0, max=50, help="Last screenshots that the judge sees.")] = 3,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Write a finished job as a record of the data-flow layout, with its documents; prints the record's path."""

    async def work() -> Exit:
        # What the judge needs is loaded only by those who ask for it: `shoal --help` stays quick.
        exporting, judges = (import_module(f"shoal.services.evaluation.{name}") for name in ("export", "judging"))
        settings = settings_of_process()
        async with (
            judges.judging(settings, required=judge, url=judge_url, name=judge_model) as model,
            client_of(gateway) as client,
        ):
            seen = screenshots if settings.model_images else 0
            path = await exporting.export_job(client, job, out, judge=model, last_screenshots=seen)
            print(json.dumps({"job": job, "path": str(path)}, ensure_ascii=False) if as_json else path)
        return Exit.DONE

    finish(work())
