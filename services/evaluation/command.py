"""`shoal eval`: cluster, arena, judge, run, report."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from shoal.agent.chromium.process.launch import LaunchOptions, launch
from shoal.agent.errors import BrowserError
from shoal.agent.support.json_value import Json
from shoal.api import Api
from shoal.services.errors import BadInput
from shoal.services.evaluation.arena import Arena, arena
from shoal.services.evaluation.episode import Episode, EpisodeResult
from shoal.services.evaluation.judging import judging
from shoal.services.evaluation.report import as_text, report
from shoal.services.evaluation.runner import Folder, Runner, RunOptions
from shoal.services.evaluation.suite import episodes_of, labels_of, seeds_of
from shoal.services.settings import Settings

Tell = Callable[[str], None]
Connect = Callable[[Settings], Any]
"""The settings to a context that gives a client."""

_BEGIN_S = 30.0
_RUN = "run.json"
_SANDBOX: dict[str, Literal["auto", "yes", "no"]] = {"auto": "auto", "on": "yes", "off": "no"}


@dataclass(frozen=True, slots=True)
class Wish:
    """Options of the command line."""

    suites: tuple[str, ...]
    out: Path
    seeds: str = "0-4"
    policy: str = "auto"
    parallel: int = 8
    max_steps: int = 0
    against: Path | None = None
    judge: bool = False
    judge_url: str = ""
    judge_model: str = ""
    screenshots: int = 3
    serve_host: str = "127.0.0.1"
    labels: Path | None = None


async def run_suite(wish: Wish, settings: Settings, connect: Connect, tell: Tell) -> dict[str, Json]:
    """Runs what is left of the suite, writes the report into its folder, and gives it.

    Raises:
        BadInput: the suite, or the folder of another suite.
        ShoalError, AgentError, ServiceError: cluster, browser or judge cannot be had.
    """
    episodes = episodes_of(wish.suites, seeds_of(wish.seeds))
    labels = labels_of(wish.labels) if wish.labels else {}
    earlier = Folder(wish.against).results() if wish.against else []
    if wish.against and not earlier:
        raise BadInput(f"{wish.against} holds no earlier run")
    about = {
        "suite": " ".join(wish.suites),
        "seeds": wish.seeds if any(episode.seed is not None for episode in episodes) else "",
        "policy": wish.policy,
        "model": settings.model,
        "model_url": settings.model_url,
        "max_steps": wish.max_steps or "",
    }
    run = _begun(wish.out, about)
    done = Folder(wish.out).done()
    left = [episode for episode in episodes if episode.name not in done]
    if left:  # a folder that is complete is only reported on, without a cluster
        done |= {result.name: result for result in await _run(run, left, wish, settings, connect, tell)}
    unlabeled = [done[episode.name] for episode in episodes]
    results = [replace(result, label=labels.get(result.name, result.label)) for result in unlabeled]
    summary = report(results, earlier, about=about, about_earlier=_about(wish.against) if wish.against else None)
    (wish.out / "report.json").write_bytes(orjson.dumps(summary, option=orjson.OPT_INDENT_2))
    (wish.out / "report.md").write_text(as_text(summary), encoding="utf-8")
    return summary


async def _run(
    run: str, episodes: Sequence[Episode], wish: Wish, settings: Settings, connect: Connect, tell: Tell
) -> list[EpisodeResult]:
    """Runs `episodes` with all that they need around them, which is ended again."""
    async with AsyncExitStack() as stack:
        ground = None
        goals: Mapping[str, str] = {}
        if any(episode.seed is not None for episode in episodes):
            ground = await stack.enter_async_context(arena(wish.serve_host))
            settings = _reaching(settings, ground.url.removeprefix("http://"), wish.parallel)
            goals = await _goals(ground, episodes, settings, tell)
        needs_judge = wish.judge or any(episode.check.judge for episode in episodes)
        judge = await stack.enter_async_context(
            judging(settings, required=needs_judge, url=wish.judge_url, name=wish.judge_model)
        )
        client: Api = await stack.enter_async_context(connect(settings))
        options = RunOptions(
            run=run,
            policy=wish.policy,
            parallel=wish.parallel,
            max_steps=wish.max_steps,
            judge_all=wish.judge,
            last_screenshots=wish.screenshots if settings.model_images else 0,
        )
        runner = Runner(client, Folder(wish.out), options, arena=ground, judge=judge, tell=tell)
        return await runner.run(episodes, goals)


def _about(folder: Path) -> dict[str, Json]:
    """Return which suite, policy and model the run in a folder is of."""
    about: dict[str, Json] = orjson.loads((folder / _RUN).read_bytes())["about"]
    return about


def _begun(out: Path, about: Mapping[str, Json]) -> str:
    """The name of the run in this folder: a new one, or the one that goes on.

    Raises:
        BadInput: the folder holds the run of another suite, policy or model.
    """
    out.mkdir(parents=True, exist_ok=True)
    file = out / _RUN
    if not file.exists():
        run = uuid.uuid4().hex[:12]
        file.write_bytes(orjson.dumps({"run": run, "about": about}, option=orjson.OPT_INDENT_2))
        return run
    known = orjson.loads(file.read_bytes())
    changed = [name for name, value in about.items() if known["about"].get(name) != value and name != "model_url"]
    if changed:
        raise BadInput(f"{out} holds a run with another {', '.join(changed)}: choose another --out")
    return str(known["run"])


def _reaching(settings: Settings, place: str, parallel: int) -> Settings:
    """The settings of a cluster that may reach the arena, and may have all episodes there at once."""
    return settings.model_copy(
        update={
            "allow_hosts": (*settings.allow_hosts, place),
            "per_domain": max(settings.per_domain, parallel),
        }
    )


async def _goals(ground: Arena, episodes: Sequence[Episode], settings: Settings, tell: Tell) -> dict[str, str]:
    """Return what each MiniWoB++ episode asks for, read off its page with its seed by a browser on this machine."""
    seeded = [episode for episode in episodes if episode.seed is not None]
    if not seeded:
        return {}
    tell(f"reading the goals of {len(seeded)} episodes")
    executable = str(settings.chromium) if settings.chromium else None
    browser = await launch(LaunchOptions(executable=executable, sandbox=_SANDBOX[settings.sandbox]))
    try:
        goals = {}
        context = await browser.new_context()
        for episode in seeded:
            assert episode.seed is not None
            probe = f"probe-{episode.name}"
            await context.goto(ground.open(probe, episode.group, episode.seed))
            try:
                await asyncio.wait_for(ground.match(probe).begun.wait(), _BEGIN_S)
            except TimeoutError as error:
                raise BrowserError(f"the page of {episode.name} did not begin its episode") from error
            goals[episode.name] = ground.match(probe).goal
        return goals
    finally:
        await browser.close()
