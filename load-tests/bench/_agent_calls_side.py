"""Runs tasks by the agent of one checkout: `_agent_calls_side.py TREE`, with one JSON object on standard input.

What each task gave is a line of its output; the next one begins once a line came back. So a task is judged before the
next one changes what both work on.

A program of its own, so that the state of the agent before a change can be run beside the state after it. Loops are
worked off here, item after item, as the cluster would: each item is a session of its own that begins with what its
parent hands down.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

sys.path.insert(0, sys.argv[1])

from shoal.agent.chromium.process.launch import launch
from shoal.agent.errors import NavigationError
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.agent.models.settings import ModelSettings
from shoal.agent.policies.model import ModelPolicy, ModelPolicyOptions
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.sessions import session
from shoal.agent.sessions.dependencies import SessionDependencies
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import ArtifactRef, Checkpoint, ChildrenSummary, LoopItem, Outcome
from shoal.agent.worker_messages import Work


class Around:
    """The surroundings of a session, kept in memory."""

    def __init__(self) -> None:
        self.later: list[LoopItem] = []

    async def checkpoint(self, checkpoint: Checkpoint, *, durable: bool) -> None:
        """Nothing: a session here runs to its end."""

    async def items(self, at: int, items: Sequence[LoopItem]) -> None:
        self.later += items

    async def keep(self, kind: str, data: bytes, content_type: str) -> ArtifactRef:
        return ArtifactRef("0" * 32, kind, kind, content_type, len(data))

    async def fetch(self, key: str) -> Any:
        raise RuntimeError("no task uploads a file")

    def resolve(self, value: object, url: str) -> object:
        return value

    def granted(self) -> Mapping[str, str]:
        return {}


async def navigation_guard(url: str) -> None:
    """Lets every address pass: all sites of the benchmark are on the loopback address."""


class Runner:
    def __init__(self, browser: Any, policy: Any) -> None:
        self._browser = browser
        self._policy = policy

    async def job(self, n: int, spec: JobSpec) -> tuple[list[Outcome], str]:
        """The outcomes of the job's sessions, its root last, and what the page says of the episode."""
        context = await self._browser.new_context()
        try:
            await context.goto(spec.url)
            root = Work(1, 1, n, "bench", 1, 0, spec, None, None, None, None)
            around = Around()
            first = await session.run(root, self._deps(around, context))
            if first.status is not Status.WAITING or first.fan_out is None:
                return [first], await _reward(context)
            items = [*first.fan_out.items, *around.later]
            handed = replace(first.fan_out.checkpoint, history=(), url="", records=(), usage=type(first.usage)())
            done = [
                await session.run(
                    replace(root, session=2 + item.index, depth=1, item=item, checkpoint=handed),
                    self._deps(Around(), None),
                )
                for item in items
            ]
            whole = [one for one in done if one.status is Status.COMPLETED]
            samples = tuple(record.value for one in whole[:5] for record in one.records)
            told = ChildrenSummary(len(items), len(whole), len(items) - len(whole), samples)
            again = replace(root, fence=2, checkpoint=first.fan_out.checkpoint, children=told)
            return [*done, await session.run(again, self._deps(Around(), context))], ""
        finally:
            await context.close()

    def _deps(self, around: Around, context: Any) -> SessionDependencies:
        return SessionDependencies(
            browser=self._browser,
            policy=self._policy,
            navigation_guard=navigation_guard,
            artifact_sink=around,
            journal=around,
            secrets=around,
            page=context,
        )


def _gave(outcomes: Sequence[Outcome], reward: str) -> dict[str, Any]:
    return {
        "statuses": [str(one.status) for one in outcomes],
        "reasons": [one.error.message if one.error else one.reason for one in outcomes],
        "answer": outcomes[-1].answer or "",
        "records": [record.value for one in outcomes for record in one.records],
        "url": outcomes[-1].url,
        "reward": reward,
    }


async def _reward(context: Any) -> str:
    return str(await context.read("() => document.documentElement.dataset.reward || ''"))


async def main() -> None:
    asked = json.loads(sys.stdin.readline())
    model = OpenAICompatible(ModelSettings(base_urls=(asked["model"],), model="solver", images=True))
    policy = ModelPolicy(model, RulesPolicy(), options=ModelPolicyOptions(images=True))
    browser = await launch()
    told: dict[str, Any] = {}
    try:
        runner = Runner(browser, policy)
        for n, task in enumerate(asked["tasks"], 1):
            spec = JobSpec.model_validate(task["spec"])
            began = time.monotonic()
            try:
                gave = _gave(*await runner.job(n, spec))
            except NavigationError as error:  # one task's first page does not end the others
                gave = {"statuses": ["failed"], "reasons": [str(error)], "answer": "", "records": [], "url": spec.url}
            told[task["name"]] = {"seconds": time.monotonic() - began, **gave}
            print(json.dumps({task["name"]: told[task["name"]]}), flush=True)
            await asyncio.to_thread(sys.stdin.readline)
    finally:
        await browser.close()
        await model.close()


if __name__ == "__main__":
    asyncio.run(main())
