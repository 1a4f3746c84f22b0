"""`shoal eval`: runs a suite over the cluster and reports how it went."""

from __future__ import annotations

import json
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.connect import find_gateway
from shoal.services.cli.connection import client_or_cluster
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import Gateway
from shoal.services.cli.running import finish, settings_of_process


def add_to(app: typer.Typer) -> None:
    """Adds this command to `app`."""
    app.command("eval")(evaluate)


def evaluate(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE", help="miniwob, miniwob:TASK,TASK or a file of JSON lines; several may be given."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the run. The same folder again goes on where it ended.")] = Path(
        "eval"
    ),
    seeds: Annotated[str, typer.Option(metavar="0-4,7", help="Seeds of each MiniWoB++ task.")] = "0-4",
    policy: Annotated[str, typer.Option(help="Who decides where the job does not say: auto, model or rules.")] = "auto",
    model_url: Annotated[str, typer.Option(help="Model server of the cluster that is started for the run.")] = "",
    model: Annotated[str, typer.Option(help="Name of the model there.")] = "",
    model_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, max=3600, help="Time limit of one model call.")
    ] = 0,
    session_timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0, help="Time limit of one session.")] = 0,
    parallel: Annotated[int, typer.Option(min=1, max=10_000, help="Episodes at once.")] = 8,
    max_steps: Annotated[int, typer.Option(min=0, help="Steps of one session; 0: as each job says.")] = 0,
    against: Annotated[Path | None, typer.Option(metavar="DIR", help="An earlier run to set this one beside.")] = None,
    judge: Annotated[bool, typer.Option("--judge", help="Have every run judged, and measure the judge.")] = False,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What people said of episodes, to measure the judge by.")
    ] = None,
    judge_url: Annotated[str, typer.Option(help="Server of the judge; default: the model that decides.")] = "",
    judge_model: Annotated[str, typer.Option(help="Name of the judge's model.")] = "",
    screenshots: Annotated[int, typer.Option(min=0, max=50, help="Last screenshots that the judge sees.")] = 3,
    serve_host: Annotated[
        str, typer.Option(help="Address of this machine for MiniWoB++ pages, as the browsers reach it.")
    ] = "127.0.0.1",
    at_least: Annotated[float, typer.Option(min=0, max=1, help="Exit code 1 when fewer succeed than this share.")] = 0,
    look: Annotated[str, typer.Option(metavar="EPISODE", help="Show an episode's steps instead of running.")] = "",
    gateway: Gateway = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run a suite of tasks, many at once, and report success, cost and failures.

    Each finished episode is a line in OUT/episodes.jsonl; its steps and pictures are in OUT/steps.
    """

    async def work() -> Exit:
        if look:
            print(_module("look").look(_module("runner").Folder(out), look))
            return Exit.DONE
        if not suites:
            raise BadUsage("name a suite: miniwob:click-test, or a file of JSON lines")
        options: dict[str, Any] = {
            "model_url": model_url,
            "model": model,
            "model_timeout_s": model_timeout,
            "session_timeout_s": session_timeout,
        }
        given = {name: value for name, value in options.items() if value}
        settings = settings_of_process(**given)
        if given and find_gateway(settings, gateway):
            raise BadUsage(
                f"a cluster runs already; its own settings hold, not --{next(iter(given)).replace('_', '-')}"
            )
        command = _module("command")
        wish = command.Wish(
            suites=tuple(suites),
            out=out,
            seeds=seeds,
            policy=policy,
            parallel=parallel,
            max_steps=max_steps,
            against=against,
            judge=judge,
            judge_url=judge_url,
            judge_model=judge_model,
            screenshots=screenshots,
            serve_host=serve_host,
            labels=labels,
        )
        summary = await command.run_suite(wish, settings, partial(client_or_cluster, gateway=gateway), tell)
        print(json.dumps(summary, ensure_ascii=False) if as_json else _module("report").as_text(summary))
        success = summary["all"]["success"]
        return Exit.DONE if success["successes"] >= at_least * success["episodes"] else Exit.FAILED

    finish(work())


def _module(name: str) -> Any:
    """A module of `shoal.services.evaluation`, loaded late: statistics take a second to import, and `--help` needs
    none."""
    try:
        return import_module(f"shoal.services.evaluation.{name}")
    except ModuleNotFoundError as error:
        if error.name in ("scipy", "sklearn"):
            raise BadUsage("`shoal eval` needs more than the rest: pip install 'shoal[eval]'") from error
        raise
