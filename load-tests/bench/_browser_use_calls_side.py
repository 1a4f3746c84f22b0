"""Runs tasks by browser-use, by the Python of a virtual environment that has it: one JSON object on standard input.

Writes one line of JSON for each task: what it ended with, and what the page says of the episode. The next task begins
once a line came back.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from _browser_use import profile  # before browser_use, whose settings it makes
from browser_use import Agent, BrowserSession, ChatOpenAI

_STEPS = 8
_TASK_S = 60.0


async def main() -> None:
    asked = json.loads(sys.stdin.readline())
    model = ChatOpenAI(model="solver", base_url=asked["model"], api_key="none")
    for task in asked["tasks"]:
        # Its last page is looked at.
        session = BrowserSession(browser_profile=profile(asked["chromium"], keep_alive=True))
        began = time.monotonic()
        told = {"statuses": ["failed"], "answer": "", "records": [], "url": "", "reward": ""}
        try:
            async with asyncio.timeout(_TASK_S):
                told |= await run(task, model, session)
        except TimeoutError:
            told["reasons"] = [f"not done within {_TASK_S:.0f} s"]
        finally:
            await session.kill()
        print(json.dumps({task["name"]: {**told, "seconds": time.monotonic() - began}}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)


async def run(task: dict[str, Any], model: ChatOpenAI, session: BrowserSession) -> dict[str, object]:
    """One task, with the settings that it has by default, but for pictures and the judge of its answers."""
    agent = Agent(
        task=task["goal"],
        llm=model,
        browser_session=session,
        initial_actions=[{"navigate": {"url": task["url"], "new_tab": False}}],
        use_vision=False,
        use_judge=False,
        directly_open_url=False,
    )
    history = await agent.run(max_steps=_STEPS)
    answer = history.final_result() or ""
    page = await session.get_current_page()
    reward = await page.evaluate("() => document.documentElement.dataset.reward || ''") if page else ""
    return {
        "statuses": ["completed" if history.is_successful() else "failed"],
        "reasons": [str(error) for error in history.errors() if error],
        "answer": answer,
        "records": json.loads(answer) if task["records"] and history.is_successful() else [],
        "url": await session.get_current_page_url(),
        "reward": reward,
    }


if __name__ == "__main__":
    asyncio.run(main())
