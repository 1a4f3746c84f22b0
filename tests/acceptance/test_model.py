"""A model decides: plan, steps and extraction through the whole cluster, against a server that speaks the protocol."""

from __future__ import annotations

import asyncio
import json
import re

import httpx
import pytest

from shoal.agent.support.json_value import Json
from tests.embedded import up
from tests.model_server import ModelServer, serving
from tests.sites.ring import sweep
from tests.unit.agent.model.test_step import act, step_reply
from tests.worker_world import PLAN

pytestmark = [pytest.mark.timeout(800), sweep]  # a cluster has to start, and real pages take their time


class Script:
    """Plans: click a link, then extract, then done. Reads ids and texts from what it is shown."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, body: Json) -> str:
        name = body["response_format"]["json_schema"]["name"]
        self.asked.append(name)
        if name == "plan":
            turn = self.asked.count("plan")
            if turn == 1:
                return json.dumps(PLAN | {"plan": "Open the delivery page", "task_type": "navigate"})
            if turn == 2:
                return json.dumps(PLAN | {"plan": "Read the heading", "task_type": "extract"})
            return json.dumps(PLAN | {"require_extraction": False, "user_goal_achieved": True})
        if name == "step":
            if self.asked.count("step") > 1:
                return json.dumps(step_reply(act("COMPLETE"), achieved=True))
            shown = str(body["messages"][1]["content"])
            found = re.search(r'\[(\w+) link "Delivery"', shown)
            assert found, shown
            return json.dumps(step_reply(act("CLICK", id=found[1])))
        return json.dumps({"thought": "", "shown": 1, "records": [{"heading": "Delivery"}]})


async def test_a_goal_in_words_is_reached_with_a_model(shop: str) -> None:
    script = Script()

    def job_on(model_url: str) -> tuple[Json, Json, Json]:
        with up(workers="1", slots_per_worker="2", model_url=model_url, model="scripted") as cluster:
            job = cluster.submit(
                {
                    "url": f"{shop}/",
                    "goal": "Read the heading of the delivery page.",
                    "extract": {
                        "schema": {
                            "type": "object",
                            "properties": {"heading": {"type": "string"}},
                            "required": ["heading"],
                        }
                    },
                }
            )
            final = cluster.final(job)
            (row,) = cluster.results(job)
            return final, row, httpx.get(f"{cluster.url}/v1/sessions/{row['session']}", timeout=60).json()

    async with serving(ModelServer(script)) as server:
        final, row, session = await asyncio.to_thread(job_on, server.url)
    assert final["status"] == "completed", (final["error"], script.asked)
    assert row["record"] == {"heading": "Delivery"}
    assert row["url"].endswith("/service/delivery")
    assert row["usage"]["model_calls"] == len(script.asked)
    assert {artifact["kind"] for artifact in session["artifacts"]} >= {"prompt", "screenshot"}
