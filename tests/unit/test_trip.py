"""The trip of one job, as docs/architecture.md lists it: the files exist, and a traced run calls them in that order."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import httpx

from shoal.agent.status import Status
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps, GatewayOptions
from tests.cluster_world import world
from tests.gateway_world import FixedNames
from tests.worker_world import EXTRACT, LOOP, shop

ROOT = Path(__file__).resolve().parents[2]
_ROW = re.compile(r"^\| \d+ \| `([\w/]+\.py)` \| `([\w.]+)` \| (.+) \|$", re.MULTILINE)
_MOST_FILES = 123
"""Product files that took part in such a run before the rooms were made."""


def steps() -> list[tuple[str, str, str]]:
    """The table of the page: file, function and sentence of each step."""
    return _ROW.findall((ROOT / "docs/architecture.md").read_text())


class Trace:
    """The functions of the product that were called while `on`, each at its first call."""

    def __init__(self) -> None:
        self.on = False
        self.calls: dict[CodeType, None] = {}

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if self.on and event == "call":
            self.calls.setdefault(frame.f_code)

    def order(self) -> list[tuple[str, str]]:
        """File and name of each, without those that enclose it."""
        called = [(Path(code.co_filename), code.co_qualname) for code in self.calls]
        return [
            (_place(file), name.rpartition(".<locals>.")[2])
            for file, name in called
            if ROOT in file.parents and file.relative_to(ROOT).parts[0] not in ("tests", ".venv")
        ]


def _place(file: Path) -> str:
    """The place of a file in the checkout, where `shoal/agent` is a link to `agent`."""
    return file.resolve().relative_to(ROOT).as_posix()


@contextmanager
def traced() -> Iterator[Trace]:
    """Traces this thread and those that begin meanwhile."""
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        yield trace
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def test_one_job_takes_the_trip_that_the_page_tells() -> None:
    with traced() as trace:
        async with world(shop(2)) as w:
            names = FixedNames({"shop.example": ["93.184.216.34"]})
            app = create_app(GatewayDeps(w.store, MemoryArtifacts(), GatewayOptions(auth=False), names))
            client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8700")
            async with client:
                trace.on = True
                spec = {"url": "http://shop.example/", "loop": LOOP, "extract": EXTRACT}
                answer = await client.post("/v1/jobs", json=spec)
                job = answer.json()["id"]
                assert (await w.final(int(job[1:]))).status is Status.COMPLETED
                lines = (await client.get(f"/v1/jobs/{job}/results")).text.splitlines()
                trace.on = False
    assert len(lines) == 2
    order = trace.order()
    told = [(file, function) for file, function, _ in steps()]
    assert [step for step in told if step not in order] == [], "these are not called"
    assert [step for step in order if step in told] == told, "the page tells another order"
    assert len({file for file, _ in order}) < _MOST_FILES


def test_each_step_of_the_trip_has_a_file_and_a_sentence() -> None:
    assert len(steps()) >= 20
    for file, _, sentence in steps():
        assert (ROOT / file).is_file(), file
        assert sentence[0].isupper() and sentence.endswith("."), sentence
