"""Locust: load on a site, begun and watched in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _solver import Move, Task, all_of, click, fill, quoted

from apps.asking import call_api, eventually, job
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_USERS = """
import locust

class Visitor(locust.User):
    wait_time = locust.constant(1)

    @locust.task
    def read(self):
        self.environment.events.request.fire(
            request_type="GET", name="/timetable", response_time=12, response_length=100, exception=None, context={}
        )

    @locust.task
    def book(self):
        self.environment.events.request.fire(
            request_type="POST", name="/booking", response_time=30, response_length=10,
            exception=ValueError("sold out"), context={},
        )
"""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str]]:
    """Visitors of a site that is always sold out; none of them is there yet."""
    python = cache.pypi("locust", ["locust==2.47.0"])
    (folder / "visitors.py").write_text(_USERS, encoding="utf-8")
    port = sites.free_port()
    command = [str(python.with_name("locust")), "-f", "visitors.py", "--web-host", "127.0.0.1"]
    with sites.program([*command, "--web-port", str(port)], port, cwd=folder) as url:
        yield (url,)


def tasks(url: str) -> list[Task]:
    """A test is begun, watched, made larger and ended."""

    def state() -> tuple[str, int]:
        told = call_api(f"{url}/stats/requests")
        return told["state"], told["user_count"]

    def begun() -> bool:
        """The users are there, and a request has failed: the next task asks with which words."""
        return state() == ("running", 3) and bool(call_api(f"{url}/stats/requests")["errors"])

    three = fill("textbox", "Number of users", "3")
    begin = all_of(three, fill("textbox", "Ramp up", "3"), click("button", "^Start$"))
    return [
        Task(
            "locust start",
            job(f"{url}/", "Start the load test", "locust start", data={"users": "3", "ramp_up": "3"}),
            over='button "Stop"',
            moves=(
                Move(
                    "",
                    begin,
                    {"element": "Stop"},
                ),
            ),
            right=lambda told: eventually(begun),
        ),
        Task(
            "locust failure",
            job(f"{url}/", "With which words do the requests fail?", "locust failure"),
            over="sold out",
            moves=(Move("", all_of(click("tab", "^Failures$")), {"text": "sold out"}),),
            answer=quoted("sold out"),
            right=lambda told: "sold out" in told["answer"],
            perfect=2,
        ),
        Task(
            "locust more",
            job(f"{url}/", "Have five users instead of three", "locust more"),
            over=r"value=.5.\)",
            moves=(
                Move(
                    'button "(Save|Update)',
                    all_of(fill("textbox", "Number of users", "5"), click("button", "^(Save|Update)")),
                    {"acted": True},
                ),
                Move("", all_of(click("button", "^Edit$")), last=False),
            ),
            right=lambda told: eventually(lambda: state() == ("running", 5)),
            perfect=3,
        ),
        Task(
            "locust stop",
            job(f"{url}/", "Stop the load test", "locust stop"),
            over='button "New"',
            moves=(Move("", all_of(click("button", "^Stop$")), {"element": "New"}),),
            right=lambda told: eventually(lambda: state()[0] == "stopped"),
        ),
    ]
