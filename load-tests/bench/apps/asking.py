"""The common parts of tasks on applications: the jobs, and questions to an application's own interface."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from shoal.agent.support.json_value import Json


def job(url: str, goal: str, name: str, **more: Json) -> dict[str, Json]:
    """The spec of a job whose goal names its task."""
    return {"url": url, "goal": f"{goal} (task {name})", **more}


def eventually(holds: Callable[[], bool], limit_s: float = 10.0) -> bool:
    """Return whether what an application does after its answer is seen to be done."""
    ends = time.monotonic() + limit_s
    while not (done := holds()) and time.monotonic() < ends:
        time.sleep(0.1)
    return done


def call_api(url: str, body: Any = None, method: str = "GET") -> Any:
    """Return what an application's own interface answers, as JSON; None for an empty answer."""
    headers = {"content-type": "application/json", "x-requested-with": "TiddlyWiki"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=10) as answer:
        said = answer.read()
    return json.loads(said) if said else None
