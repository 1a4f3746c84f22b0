"""Costs of prompts: tokens that stay and tokens per step, hits of the prefix cache, time to compile grammars.

Loops over products of the demo shop, looked at by a real Chromium: `reading` asks for one record per item; `working`
plans, takes two steps and reads, with a screenshot each but for the reading; `walking` takes a step on each page, ten
in a session, so that no page is seen twice and the history grows. What counts in the end is how many new tokens an item
costs. Five layouts: ours; ours with each page whole; ours with the history, which only grows, before the page; a head
for each decision, and the history before the page; time and history first.

Tokens and cache are told twice: by real vLLM with the tiny model (its own small tokenizer, 32 tokens a block), and by a
model of vLLM's block cache over a real tokenizer of 131,072 entries (16 tokens a block).

Not named after the prompts alone: Python would take this file for the package `prompts`.

    scripts/setup-vllm && python load-tests/bench/prompt_costs.py [--items 50] [--no-server] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from _layouts import LAYOUTS, Counting, Enough, Shown
from _report import Report, Target, arguments
from _site import demo_site, products

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from shoal.agent.actions.registry import DEFAULT_SETS  # noqa: E402
from shoal.agent.browser import ContextOptions, ObserveOptions  # noqa: E402
from shoal.agent.chromium.process.launch import launch  # noqa: E402
from shoal.agent.models.decisions.step import StepShape, step_schema  # noqa: E402
from shoal.agent.models.openai_compatible import OpenAICompatible  # noqa: E402
from shoal.agent.models.settings import ImageGrid, ModelSettings  # noqa: E402
from shoal.agent.policies.model import ModelPolicy, ModelPolicyOptions  # noqa: E402
from shoal.agent.policies.model.checks.calls import call_offers  # noqa: E402
from shoal.agent.policies.policy import SessionState  # noqa: E402
from shoal.agent.spec import JobSpec  # noqa: E402
from shoal.agent.support.json_value import Json  # noqa: E402
from shoal.agent.types import Action, ActionResult, Effect, LoopItem, Observation, Step  # noqa: E402
from tests.vllm.server import VENV, is_set_up, settings_for, tiny_vllm  # noqa: E402

SIDE = Path(__file__).with_name("_vllm_side.py")
BLOCK = 16  # tokens; vLLM's on GPUs
GRID = ImageGrid()
IDS = (10, 60, 300, 1000)
DECISIONS = {
    "reading": ("record",),
    "working": ("plan", "first step", "second step", "record"),
    "walking": ("step",),
}
ROUNDS = 5  # schemas of each size
WALK = 10  # steps
NEXT = Action("click", {"bid": "12"})

SCHEMA = {
    "type": "object",
    "required": ["name", "price"],
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "currency": {"type": "string"},
        "in_stock": {"type": "boolean"},
        "rating": {"type": ["number", "null"]},
        "sku": {"type": ["string", "null"]},
    },
}
READING = {"goal": None, "extract": {"schema": SCHEMA}}
WORKING = {
    "goal": "Put one of this product into the basket, with delivery to the address given, and read what it costs",
    "data": {"name": "Ada Lovelace", "street": "12 St James Square", "city": "London"},
    "extract": {"schema": SCHEMA},
}


async def pages_of(site: str, n: int) -> list[Observation]:
    """Observations of `n` product pages, with screenshots."""
    browser = await launch()
    try:
        context = await browser.new_context(ContextOptions())
        seen = []
        for url in products(site)[:n]:
            await context.goto(url)
            await context.settle()
            seen.append(await context.observe(ObserveOptions(screenshot=True, max_elements=600, max_chars=24_000)))
        return seen
    finally:
        await browser.close()


async def _counted(decision: Awaitable[Any]) -> None:
    try:
        await decision
    except Enough:
        return
    raise RuntimeError("nothing was asked")


async def loop(kind: str, pages: list[Observation], counting: Counting) -> None:
    """All requests of one loop, item after item."""
    started = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
    asked = iter(range(1_000_000))
    # Time goes on: a second for each request.
    policy = ModelPolicy(
        counting,
        None,  # type: ignore[arg-type]  # nothing here needs the fallback
        options=ModelPolicyOptions(frames=counting.told.frames),
        clock=lambda: started + timedelta(minutes=next(asked)),
    )
    spec = JobSpec.model_validate({"url": pages[0].url} | (READING if kind == "reading" else WORKING))
    walked: list[Step] = []
    for index, seen in enumerate(pages):
        if kind == "walking":
            walked = walked if index % WALK else []
            item = LoopItem(index // WALK, pages[index // WALK * WALK].url, is_link=True)
            state = SessionState(spec=spec, loop=None, item=item, page=Shown(seen), depth=1, job=1)  # type: ignore[arg-type]
            await _counted(policy.step(state, "Look at the products one after the other", walked))
            came = ActionResult(NEXT, effect=Effect(url=seen.url))
            walked.append(Step(index, seen.url, "On to the next.", (came,)))
            continue
        item = LoopItem(index, seen.url, is_link=True)
        state = SessionState(spec=spec, loop=None, item=item, page=Shown(seen), depth=1, job=1)  # type: ignore[arg-type]
        if kind == "working":
            await _counted(policy.plan(state))
            await _counted(policy.step(state, "Put the product into the basket", ()))
            done = Step(0, seen.url, "The button is there.", (ActionResult(NEXT),))
            await _counted(policy.step(state, "Put the product into the basket", (done,)))
        await _counted(policy.extract(state))


def side(asked: Json) -> Json:
    """Return what .venv-vllm's Python says."""
    done = subprocess.run(
        [str(VENV / "bin" / "python"), str(SIDE)],
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def schemas() -> dict[str, list[Json]]:
    """Step schemas of pages with few and many ids, ids in a list or as a pattern, with the default actions.

    Several of each that differ, since an equal one is not compiled again.
    """
    spec = JobSpec.model_validate({"url": "https://shop.example/", "goal": "x", "action_sets": DEFAULT_SETS})
    calls = tuple(call_offers(spec))
    found: dict[str, list[Json]] = {
        f"{n} ids listed": [
            step_schema(StepShape(ids=tuple(str(7 * i + n + k) for i in range(n)), calls=calls)) for k in range(ROUNDS)
        ]
        for n in IDS
    }
    found["ids by pattern"] = [step_schema(StepShape(ids=("1",), calls=calls)) for _ in range(ROUNDS)]
    for k, schema in enumerate(found["ids by pattern"]):
        schema["$defs"]["id"] = {"type": "string", "pattern": f"^[a-z]{{0,2}}[0-9]{{1,{6 + k}}}$"}
    return found


def share(pairs: list[list[int]]) -> float:
    return sum(hit for _, hit in pairs) / sum(all_ for all_, _ in pairs)


def new_per_item(name: str, pairs: list[list[int]]) -> float:
    """Tokens to be computed for an item, all its requests together; the first item, which fills the cache, aside."""
    later = pairs[len(DECISIONS[name.partition(",")[0]]) :]
    return sum(all_ - hit for all_, hit in later) / len(later) * len(DECISIONS[name.partition(",")[0]])


async def measure(options: Any, report: Report) -> None:
    with demo_site() as site:
        pages = await pages_of(site, options.items)
    told = {f"{kind}, {name}": Counting(how, GRID) for kind in DECISIONS for name, how in LAYOUTS.items()}
    if options.no_server:
        await _run_all(told, pages, None)
    else:
        async with tiny_vllm() as server:
            await _run_all(told, pages, settings_for(server))
    answer = side(
        {
            "requests": {name: counting.requests for name, counting in told.items()},
            "texts": {name: "".join(p for p in c.requests[-1] if isinstance(p, str)) for name, c in told.items()},
            "schemas": {**schemas(), **{f"{kind}, each request": told[f"{kind}, ours"].schemas for kind in DECISIONS}},
            "block": BLOCK,
        }
    )
    _add_sizes(report, told, answer)
    for name, counting in told.items():
        pairs = answer["cached"][name]
        report.add(f"cached share, {name}: real tokenizer", share(pairs))
        report.add(f"new tokens per item, {name}: real tokenizer", new_per_item(name, pairs))
        if counting.usages:
            pairs = [[usage.prompt_tokens, usage.cached_tokens] for usage in counting.usages]
            report.add(f"cached share, {name}: vLLM", share(pairs))
            report.add(f"new tokens per item, {name}: vLLM", new_per_item(name, pairs))
    for backend in ("xgrammar", "guidance"):
        for name, times in answer[f"{backend}_ms"].items():
            # Most requests of a loop have a grammar that the server knows: there the mean tells what a request pays.
            each = [sum(times) / len(times)] if name.endswith("each request") else times
            for took in each:
                report.add(f"grammar, {name}: {backend}, ms", took)


async def _run_all(told: dict[str, Counting], pages: list[Observation], settings: ModelSettings | None) -> None:
    for name, counting in told.items():
        print(f"{name} …", file=sys.stderr, flush=True)
        if settings is None:
            await loop(name.partition(",")[0], pages, counting)
            continue
        # Loops and layouts share pages; none may be served what another one left in the cache.
        counting.model = OpenAICompatible(replace(settings, extra_body={"cache_salt": name}))
        try:
            await loop(name.partition(",")[0], pages, counting)
        finally:
            await counting.model.close()


def _add_sizes(report: Report, told: dict[str, Counting], answer: Json) -> None:
    """Tokens of a request: all, and those that no earlier request had."""
    for kind in DECISIONS:
        name = f"{kind}, ours"
        pairs, requests = answer["cached"][name], told[name].requests
        for at, what in enumerate(DECISIONS[kind]):
            mine = list(range(at, len(requests), len(DECISIONS[kind])))[1:]
            report.add(f"{kind}, {what}: tokens", sum(pairs[i][0] for i in mine) / len(mine))
            report.add(f"{kind}, {what}: of them new", sum(pairs[i][0] - pairs[i][1] for i in mine) / len(mine))
            chars = [sum(len(part) for part in requests[i] if isinstance(part, str)) for i in mine]
            report.add(f"{kind}, {what}: characters", sum(chars) / len(mine))
            images = [sum(part[1] for part in requests[i] if not isinstance(part, str)) for i in mine]
            report.add(f"{kind}, {what}: image tokens", sum(images) / len(mine))


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--items", type=int, default=50)
    parser.add_argument("--no-server", action="store_true", help="only the model of the cache, no vLLM")
    options = parser.parse_args()
    if not is_set_up():
        sys.exit("run scripts/setup-vllm first")
    if options.quick:
        options.items, options.no_server = min(options.items, 10), True
    targets = {
        f"cached share, {kind}, ours: {by}": Target(0.8)
        for kind in ("reading", "working")
        for by in ("vLLM", "real tokenizer")
    }
    report = Report("prompts", targets)
    report.notes.append(f"{options.items} items.")
    # The server is a process group of its own: a signal that ends this program ends it, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    asyncio.run(measure(options, report))
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
