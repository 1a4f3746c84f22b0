"""`shoal learn` of a job that ran once: what a model did in a browser is done again with other data, by no model."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.live_world import live_world
from tests.unit.agent.model.test_step import act, step_reply
from tests.worker_world import PLAN

pytestmark = pytest.mark.timeout(480)

PAGE = """<!doctype html><html lang=en><title>Orders</title><h1>An order</h1>
<form id=f>
  <label>Your name <input id=i1 name=who></label>
  <label>Street <input id=i2 name=street></label>
  <button>Send the order</button>
</form>
<script>
  f.onsubmit = async (event) => {
    event.preventDefault();
    await fetch('/taken', {method: 'POST', body: new URLSearchParams(new FormData(f))});
    const p = document.createElement('h2');
    p.textContent = 'Your order was taken';
    f.replaceWith(p);
  };
</script></html>"""


class Clerk:
    """Fills in the form with what the job says, sends it, and says that it is done."""

    def __init__(self, **typed: str) -> None:
        self.typed = typed  # by label

    def __call__(self, body: Mapping[str, Any]) -> str:
        asked = body["response_format"]["json_schema"]["name"]
        content = body["messages"][-1]["content"]
        shown = content if isinstance(content, str) else "\n".join(p["text"] for p in content if p["type"] == "text")
        taken = "Your order was taken" in shown.rpartition("# The page")[2]
        if asked == "plan":
            if taken:
                return json.dumps(PLAN | {"require_extraction": False, "user_goal_achieved": True})
            return json.dumps(PLAN | {"plan": "Fill in the order and send it", "task_type": "navigate"})
        if taken:
            return json.dumps(step_reply(act("COMPLETE"), achieved=True))
        ids = {name: bid for bid, _, name in re.findall(r'\[(\w+) (\w+) "([^"]*)"', shown)}
        fills = [
            act("INPUT_TEXT", id=ids[label], text=text) | {"user_detail_query": label, "user_detail_answer": text}
            for label, text in self.typed.items()
        ]
        return json.dumps(step_reply(*fills, act("CLICK", id=ids["Send the order"])))


async def shoal(gateway: str, folder: Path, *arguments: str) -> Any:
    """Return what a command prints as JSON, in a process of its own."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    command = [str(Path(sys.executable).parent / "shoal"), *arguments, "--json"]
    environment = {**known, "SHOAL_GATEWAY": gateway, "SHOAL_DATA_DIR": str(folder / "cli")}
    done = await asyncio.to_thread(
        subprocess.run, command, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return json.loads(done.stdout)


async def test_one_run_of_a_model_is_learned_and_done_again_with_other_data(tmp_path: Path) -> None:
    ada = {"name": "Ada Lovelace", "street": "Elm Street 7"}
    clerk = Clerk(**{"Your name": ada["name"], "Street": ada["street"]})
    async with live_world(tmp_path, {"/": PAGE}, clerk) as live:
        session = await live.job(goal="Order with the name and the street of the data.", data=ada, repeatable=False)
        row = await live.until(session, lambda row: row["status"] not in ("queued", "running"), within_s=180)
        assert row["status"] == "completed", json.dumps(row)
        assert live.heard == ["/taken who=Ada+Lovelace&street=Elm+Street+7"]
        asked = len(live.model.requests)
        assert asked > 0

        learned = await shoal(live.url, tmp_path, "learn", row["job"], "--name", "orders")
        assert (learned["name"], learned["active"]) == ("orders", None)
        kept = (await live.world.client.get("/v1/workflows/orders/versions/1")).json()
        assert "Ada" not in json.dumps(kept) and "Elm" not in json.dumps(kept), kept
        assert live.heard == ["/taken who=Ada+Lovelace&street=Elm+Street+7"], "nothing is sent to learn"

        live.heard.clear()
        again = await live.job(
            goal="Order with the name and the street of the data.",
            policy="workflow:orders@1",
            on_miss="fail",
            data={"name": "Grace Hopper", "street": "Oak Lane 1"},
            repeatable=False,
        )
        row = await live.until(again, lambda row: row["status"] not in ("queued", "running"), within_s=180)
        assert row["status"] == "completed", json.dumps(row)
        assert live.heard == ["/taken who=Grace+Hopper&street=Oak+Lane+1"]
        assert len(live.model.requests) == asked, "a workflow asks no model"
